"""`syn import`: other programs' notes become facts, in one decision (ADR 0026).

A note is known again by where it was taken from, so a second run changes nothing. What the gate
holds, what cannot be read and what somebody edited here is not taken, and said so; it never stops
the rest.
"""

from collections.abc import Callable
from dataclasses import dataclass

from syn.errors import RefusedError
from syn.exchange.note import Note
from syn.index.store import Index
from syn.ledger.entry import HashedEntry
from syn.model.finding import Json
from syn.model.problem import Problem
from syn.services.exchange.places import remember_place, taken_elsewhere
from syn.services.exchange.planner import Planner, Wishes, settled
from syn.services.recall.answers import problem_json
from syn.services.recall.indexing import Progress, Reading
from syn.services.recall.opening import open_current
from syn.services.workspace import Workspace
from syn.services.writing.exclusive import exclusively
from syn.services.writing.gate import Verdict
from syn.services.writing.planning import Item, Plan
from syn.services.writing.writes import Terms, carry_out, reason_json, refresh

WARNINGS = frozenset(
    (
        *("attachment", "not-a-record", "converted", "include-not-followed", "unknown-record"),
        *("gone-at-source", "changed-at-source", "tie-left-out", "graph-not-taken"),
        "origin-elsewhere",
    )
)
"""Codes of what is told and keeps nothing out that was meant to come in."""


@dataclass(frozen=True, slots=True)
class Taken:
    """One note that is or would be taken."""

    action: str
    """`create` or `update`."""
    id: str
    path: str
    source: str
    """The file it stands in, from the imported folder."""
    line: int
    taint: str


@dataclass(frozen=True, slots=True)
class Import:
    """What an import would do, for a person to look at."""

    form: str
    origin: str
    into: str
    plan: Plan
    verdict: Verdict
    taken: tuple[Taken, ...]
    unchanged: int
    """Notes that are here already as they are."""
    problems: tuple[Problem, ...]
    """What is not taken and why, by place in the source."""

    @property
    def failed(self) -> tuple[Problem, ...]:
        """The problems that keep something out."""
        return tuple(problem for problem in self.problems if problem.code not in WARNINGS)


@dataclass(frozen=True, slots=True)
class Imported:
    """What an import did."""

    found: Import
    entries: tuple[HashedEntry, ...]


def plan_import(
    workspace: Workspace,
    wishes: Wishes,
    note: Callable[[str], None],
    progress: Progress | None = None,
) -> Import:
    """What an import would do; nothing is done.

    Raises:
        UsageError: nothing there is of this format, or the folder is none for facts.
        RefusedError: facts would be updated from another collection of this name.
    """
    index, reading = open_current(workspace, note)
    with index:
        return _plan(workspace, reading, index, wishes, progress)


def run_import(
    workspace: Workspace,
    wishes: Wishes,
    shown: Import | None,
    note: Callable[[str], None],
    progress: Progress | None = None,
) -> Imported:
    """Record what was shown, or with None whatever there is, as one decision.

    Raises:
        UsageError: as `plan_import`.
        RefusedError: the notes or the facts changed after they were shown (`out-of-date`); as
            `plan_import`.
    """
    with exclusively(workspace):
        index, reading = open_current(workspace, note)
        with index:
            found = _plan(workspace, reading, index, wishes, progress)
        if shown is not None and found.plan.result != shown.plan.result:
            raise RefusedError(
                "out-of-date",
                "the notes or the facts changed after they were shown",
                "look at it again and repeat the command",
            )
        number = len(found.plan.items)
        usual = f"import {number} note{'s' * (number != 1)} from {found.form} {found.origin}"
        terms = Terms(
            reason=wishes.reason or usual,
            override=wishes.override,
            via="import",
            review="unreviewed" if shown is None else "seen",
        )
        entries = carry_out(workspace, reading, found.plan, found.verdict, terms)
        if entries:
            refresh(workspace, note)
        if all(problem.code != "origin-elsewhere" for problem in found.problems):
            remember_place(workspace, found.form, found.origin, wishes.place.resolve())
    return Imported(found, entries)


def _plan(
    workspace: Workspace,
    reading: Reading,
    index: Index,
    wishes: Wishes,
    progress: Progress | None,
) -> Import:
    named = bool(wishes.origin)
    wishes = settled(workspace, reading, wishes)
    origin = (wishes.form.name, wishes.origin)
    elsewhere = "" if named else taken_elsewhere(workspace, *origin, wishes.place)
    planner = Planner(reading, index, wishes, elsewhere)
    planner.read(progress)
    planner.tie()
    verdict = planner.judge()
    drafts = planner.drafts
    items = tuple(draft.item for draft in drafts if draft.item is not None)
    return Import(
        form=wishes.form.name,
        origin=wishes.origin,
        into=wishes.into,
        plan=Plan(items),
        verdict=verdict,
        taken=tuple(_taken(draft.note, draft.item) for draft in drafts if draft.item is not None),
        unchanged=planner.unchanged,
        problems=tuple(sorted(set(planner.problems))),
    )


def _taken(note: Note, item: Item) -> Taken:
    return Taken(item.action, item.id, item.path, note.path, note.line, item.taint)


def import_json(found: Import, entries: tuple[HashedEntry, ...]) -> dict[str, Json]:
    """What an import does or did, for programs."""
    failed = frozenset(found.failed)
    return {
        "format": found.form,
        "origin": found.origin,
        "into": found.into,
        "taken": [
            {
                "action": taken.action,
                "id": taken.id,
                "path": taken.path,
                "source": taken.source,
                "line": taken.line,
                **({"taint": taken.taint} if taken.taint else {}),
            }
            for taken in found.taken
        ],
        "unchanged": found.unchanged,
        "problems": [
            problem_json(problem, "problem" if problem in failed else "warning")
            for problem in found.problems
        ],
        "class": found.verdict.kind,
        "reasons": [dict(reason_json(r)) for r in found.verdict.reasons if r.kind != "tainted"],
        "recorded": len(entries),
        "decision": entries[0][0] if entries else None,
    }
