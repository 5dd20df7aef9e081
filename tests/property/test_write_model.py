"""Random writes, hand edits, branches and clock jumps against a model that is a dictionary."""

import shutil
import tempfile
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syn.services.doors.operations import operation
from syn.services.proving.verifying import Request, verify
from syn.services.recall.indexing import read_workspace
from syn.services.recall.opening import reindex
from syn.services.recall.reads import open_reader
from syn.services.writing.changes import Add, Change, Close, Delete, Edit, Move, NewFact
from syn.services.writing.undo import undo
from syn.services.writing.writes import Terms, write
from tests.support.workspaces import Place, adopt_all, git, make_workspace

NAMES = ("a", "b", "c")
DAYS = [f"2026-{month:02d}-01" for month in range(1, 13)]


def quiet(_: str) -> None:
    """Takes the talk of a service."""


@dataclass(frozen=True)
class Known:
    """One fact, as the model has it."""

    body: str
    path: str
    start: str
    end: str = ""


@dataclass
class Model:
    """What is recorded now, and what was after each decision with the time it counts from."""

    facts: dict[str, Known] = field(default_factory=dict)
    past: list[tuple[str, dict[str, Known]]] = field(default_factory=list)
    known: str = ""

    def decided(self, day: str) -> None:
        """A decision was made: a clock that went back counts as the latest time before."""
        self.known = max(self.known, day)
        self.past.append((self.known, dict(self.facts)))

    def at(self, day: str) -> dict[str, Known]:
        """What was known at the start of a day."""
        return next((facts for known, facts in reversed(self.past) if known <= day), {})


STEP = st.tuples(
    st.sampled_from(("add", "edit", "close", "delete", "move", "hand", "undo", "branch")),
    st.sampled_from(NAMES),
    st.integers(0, 99),
    st.sampled_from(DAYS),
)


def ids(place: Place, **values: Any) -> list[str]:
    reader = open_reader(place.open("2027-01-01T00:00:00Z"), quiet)
    with reader.index:
        items: Any = operation("list").run(reader, **values)["items"]
    return sorted(item["id"] for item in items)


def bodies(place: Place, day: str, names: list[str]) -> dict[str, str]:
    reader = open_reader(place.open("2027-01-01T00:00:00Z"), quiet)
    with reader.index:
        show = operation("show").run
        return {name: str(show(reader, id=name, known_at=day)["body"]) for name in names}


def change(model: Model, what: str, name: str, number: int, day: str) -> Change | None:
    """A change that the model's state allows, and the model after it."""
    known = model.facts.get(name)
    if what == "add" and known is None:
        path = f"facts/{name}-{number}.md"
        model.facts[name] = Known(f"{number}\n", path, day)
        new = NewFact(title=name, id=name, path=path, valid_from=day, body=f"{number}\n")
        return Add(new)
    return None if known is None else change_known(model, known, what, (name, number, day))


def change_known(model: Model, known: Known, what: str, how: tuple[str, int, str]) -> Change | None:
    """The same for a fact that is there."""
    name, number, day = how
    path = f"facts/m/{name}-{number}.md"
    if what == "edit" and not known.end and known.body != f"{number}\n":
        model.facts[name] = replace(known, body=f"{number}\n")
        return Edit(name, body=f"{number}\n")
    if what == "close" and not known.end and day > known.start:
        model.facts[name] = replace(known, end=day)
        return Close(name, day)
    if what == "move" and known.path != path:
        model.facts[name] = replace(known, path=path)
        return Move(name, path)
    if what == "delete":
        del model.facts[name]
        return Delete(name)
    return None


def step(place: Place, model: Model, what: str, name: str, number: int, day: str) -> None:
    now = f"{day}T00:00:00Z"
    clocked = Place(place.root, {**place.env, "SYNAPSE_NOW": now})
    known = model.facts.get(name)
    if what == "hand" and known and not known.end:
        file = place.root / known.path
        head, _, _ = file.read_text().rpartition("---\n")
        if file.read_text() == f"{head}---\nhand {number}\n":
            return
        file.write_text(f"{head}---\nhand {number}\n")
        model.facts[name] = replace(known, body=f"hand {number}\n")
        adopt_all(clocked)
        model.decided(day)
    elif what == "undo" and known:
        # An edit and its undo are two decisions, and leave what was before them.
        if known.end:
            return
        done = write(clocked.open(), [Edit(name, tag=(f"t{number}",))], Terms(), quiet)
        if done.entries:
            model.decided(day)
            undo(clocked.open(), done.entries[0][0], Terms(), quiet)
            model.decided(day)
    elif what == "branch" and known and not known.end:
        # One side edits the fact, the other merges it: nothing is lost, no step by hand.
        git(place, "checkout", "-q", "-b", f"side-{len(model.past)}")
        write(clocked.open(), [Edit(name, body=f"side {number}\n")], Terms(), quiet)
        git(place, "checkout", "-q", "main")
        git(place, "merge", "-q", "--no-ff", "--no-edit", f"side-{len(model.past)}")
        model.facts[name] = replace(known, body=f"side {number}\n")
        if known.body != f"side {number}\n":
            model.decided(day)
    elif (asked := change(model, what, name, number, day)) is not None:
        write(clocked.open(), [asked], Terms(), quiet)
        model.decided(day)


@settings(
    max_examples=5,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(STEP, min_size=4, max_size=10))
def test_the_memory_agrees_with_the_model(steps: list[tuple[str, str, int, str]]) -> None:
    folder = Path(tempfile.mkdtemp(prefix="synapse-model-"))
    try:
        place = make_workspace(folder, {}, adopted=False, now="2026-01-01T00:00:00Z")
        model = Model()
        for what, name, number, day in steps:
            step(place, model, what, name, number, day)
        check(place, model)
    finally:
        shutil.rmtree(folder)


def holds(known: Known, day: str) -> bool:
    """Half-open."""
    return known.start <= day and not (known.end and known.end <= day)


def check(place: Place, model: Model) -> None:
    """The files, the record, both axes of time, and the proofs."""
    recorded = read_workspace(place.open()).ledger.recorded
    living = {s.fact: s.path for s in recorded.values() if not s.deleted}
    assert living == {name: known.path for name, known in model.facts.items()}
    for known in model.facts.values():
        assert (place.root / known.path).read_text().endswith(f"---\n{known.body}")
    days = {day for known in model.facts.values() for day in (known.start, known.end) if day}
    for day in sorted(days):
        held = [name for name, known in model.facts.items() if holds(known, day)]
        assert ids(place, as_of=day) == sorted(held), day
    for day in sorted({known for known, _ in model.past}):
        facts = model.at(day)
        assert ids(place, known_at=day) == sorted(facts), day
        expected = {name: known.body for name, known in facts.items()}
        assert bodies(place, day, sorted(facts)) == expected, day
    report = verify(place.open(), Request(deep=True))
    wrong = [f for r in report.invariants for f in r.findings if f.severity == "failure"]
    assert wrong == []
    assert report.subject.worktree == "clean"
    assert reindex(place.open()).mode in (("none",) if model.past else ("none", "full"))
