"""Reading: what is no index of ours, what people and agents ask, and what is answered."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from syn.index.derive import World
from syn.index.lines import read_list
from syn.index.query import Filters
from syn.index.rows import FACT, PROBLEM, STATE, TABLES, TARGET
from syn.index.store import Index, IndexUnusable, answers, open_index
from syn.index.store.build import Builder
from syn.index.store.introspect import table_objects
from tests.support.indexes import build, recorded, rows_of

FILES = {
    "facts/m1.md": "---\nid: m-1\ntitle: Model A\ntype: note\nsubject: printer\nfield: model\n"
    "value: '007'\nvalid_from: 2026-03-10\nvalid_to: 2026-04-15\n---\nThe old printer.\n",
    "facts/m2.md": "---\nid: m-2\ntitle: Model B\ntype: note\ntags: [new, 'a b']\nstatus: live\n"
    "subject: printer\nfield: model\nvalue: B\nvalid_from: 2026-04-15\n---\nThe new printer.\n",
    "facts/q.md": "---\nid: q-1\n---\nCard TKT-42 says: isn't two-phase C++ at 12.34. Ünïcode\n",
    "notes/i1.md": "---\nid: i-1\nvalid_from: 2026-03-01\nvalid_to: 2026-02-01\n---\nInverted\n",
    "notes/i2.md": "---\nid: i-2\nvalid_from: 2026-03-01\nvalid_to: 2026-03-01\n---\nEmpty\n",
}
MARCH = "2026-03-15T00:00:00.000000000Z"
BOUNDARY = "2026-04-15T00:00:00.000000000Z"


@pytest.fixture
def index(tmp_path: Path) -> Path:
    rows = {row.path: row for row in rows_of(FILES)}
    hold = ("sha256:" + "2" * 64,)
    world = World(
        recorded={
            "m-1": recorded(rows["facts/m1.md"]),
            "m-2": recorded(rows["facts/m2.md"], quarantine=hold, taint="external"),
        }
    )
    return build(tmp_path / "i.db", FILES, world)


def ids(path: Path, filters: Filters) -> list[str]:
    with open_index(path) as index:
        return [item.id for item in index.list(filters, 100).items]


def search(path: Path, text: str, filters: Filters | None = None) -> list[str]:
    with open_index(path) as index:
        return [item.id for item in index.search(text, filters or Filters(), 100).items]


def test_a_list_is_in_path_order_with_values_as_written(index: Path) -> None:
    with open_index(index) as reader:
        page = reader.list(Filters(), 100)
    assert [item.id for item in page.items] == ["m-1", "m-2", "q-1", "i-1", "i-2"]
    assert (page.total, page.next) == (5, None)
    assert page.items[0].value == "007"
    assert page.items[0].valid_to == "2026-04-15"
    assert read_list(page.items[1].tags) == ("new", "a b")
    assert (page.items[1].taint, page.items[2].state) == ("external", "unrecorded")


def test_pages_follow_each_other(index: Path) -> None:
    with open_index(index) as reader:
        found, cursor = [], None
        while True:
            page = reader.list(Filters(), 2, cursor)
            found += [item.id for item in page.items]
            cursor = page.next
            if cursor is None:
                break
    assert found == ["m-1", "m-2", "q-1", "i-1", "i-2"]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        (Filters(type="note"), ["m-1", "m-2"]),
        (Filters(status="live"), ["m-2"]),
        (Filters(tag="a b"), ["m-2"]),
        (Filters(subject="printer", field="model"), ["m-1", "m-2"]),
        (Filters(under="notes"), ["i-1", "i-2"]),
        (Filters(under="note"), []),
        (Filters(state="recorded"), ["m-1", "m-2"]),
        (Filters(quarantined=True), ["m-2"]),
        (Filters(quarantined=False), ["m-1", "q-1", "i-1", "i-2"]),
        (Filters(as_of=MARCH), ["m-1", "q-1"]),
        (Filters(as_of=BOUNDARY), ["m-2", "q-1"]),
        (Filters(as_of="2026-04-14T23:59:59.999999999Z"), ["m-1", "q-1"]),
        (Filters(as_of="2020-01-01T00:00:00.000000000Z"), ["q-1"]),
        (Filters(type="%"), []),
    ],
)
def test_filters(index: Path, filters: Filters, expected: list[str]) -> None:
    assert ids(index, filters) == expected
    with open_index(index) as reader:
        assert reader.list(filters, 1).total == len(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("printer", ["m-1", "m-2"]),
        ("PRINTER old", ["m-1"]),
        ("TKT-42", ["q-1"]),
        ("isn't", ["q-1"]),
        ("two-phase", ["q-1"]),
        ("12.34", ["q-1"]),
        ("C++", ["q-1"]),
        ("unicode", ["q-1"]),
        ("007", ["m-1"]),
        ("new", ["m-2"]),
        ("absent", []),
        ("", []),
        ("!!! ???", []),
        ("!!! printer", ["m-1", "m-2"]),
        ('"', []),
        ("printer OR unicode", []),
    ],
)
def test_search(index: Path, text: str, expected: list[str]) -> None:
    assert sorted(search(index, text)) == sorted(expected)


def test_search_ranks_a_title_above_a_body_and_ties_by_path(tmp_path: Path) -> None:
    files = {f"facts/{name}.md": "---\ntitle: T\n---\nword filler\n" for name in "dacb"}
    files["facts/z.md"] = "---\ntitle: word\n---\nfiller\n"
    path = build(tmp_path / "i.db", files)
    assert search(path, "word") == ["facts/z", "facts/a", "facts/b", "facts/c", "facts/d"]


def test_search_takes_filters(index: Path) -> None:
    assert search(index, "printer", Filters(as_of=BOUNDARY)) == ["m-2"]
    assert search(index, "printer", Filters(tag="new", quarantined=True)) == ["m-2"]
    assert search(index, "printer", Filters(under="notes")) == []


@pytest.mark.parametrize("narrow", [3, 10, 1000])
@pytest.mark.parametrize("filters", [Filters(), Filters(type="note"), Filters(as_of=MARCH)])
def test_a_broad_search_pages_through_every_match_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, narrow: int, filters: Filters
) -> None:
    monkeypatch.setattr(answers, "NARROW", narrow)
    files = {
        f"facts/{place:02}.md": f"---\ntype: note\ntitle: {'word' if place % 5 == 4 else 'T'}\n"
        "---\nword\n"
        for place in range(23)
    }
    path = build(tmp_path / "i.db", files)
    late = {"facts/055.md": "---\ntype: note\n---\nword\n", "facts/20.md": files["facts/20.md"]}
    with Builder(path, base=path) as builder:
        for row in rows_of(late):
            builder.add(row)
        builder.finish(World(), {"inputs_hash": "x"})
    with open_index(path) as index:
        found, cursor = [], None
        while True:
            page = index.search("word", filters, 4, cursor)
            assert page.total == 24
            found += [item.path for item in page.items]
            cursor = page.next
            if cursor is None:
                break
        titled = ["04", "09", "14", "19"]
        assert found[:4] == [f"facts/{name}.md" for name in titled]
        if narrow < 24:
            assert found[4:] == sorted(found[4:])
        assert sorted(found) == sorted({**files, **late})


def test_cells_carry_what_a_verified_read_needs(index: Path) -> None:
    with open_index(index) as reader:
        found = reader.cell("facts/m2.md")
        assert found is not None
        fact, state = found
        assert (fact.id, fact.body) == ("m-2", "The new printer.\n")
        assert state is not None
        assert state.taint == "external"
        assert reader.cell("facts/none.md") is None
        assert [pair[0].path for pair in reader.cells_of_id("i-1")] == ["notes/i1.md"]
        assert [pair[0].id for pair in reader.cells()] == ["m-1", "m-2", "q-1", "i-1", "i-2"]


def test_a_fact_without_a_cell_is_unchecked_not_clean(index: Path) -> None:
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("delete from state where id = 'q-1'")
    with open_index(index) as reader:
        found = reader.cell("facts/q.md")
        assert found is not None
        assert found[1] is None
        assert reader.list(Filters(), 10).items[2].state is None


def test_tallies_count_what_a_column_holds(index: Path) -> None:
    with open_index(index) as reader:
        assert reader.tally(STATE, "state") == {"recorded": 2, "unrecorded": 3}
        assert reader.tally(TARGET, "outcome") == {}
        assert "None" not in reader.tally(FACT, "type"), "what has no type has none"
        assert reader.counts()["fact"] == 5
        assert set(reader.counts()) == {table.name for table in TABLES}
        with pytest.raises(ValueError, match="expected a column"):
            reader.tally(STATE, "1; drop table fact")


def test_problems_of_one_file(tmp_path: Path) -> None:
    path = build(
        tmp_path / "i.db", {"a.md": "---\nid: x\nup: [[y]]\n---\n", "b.md": "---\nid: x\n---\n"}
    )
    with open_index(path) as index:
        found = [(row.origin, row.severity, row.code) for row in index.problems("a.md")]
        assert found == [
            ("file", "warning", "unquoted-link"),
            ("workspace", "problem", "duplicate-id"),
        ]
        assert index.problems("none.md") == []


def test_rows_as_objects(index: Path) -> None:
    found = list(table_objects(index, STATE))
    assert [row["path"] for row in found] == sorted(FILES)
    assert set(found[0]) == set(STATE.columns)
    assert list(table_objects(index, PROBLEM)) == []


def test_text_that_is_not_utf8_does_not_stop_an_answer(index: Path) -> None:
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute("update fact set title = cast(x'ff41' as text) where id = 'm-1'")
    with open_index(index) as reader:
        assert reader.list(Filters(), 10).items[0].title == "\\xffA"
        assert len(list(reader.cells())) == 5
        assert reader.search("printer", Filters(), 10).total == 2


# What cannot be read, each with its own code.


def refusal(path: Path) -> IndexUnusable:
    with pytest.raises(IndexUnusable) as caught:
        open_index(path)
    assert caught.value.remedy
    return caught.value


def test_no_index(tmp_path: Path) -> None:
    assert refusal(tmp_path / "i.db").code == "index-missing"


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"SQLite format 3\0" + b"\xff" * 4096, b"x" * 8192]
)
def test_something_that_is_no_database(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "i.db"
    path.write_bytes(data)
    assert refusal(path).code in {"index-foreign", "index-corrupt"}
    assert path.read_bytes() == data


def test_a_database_of_somebody_else(tmp_path: Path) -> None:
    path = tmp_path / "i.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create table fact (x)")
    assert refusal(path).code == "index-foreign"


@pytest.mark.parametrize(
    ("statement", "code", "word"),
    [
        ("pragma user_version = 99", "index-version", "99"),
        ("update meta set value = '99' where key = 'projection'", "index-version", "99"),
        ("drop table tag", "index-schema", "missing table tag"),
        ("create view v as select 1", "index-schema", "foreign view v"),
        ("create table t (x)", "index-schema", "foreign table t"),
        ("alter table fact add column extra text", "index-schema", "fact.extra"),
        ("alter table tag rename column tag to label", "index-schema", "tag.label"),
        ("drop index fact_id", "index-schema", "fact_id"),
    ],
)
def test_another_shape(index: Path, statement: str, code: str, word: str) -> None:
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute(statement)
    found = refusal(index)
    assert found.code == code
    assert word in found.message


def test_statistics_of_analyze_are_no_difference(index: Path) -> None:
    with closing(sqlite3.connect(index)) as connection:
        connection.execute("analyze")
    assert len(ids(index, Filters())) == 5


def test_an_index_that_is_being_written_is_busy_not_wrong(index: Path) -> None:
    with closing(sqlite3.connect(index, isolation_level=None)) as connection:
        connection.execute("begin immediate")
        connection.execute("update fact set title = 'x'")
        found = refusal(index)
        connection.execute("rollback")
    assert found.code == "index-locked"
    assert len(ids(index, Filters())) == 5


def test_truncation_is_corruption(index: Path) -> None:
    data = index.read_bytes()
    index.write_bytes(data[: len(data) // 2])

    def read_everything() -> None:
        with open_index(index) as reader:
            for table in TABLES:
                list(reader.rows(table))
            assert reader.structure_faults() == []

    with pytest.raises(IndexUnusable) as caught:
        read_everything()
    assert caught.value.code == "index-corrupt"


def test_a_reader_writes_nothing_even_in_a_read_only_folder(index: Path, tmp_path: Path) -> None:
    folder = tmp_path / "frozen"
    folder.mkdir()
    copy = folder / "i.db"
    shutil.copy(index, copy)
    copy.chmod(0o444)
    folder.chmod(0o555)
    try:
        with open_index(copy) as reader:
            assert reader.search("printer", Filters(), 10).total == 2
            assert reader.fts_fault() == ""
            assert reader.structure_faults() == []
        assert [path.name for path in folder.iterdir()] == ["i.db"]
    finally:
        folder.chmod(0o755)


def test_a_name_with_special_characters(tmp_path: Path) -> None:
    folder = tmp_path / "a b?c#d%20ü"
    folder.mkdir()
    path = build(folder / "i.db", FILES)
    assert len(ids(path, Filters())) == 5


def test_a_changed_file_is_reopened_even_when_it_is_the_same_inode(index: Path) -> None:
    with open_index(index) as reader:
        assert isinstance(reader, Index)
        reader.list(Filters(), 10)
        with closing(sqlite3.connect(index)) as connection, connection:
            connection.execute("update fact set title = 'Edited in place' where id = 'q-1'")
        assert reader.list(Filters(), 10).items[2].title == "Edited in place"


def test_a_stray_delete_in_the_full_text_index_is_found(index: Path) -> None:
    with closing(sqlite3.connect(index)) as connection, connection:
        connection.execute(
            "insert into fact_fts (fact_fts, rowid, title, subject, field, value, tags, body) "
            "values ('delete', 1, 'never', null, null, null, '[]', 'indexed')"
        )
    with open_index(index) as reader:
        assert reader.structure_faults() == []
        assert reader.fts_fault()
