"""Rows that depend on other files or on the ledger."""

import pytest

from syn.index import derive
from syn.index.derive import World
from syn.index.project import fact_key
from syn.index.rows import FactKey, FileRows
from syn.index.words import cell_of
from syn.model.ledger import Entry
from syn.model.problem import Problem
from syn.model.recorded import Recorded
from tests.support.indexes import recorded, rows_of


def keys_of(files: dict[str, str]) -> list[FactKey]:
    return [fact_key(row.fact) for row in rows_of(files) if row.fact is not None]


def fact(**keys: str) -> str:
    return "---\n" + "".join(f"{name}: {value}\n" for name, value in keys.items()) + "---\nB\n"


def test_either_side_may_declare_a_supersession() -> None:
    keys = keys_of(
        {
            "facts/o1.md": fact(id="o-1", superseded_by="o-2"),
            "facts/o2.md": fact(id="o-2"),
            "facts/o3.md": fact(id="o-3", supersedes="[o-99, o-2]"),
            "facts/p1.md": fact(id="p-1", superseded_by="p-2"),
            "facts/p2.md": fact(id="p-2", supersedes="p-1"),
        }
    )
    assert [tuple(row) for row in derive.supersession_rows(keys)] == [
        ("o-1", "o-2", "predecessor", "facts/o1.md", "facts/o2.md"),
        ("o-2", "o-3", "successor", "facts/o2.md", "facts/o3.md"),
        ("o-99", "o-3", "successor", None, "facts/o3.md"),
        ("p-1", "p-2", "both", "facts/p1.md", "facts/p2.md"),
    ]


def test_ids_of_a_supersession_compare_as_written() -> None:
    keys = keys_of({"facts/1.md": fact(id="007"), "facts/2.md": fact(id="'7'", supersedes="7")})
    (row,) = derive.supersession_rows(keys)
    assert (row.predecessor, row.predecessor_path) == ("7", "facts/2.md")


def test_a_doubled_id_is_a_problem_on_both_and_names_the_other() -> None:
    keys = keys_of(
        {
            "facts/x1.md": fact(id="x-1"),
            "facts/x2.md": fact(id="x-1"),
            "facts/x3.md": fact(id="X-1"),
            "facts/y.md": fact(id="y"),
        }
    )
    found = derive.id_problems(keys, {})
    assert [(p.path, p.code) for p in found] == [
        ("facts/x1.md", "duplicate-id"),
        ("facts/x2.md", "duplicate-id"),
        ("facts/x3.md", "twin-id"),
    ]
    assert "facts/x2.md" in found[0].message
    assert "facts/x1.md, facts/x2.md" in found[2].message


def test_a_newcomer_with_a_default_id_is_alone_at_fault() -> None:
    files = {
        "facts/a.md": "Body\n",
        "facts/moved.md": fact(id="facts/a"),
    }
    keys = keys_of(files)
    here = {"facts/a": recorded(rows_of(files)[1])}
    assert [p.path for p in derive.id_problems(keys, here)] == ["facts/a.md"]
    assert [p.path for p in derive.id_problems(keys, {})] == ["facts/a.md"]
    there = {"facts/a": recorded(rows_of(files)[0])}
    assert [p.path for p in derive.id_problems(keys, there)] == ["facts/a.md", "facts/moved.md"]


def test_two_newcomers_are_both_at_fault() -> None:
    keys = keys_of({"facts/A.md": "B\n", "facts/a.md": "B\n"})
    assert [p.path for p in derive.id_problems(keys, {})] == ["facts/A.md", "facts/a.md"]


def the_file() -> FileRows:
    return rows_of({"facts/a.md": fact(id="a-1", title="T")})[0]


def state(known: Recorded | None, *, doubled: bool = False) -> str:
    row = the_file().fact
    assert row is not None
    return derive.state_row(cell_of(row), known, doubled=doubled).state


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, "recorded"),
        ({"source": "sha256:" + "0" * 64}, "reformatted"),
        ({"payload": "sha256:" + "0" * 64}, "changed"),
        ({"path": "facts/b.md"}, "moved"),
        ({"path": "facts/b.md", "payload": "sha256:" + "0" * 64}, "changed"),
        ({"deleted": True, "path": "", "payload": "", "source": ""}, "deleted"),
        ({"forked": True, "path": "", "payload": "", "source": ""}, "forked"),
        ({"heads": (), "quarantine": ("sha256:" + "2" * 64,)}, "unrecorded"),
    ],
)
def test_states(changes: dict[str, object], expected: str) -> None:
    assert state(recorded(the_file(), **changes)) == expected


def test_a_fact_the_ledger_does_not_know_is_unrecorded() -> None:
    assert state(None) == "unrecorded"


def test_a_doubled_fact_is_never_called_recorded() -> None:
    assert state(recorded(the_file()), doubled=True) == "doubled"


def test_trust_comes_from_the_ledger() -> None:
    row = the_file().fact
    assert row is not None
    hold = "sha256:" + "2" * 64
    known = recorded(the_file(), taint="external", quarantine=(hold,), closed=True)
    found = derive.state_row(cell_of(row), known)
    assert (found.taint, found.quarantine, found.closed) == ("external", f'["{hold}"]', 1)


def entry(writer: str, seq: int, reason: str = "") -> Entry:
    return Entry(
        writer=writer,
        seq=seq,
        prev="p",
        ts="2026-04-15T10:00:00.000000Z",
        actor="a",
        via="cli",
        action="create",
        reason=reason,
    )


def test_decisions_sort_by_writer_seq_and_hash_and_stand_once() -> None:
    pairs = [("h3", entry("b", 1)), ("h2", entry("a", 10)), ("h1", entry("a", 9))]
    pairs += [("h0", entry("a", 10, "equivocation")), ("h1", entry("a", 9))]
    found = [(row.writer, row.seq, row.hash) for row in derive.decision_rows(pairs)]
    assert found == [("a", 9, "h1"), ("a", 10, "h0"), ("a", 10, "h2"), ("b", 1, "h3")]


def test_problems_across_files_are_numbered_per_path() -> None:
    problems = [
        Problem("b.md", 0, "twin-path", "m", "r"),
        Problem("a.md", 0, "z", "m", "r"),
        Problem("a.md", 0, "a", "m", "r"),
    ]
    found = [(r.origin, r.path, r.seq, r.code) for r in derive.problem_rows(problems)]
    assert found == [
        ("workspace", "a.md", 1, "a"),
        ("workspace", "a.md", 2, "z"),
        ("workspace", "b.md", 1, "twin-path"),
    ]


def test_a_world_is_empty_by_default() -> None:
    assert World() == World({}, (), ())
