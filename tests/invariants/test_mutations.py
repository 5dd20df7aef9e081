"""A healthy workspace passes every invariant; each mutation fails its own, and only that one."""

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from syn.model.finding import Status
from syn.model.report import Report
from syn.services.proving.verifying import Request, verify
from syn.services.recall.opening import reindex
from tests.support.workspaces import FACTS, Place, adopt_all, make_workspace

Mutation = Callable[[Place], None]


def check(place: Place) -> Report:
    return verify(place.open(), Request(deep=True, rebuild=True))


def failing(report: Report) -> dict[str, list[str]]:
    return {
        result.id: sorted({f.code for f in result.findings if f.severity == "failure"})
        for result in report.invariants
        if result.status is Status.FAIL
    }


def sql(statement: str) -> Mutation:
    def mutate(place: Place) -> None:
        database = sqlite3.connect(place.root / ".synapse/index.db")
        with database:
            database.execute(statement)
        database.close()

    return mutate


def edit(path: str, old: str, new: str) -> Mutation:
    def mutate(place: Place) -> None:
        file = place.root / path
        text = file.read_text()
        assert old in text
        file.write_text(text.replace(old, new))

    return mutate


def then(*steps: Mutation, adopt: bool = False) -> Mutation:
    def mutate(place: Place) -> None:
        for step in steps:
            step(place)
        if adopt:
            adopt_all(place, "recorded")

    return mutate


def rename(old: str, new: str) -> Mutation:
    def mutate(place: Place) -> None:
        (place.root / old).rename(place.root / new)

    return mutate


def segment(place: Place) -> Path:
    return next((place.root / ".synapse/ledger").glob("*/000001.jsonl"))


def cut_line(number: int) -> Mutation:
    def mutate(place: Place) -> None:
        lines = segment(place).read_bytes().splitlines(keepends=True)
        del lines[number]
        segment(place).write_bytes(b"".join(lines))

    return mutate


def cut_tail(place: Place) -> None:
    lines = segment(place).read_bytes().splitlines(keepends=True)
    segment(place).write_bytes(b"".join(lines[:-1]))


MUTATIONS: dict[str, tuple[Mutation, dict[str, list[str]]]] = {
    "index value edited": (
        sql("UPDATE attr SET value = 'x' WHERE pointer = '/value' AND path = 'facts/owner-2.md'"),
        {"INV-1": ["index-row-changed"]},
    ),
    "index row deleted": (
        sql("DELETE FROM tag WHERE tag = 'money'"),
        {"INV-1": ["index-row-missing"]},
    ),
    "index row added": (
        sql("INSERT INTO tag VALUES ('facts/limit.md', 'extra')"),
        {"INV-1": ["index-row-extra"]},
    ),
    "fact edited by hand": (
        edit("facts/limit.md", "Two people", "One person"),
        {"INV-2": ["payload-changed"]},
    ),
    "fact deleted": (
        lambda place: (place.root / "facts/plain.md").unlink(),
        {"INV-2": ["fact-missing"]},
    ),
    "fact renamed": (
        rename("facts/limit.md", "facts/other.md"),
        {"INV-2": ["fact-missing"]},
    ),
    "configuration edited": (
        edit("synapse.toml", 'branch = "main"', 'branch = "other"'),
        {"INV-2": ["config-changed"]},
    ),
    "fact made unreadable": (
        edit("facts/limit.md", "id: limit\n", "id: limit\nid: limit\n"),
        {"INV-2": ["duplicate-key"]},
    ),
    "predecessor left open": (
        then(
            edit("facts/owner-1.md", "valid_to: 2026-04-15\n", ""),
            edit("facts/owner-2.md", "field: owner\n", "field: other\n"),
            adopt=True,
        ),
        {"INV-5": ["supersession-open"]},
    ),
    "predecessor unknown": (
        then(edit("facts/limit.md", "tags", "supersedes: none-such\ntags"), adopt=True),
        {"INV-5": ["predecessor-missing"]},
    ),
    "two values at once": (
        then(
            edit("facts/owner-1.md", "superseded_by: owner-2\n", ""),
            edit("facts/owner-1.md", "2026-04-15", "2026-06-01"),
            edit("facts/owner-2.md", "supersedes: owner-1\n", ""),
            adopt=True,
        ),
        {"INV-13": ["values-overlap"]},
    ),
    "interval inverted": (
        then(
            edit("facts/limit.md", "tags", "valid_from: 2026-02-01\nvalid_to: 2026-01-01\ntags"),
            adopt=True,
        ),
        {"INV-13": ["interval-inverted"]},
    ),
}


def test_a_healthy_workspace_passes_every_invariant(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    reindex(place.open())
    report = check(place)
    assert failing(report) == {}
    assert report.verdict == "pass"
    assert report.subject.worktree == "clean"
    assert report.level.name == "L1"


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_mutation_fails_its_own_invariant_only(name: str, tmp_path: Path) -> None:
    mutation, expected = MUTATIONS[name]
    place = make_workspace(tmp_path)
    reindex(place.open())
    mutation(place)
    report = check(place)
    assert failing(report) == expected
    assert report.verdict == "fail"
    assert report.level.name == "L0"


def test_a_decision_cut_out_fails_history(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    cut_line(2)(place)
    found = failing(check(place))
    # The fact whose decision is gone is unrecorded too: its evidence is what was cut.
    assert found.keys() == {"INV-2", "INV-3"}
    assert {"evidence-rewritten", "seq-gap"} <= set(found["INV-3"])


def test_the_tail_cut_off_in_the_work_tree_is_found_against_head(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    cut_tail(place)
    found = failing(check(place))
    assert found["INV-3"] == ["evidence-shrank"]


def test_the_text_of_a_fact_reordered_is_a_warning(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    edit("facts/limit.md", "title: Refund limit", "title: 'Refund limit'")(place)
    report = check(place)
    assert failing(report) == {}
    codes = {f.code for r in report.invariants for f in r.findings if f.severity == "warning"}
    assert "reformatted" in codes


def test_an_index_built_from_older_files_is_stale_not_diverged(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    reindex(place.open())
    (place.root / "facts/more.md").write_text("More.\n")
    adopt_all(place, "more")
    report = check(place)
    assert failing(report) == {}
    sql("UPDATE tag SET tag = 'gold' WHERE tag = 'money'")(place)
    assert "INV-1" in failing(check(place))


def test_strict_turns_warnings_and_dirt_into_failures(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    assert verify(place.open(), Request(profile="standard")).verdict == "pass"
    edit("facts/limit.md", "title: Refund limit", "title: 'Refund limit'")(place)
    report = verify(place.open(), Request(profile="strict"))
    assert report.verdict == "fail"
    codes = {f.code for r in report.invariants for f in r.findings}
    assert {"reformatted", "worktree-dirty"} <= codes


def test_without_any_decision_nothing_is_claimed(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, FACTS)
    first = place.open().repository.head().commit
    assert first is not None
    report = verify(place.open(), Request(ref=first))
    assert report.subject.worktree == "none"
    assert report.subject.commit == first
