"""The manifest: order, header, and the worked example of docs/formats/manifest.md."""

import hashlib
from pathlib import Path

import pytest

from syn.canon import json as canon
from syn.index.derive import World
from syn.index.manifest import Agreement, Projection, header, manifest_digest, manifest_lines
from syn.index.rows import TABLES, TAG, Scalar, Table
from syn.index.store import open_index, open_spool
from tests.support.indexes import build, manifest, recorded, rows_of

FILES = {
    "facts/Z.md": "---\nid: z\ntags: [b, a]\n---\nSee [[a]].\n",
    "facts/a.md": "---\nid: a\nsupersedes: z\n---\nBody\n",
    "facts/b/c.md": "Body\n",
    "facts/bad.md": "---\na: 1\na: 2\n---\n",
    "facts/é.md": "---\nid: e\nup: '[[nowhere]]'\n---\nBody\n",
}


def sort_key(line: bytes) -> tuple[object, ...]:
    value = canon.decode(line)
    assert isinstance(value, dict)
    name = str(value["table"])
    table = next(table for table in TABLES if table.name == name)
    parts = [value[column] for column in table.key]
    return (name, [part.encode() if isinstance(part, str) else part for part in parts])


def test_rows_are_sorted_by_table_and_primary_key_in_byte_order() -> None:
    first, *lines = manifest(FILES).splitlines()
    assert first + b"\n" == header()
    assert lines == sorted(lines, key=sort_key)
    assert len({str(sort_key(line)) for line in lines}) == len(lines)


def test_every_line_is_canonical_json() -> None:
    for line in manifest(FILES).splitlines():
        assert canon.encode(canon.decode(line)) == line


def test_the_database_gives_the_same_manifest(tmp_path: Path) -> None:
    path = build(tmp_path / "index.db", FILES)
    with open_index(path) as index:
        assert b"".join(manifest_lines(index)) == manifest(FILES)
        assert manifest_digest(index) == f"sha256:{hashlib.sha256(manifest(FILES)).hexdigest()}"


def test_files_must_come_in_path_order() -> None:
    with Projection(open_spool) as projection:
        first, second, *_ = rows_of(FILES)
        projection.add(second)
        with pytest.raises(ValueError, match="expected a path after"):
            projection.add(first)
        with pytest.raises(ValueError, match="expected a path after"):
            projection.add(second)


def test_the_ledger_is_part_of_it() -> None:
    rows = rows_of(FILES)
    world = World(recorded={"a": recorded(rows[1])})
    assert manifest(FILES, world) != manifest(FILES)


def test_a_doubled_id_shows_in_problems_and_states() -> None:
    text = manifest({"a.md": "---\nid: x\n---\n", "b.md": "---\nid: x\n---\n"}).decode()
    assert text.count('"state":"doubled"') == 2
    assert text.count('"code":"duplicate-id"') == 2


def test_agreement_compares_rows_without_encoding_them(tmp_path: Path) -> None:
    path = build(tmp_path / "index.db", FILES)
    other = build(tmp_path / "other.db", {**FILES, "facts/zz.md": "Body\n"})
    for target, expected in ((path, True), (other, False)):
        with open_index(target) as index:
            beside = Agreement(index.rows)
            with Projection(open_spool, beside) as projection:
                for row in rows_of(FILES):
                    projection.add(row)
                projection.finish(World())
            assert beside.complete() is expected


def test_agreement_sees_a_row_that_is_missing_at_the_end() -> None:
    def rows(table: Table) -> "list[tuple[Scalar, ...]]":
        return [("a.md", "x")] if table is TAG else []

    beside = Agreement(lambda table: iter(rows(table)))
    assert not beside.complete()
