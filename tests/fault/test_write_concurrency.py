"""Many writers at once, in one work tree and in linked ones: nothing is lost, nothing forks."""

import subprocess
import sys
from pathlib import Path

import pytest

from syn.errors import SynError
from syn.services.lock import writing
from syn.services.proving.verifying import Request, verify
from syn.services.recall.indexing import read_workspace
from syn.services.recall.opening import reindex
from syn.services.recall.steady import steadily
from syn.services.writing.changes import Add, NewFact
from syn.services.writing.exclusive import exclusively
from syn.services.writing.writes import Terms, write
from tests.fault.test_write_crashes import ALL
from tests.support.cli import syn
from tests.support.workspaces import Place, git, make_workspace

FACTS = 50 if ALL else 4
PROCESSES = 8

_WRITER = """
import os, sys
from pathlib import Path
from syn.errors import SynError
from syn.services.writing.changes import Add, NewFact
from syn.services.workspace import find_workspace, surroundings
from syn.services.writing.writes import Terms, write

root, name, count = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
for number in range(count):
    workspace = find_workspace(root, surroundings(os.environ))
    try:
        write(workspace, [Add(NewFact(title=f"{name} {number}"))], Terms(), lambda _: None)
        print("recorded")
    except SynError as error:
        print(error.code)
"""


def quiet(_: str) -> None:
    """Takes the talk of a service."""


def start(place: Place, root: Path, name: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(root), name, str(FACTS)],
        env=place.env,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_eight_writers_in_three_work_trees(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    roots = [place.root] * (PROCESSES - 2)
    for side in ("one", "two"):
        git(place, "worktree", "add", "-q", "-b", side, str(tmp_path / side))
        roots.append(tmp_path / side)
    running = [start(place, root, f"p{number}") for number, root in enumerate(roots)]
    said = [line for process in running for line in process.communicate()[0].split()]
    assert [process.returncode for process in running] == [0] * PROCESSES
    assert len(said) == PROCESSES * FACTS
    assert set(said) <= {"recorded", "busy"}
    trees = {root: Place(root, place.env) for root in roots}
    for tree in trees.values():
        report = verify(tree.open(), Request(deep=True))
        assert (report.verdict, report.subject.worktree) == ("pass", "clean")
    git(place, "merge", "-q", "--no-edit", "one")
    git(place, "merge", "-q", "--no-edit", "two")
    report = verify(place.open(), Request(deep=True))
    assert (report.verdict, report.subject.worktree) == ("pass", "clean")
    recorded = read_workspace(place.open()).ledger.recorded
    assert len(recorded) == 4 + said.count("recorded")
    chains = read_workspace(place.open()).ledger.ledger.chains
    assert len(chains) == 3
    assert syn(place, "verify", "--deep", "-q").status == 0


def test_a_lock_that_is_held_is_waited_for_and_then_named(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    workspace = place.open()
    with writing(workspace), pytest.raises(SynError) as caught, exclusively(workspace, 0.2):
        pass
    assert caught.value.code == "busy"
    assert "process" in caught.value.message
    assert "since 2026-11-30T12:00:00" in caught.value.message
    write(place.open(), [Add(NewFact(title="After"))], Terms(), quiet)


def test_readers_beside_writers_see_one_state(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    reindex(place.open())
    running = [start(place, place.root, f"p{number}") for number in range(2)]
    verdicts = []
    while any(process.poll() is None for process in running):
        report = verify(place.open(), Request())
        verdicts.append(report.verdict)
        ran = syn(place, "status", "--json")
        assert ran.status == 0, ran.err
        assert ran.json["edits"] == []
    for process in running:
        process.communicate()
    assert set(verdicts) == {"pass"}


def test_a_read_that_a_write_disturbed_is_made_again(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    seen: list[int] = []

    def read() -> int:
        seen.append(len(read_workspace(place.open()).ledger.recorded))
        if len(seen) == 1:
            write(place.open(), [Add(NewFact(title="Between"))], Terms(), quiet)
        return seen[-1]

    assert steadily(place.open(), read, quiet) == 5
    assert seen == [4, 5]
