"""What differs between two manifests, row by row and column by column."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from syn.index.compare import Difference, compare
from syn.index.derive import World
from syn.index.manifest import Projection
from syn.index.store import open_index, open_spool
from tests.support.indexes import build, rows_of

FILES = {
    "facts/a.md": "---\nid: a\ntitle: A\ntags: [x]\nstatus: live\n---\nSee [[b]].\n",
    "facts/b.md": "---\nid: b\ntitle: B\nsupersedes: a\n---\nBody of b\n",
    "facts/c.md": "---\nid: c\ntitle: C\nup: [[a]]\n---\nBody of c\n",
}


def differences(path: Path, statement: str) -> list[Difference]:
    """Edit a fresh index as somebody with sqlite3 would, and compare it with the projection."""
    build(path, FILES)
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statement)
    with open_index(path) as index, Projection(open_spool) as projection:
        for row in rows_of(FILES):
            projection.add(row)
        return list(compare(projection.finish(World()), index))


def test_an_untouched_index_has_none(tmp_path: Path) -> None:
    assert differences(tmp_path / "i.db", "") == []


@pytest.mark.parametrize(
    ("statement", "table", "path", "column", "actual", "cross"),
    [
        ("update fact set title='X' where id='a'", "fact", "facts/a.md", "title", "X", False),
        ("update fact set status=null", "fact", "facts/a.md", "status", "(null)", False),
        ("update attr set value='B2' where value='B'", "attr", "facts/b.md", "value", "B2", False),
        ("update link set line=99", "link", "facts/a.md", "line", "99", False),
        ("update state set quarantine='[\"x\"]' where id='b'", "state", "facts/b.md", "quarantine",
         '["x"]', True),
        ("update state set word='w' where id='c'", "state", "facts/c.md", "word", "w", True),
        ("update target set target_path='facts/c.md'", "target", "facts/a.md", "target_path",
         "facts/c.md", True),
        ("update supersession set declared_by='both'", "supersession", "facts/b.md", "declared_by",
         "both", True),
        ("update problem set severity='problem'", "problem", "facts/c.md", "severity", "problem",
         False),
    ],
)  # fmt: skip
def test_an_edited_cell_is_named(  # noqa: PLR0913, PLR0917 - one column of the table above each
    tmp_path: Path, statement: str, table: str, path: str, column: str, actual: str, cross: bool
) -> None:
    found = [item for item in differences(tmp_path / "i.db", statement) if item.path == path]
    (item,) = [item for item in found if item.column == column]
    assert (item.table, item.kind, item.actual, item.cross) == (table, "changed", actual, cross)
    assert item.expected != actual


def test_an_edited_body_shows_as_its_digest(tmp_path: Path) -> None:
    (item,) = differences(tmp_path / "i.db", "update fact set body='lies' where id='b'")
    assert (item.path, item.column) == ("facts/b.md", "body_digest")
    assert item.actual.startswith("sha256:")


def test_a_missing_and_an_extra_row_are_told_apart(tmp_path: Path) -> None:
    statement = (
        "delete from fact where id='b';"
        "insert into tag values ('facts/c.md', 'y'); insert into tag values ('facts/zz.md', 'z');"
    )
    found = differences(tmp_path / "i.db", statement)
    assert [(item.table, item.path, item.kind) for item in found] == [
        ("fact", "facts/b.md", "missing"),
        ("tag", "facts/c.md", "extra"),
        ("tag", "facts/zz.md", "extra"),
    ]
    assert found[0].key == ("facts/b.md",)
    assert (found[0].expected, found[0].actual) == ("a row", "no row")


def test_a_renamed_key_is_a_missing_and_an_extra_row(tmp_path: Path) -> None:
    found = differences(tmp_path / "i.db", "update fact set path='facts/bb.md' where id='b'")
    assert [(item.path, item.kind) for item in found] == [
        ("facts/b.md", "missing"),
        ("facts/bb.md", "extra"),
    ]


def test_every_changed_column_of_a_row_is_a_difference(tmp_path: Path) -> None:
    found = differences(tmp_path / "i.db", "update fact set title='T', subject='S' where id='a'")
    assert [item.column for item in found] == ["title", "subject"]


def test_text_that_is_not_utf8_is_a_difference_like_any_other(tmp_path: Path) -> None:
    statement = "update fact set subject=cast(x'ff41' as text) where id='b'"
    (item,) = differences(tmp_path / "i.db", statement)
    assert (item.path, item.column, item.expected) == ("facts/b.md", "subject", "(null)")
    assert item.actual == "\udcffA"
