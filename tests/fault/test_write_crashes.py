"""Whatever a write is stopped by, the next command leaves the state before or the state after.

Every call that changes the disk is made to fail in turn: the process is killed before it, or it
returns EIO or ENOSPC. `SYNAPSE_FAULTS=all` also runs every system call under strace; else some.
"""

import errno
import os
import shutil
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from syn.services.proving.verifying import Request, verify
from syn.services.recall.indexing import read_workspace
from syn.services.writing.adopt import Consent as AdoptConsent
from syn.services.writing.adopt import adopt, plan_adopt
from syn.services.writing.changes import Add, Edit, NewFact, Supersede
from syn.services.writing.exclusive import settle
from syn.services.writing.pending import Asked, Consent, accept, propose, show
from syn.services.writing.transaction import pending
from syn.services.writing.undo import undo
from syn.services.writing.writes import Terms, write
from tests.support.faults import KILLED, Faults, count_calls, in_child, traced, traced_calls
from tests.support.workspaces import Place, git, make_workspace

ALL = os.environ.get("SYNAPSE_FAULTS") == "all"  # noqa: TID251 - how much the person asked for
STRIDE = 7
"""Every how many calls one fails, when not all do; which ones differs from command to command."""
SAMPLE = 1
"""System calls per command under strace, when not all are run."""


def quiet(_: str) -> None:
    """Takes the talk of a service."""


def add(place: Place) -> None:
    write(place.open(), [Add(NewFact(title="New", body="x\n"))], Terms("why"), quiet)


def supersede(place: Place) -> None:
    change = Supersede(("owner-2",), NewFact(value="risk", valid_from="2026-09-01"))
    write(place.open(), [change], Terms(), quiet)


def accept_one(place: Place) -> None:
    workspace = place.open()
    name = next((place.root / ".git/synapse/pending").iterdir()).stem
    (shown,) = show(workspace, [name], quiet)
    accept(workspace, shown, Consent(), quiet)


def adopt_all(place: Place) -> None:
    workspace = place.open()
    paths = ("facts/limit.md", "facts/more.md")
    shown = plan_adopt(workspace, paths, quiet)
    adopt(workspace, shown, paths, AdoptConsent("seen"), quiet)


def undo_last(place: Place) -> None:
    state = read_workspace(place.open()).ledger.recorded["facts/plain"]
    undo(place.open(), state.heads[0], Terms(), quiet)


COMMANDS: dict[str, tuple[Callable[[Place], None], list[str]]] = {
    "add": (add, ["add", "--title", "New", "--body", "x", "-m", "why"]),
    "supersede": (
        supersede,
        ["supersede", "owner-2", "--value", "risk", "--valid-from", "2026-09-01", "--body", ""],
    ),
    "accept": (accept_one, ["pending", "accept", "--yes", "{proposal}"]),
    "adopt": (adopt_all, ["adopt", "--yes", "facts/limit.md", "facts/more.md"]),
    "undo": (undo_last, ["undo", "{decision}"]),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A workspace with something staged, something loose, a hand edit, a proposal, a decision."""
    place = make_workspace(tmp_path_factory.mktemp("template"))
    write(place.open(), [Edit("facts/plain", body="Once.\n")], Terms(), quiet)
    propose(
        place.open(),
        [Edit("owner-1", tag=("x",)), Edit("owner-2", tag=("y",))],
        Asked("bot"),
        quiet,
    )
    (place.root / "notes.txt").write_text("committed\n")
    git(place, "add", "notes.txt")
    git(place, "commit", "-qm", "notes")
    (place.root / "notes.txt").write_text("loose\n")
    (place.root / "staged.txt").write_text("staged\n")
    git(place, "add", "staged.txt")
    (place.root / "facts/limit.md").write_text("---\nid: limit\n---\nBy hand.\n")
    (place.root / "facts/more.md").write_text("More.\n")
    return place


def fresh(template: Place, folder: Path) -> Place:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template.root, folder / "ws", symlinks=True)
    return Place(folder / "ws", template.env)


def state(place: Place) -> dict[str, bytes]:
    """Every file of the work tree but those that are derived, and the queue."""
    roots = (place.root, place.root / ".git/synapse/pending")
    files = [path for root in roots for path in sorted(root.rglob("*")) if path.is_file()]
    skipped = ("index.db", ".git/")
    return {
        str(path.relative_to(place.root)): path.read_bytes()
        for path in files
        if not any(part in str(path.relative_to(place.root)) for part in skipped)
        or "pending" in path.parts
    }


def facts(files: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in files.items() if ".synapse/ledger" not in name}


def check(place: Place, before: dict[str, bytes], after: dict[str, bytes], point: str) -> None:
    """What must hold once the next command has begun."""
    settle(place.open(), quiet)
    assert not pending(place.open()), point
    found = state(place)
    assert facts(found) in (facts(before), facts(after)), point
    status = git(place, "status", "--porcelain").splitlines()
    done = facts(found) == facts(after)
    loose = [" M facts/limit.md", "?? facts/more.md"]
    assert [line for line in status if line not in loose] == [
        " M notes.txt", "A  staged.txt",
    ], point  # fmt: skip
    assert git(place, "show", ":staged.txt") == "staged", point
    report = verify(place.open(), Request(deep=True))
    wrong = [f for r in report.invariants for f in r.findings if f.severity != "warning"]
    # What was edited by hand before is not decided on yet; nothing else may be wrong.
    assert {f.path for f in wrong} <= {"facts/limit.md"}, (point, wrong)
    lines = sum(name.count("ledger") and data.count(b"\n") for name, data in found.items())
    expected = after if done and facts(before) != facts(after) else found
    assert lines == sum(n.count("ledger") and d.count(b"\n") for n, d in expected.items()), point
    leftovers = [name for name in found if ".syn-tmp" in name]
    assert leftovers == [], point
    write(place.open(), [Edit("owner-1", tag=("after",))], Terms(), quiet)


def words_of(place: Place, words: list[str]) -> list[str]:
    names = {
        "{proposal}": next((place.root / ".git/synapse/pending").iterdir()).stem,
        "{decision}": read_workspace(place.open()).ledger.recorded["facts/plain"].heads[0][7:],
    }
    return [names.get(word, word) for word in words]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_call_of_a_write_may_be_the_last_one(
    name: str, template: Place, tmp_path: Path
) -> None:
    run, _ = COMMANDS[name]
    place = fresh(template, tmp_path / "count")
    before = state(place)
    calls = count_calls(partial(run, place))
    after = state(place)
    assert calls > 20
    errors = (0, errno.EIO, errno.ENOSPC)
    points = [(at, error) for at in range(1, calls + 1) for error in errors]
    for at, error in points if ALL else points[len(name) % STRIDE :: 3 * STRIDE + 1]:
        place = fresh(template, tmp_path / "point")
        status = in_child(partial(run, place), Faults(at, error))
        point = f"{name}: call {at} of {calls}, {errno.errorcode.get(error, 'killed')}"
        # A run that finds the index in step makes fewer calls, and then ends by itself.
        assert status in (0, KILLED) or error, point
        check(place, before, after, point)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_system_call_of_a_command_may_be_the_last_one(
    name: str, template: Place, tmp_path: Path
) -> None:
    _, words = COMMANDS[name]
    python = [sys.executable, "-m", "syn"]
    place = fresh(template, tmp_path / "count")
    before = state(place)
    calls = traced_calls([*python, *words_of(place, words)], place.root, place.env)
    after = state(place)
    points = [(call, when) for call, count in sorted(calls.items()) for when in range(1, count + 1)]
    faults = ("signal=SIGKILL", "error=EIO", "error=ENOSPC")
    chosen = [(c, w, f) for c, w in points for f in faults if c != "openat" or f == faults[0]]
    if not ALL:
        chosen = chosen[len(name) :: len(chosen) // SAMPLE]
    for call, when, fault in chosen:
        place = fresh(template, tmp_path / "point")
        command = [*python, *words_of(place, words)]
        traced(command, place.root, place.env, call, when, fault)
        check(place, before, after, f"{name}: {call} {when}, {fault}")
