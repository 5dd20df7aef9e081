"""`syn scrub`: look at every cell, the least recently checked first, and at each fault twice."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import assert_never

from syn.errors import CannotError, RefusedError, UsageError
from syn.git.repository import Repository
from syn.model.finding import Json, Verdict
from syn.services.patrol import cursor
from syn.services.patrol.evidence import (
    HEADS,
    STRAYS,
    check_images,
    check_ledger,
    check_receipt,
)
from syn.services.patrol.facts import check_fact
from syn.services.patrol.fault import CLASSES, KINDS, CellFault, Kind, Unit, erased
from syn.services.patrol.index import check_index
from syn.services.patrol.look import Look
from syn.services.patrol.objects import HEAD, check_head, check_object, kept_folders
from syn.services.recall.indexing import Progress, index_path
from syn.services.recall.pagein import CellClass
from syn.services.workspace import Workspace, find_workspace, stamp

SAVE_EVERY = 5_000
"""Units between two writes of the cursor, besides the one at the end."""


def _never() -> bool:
    return False


def _at_once() -> None:
    """No wait between the two readings."""


@dataclass(frozen=True, slots=True)
class Budget:
    """How much of a patrol is made now."""

    spent: Callable[[], bool] = _never
    """Whether the time is up; asked after every unit."""
    max_age: timedelta | None = None
    """Units found clean more recently than this are left out."""
    settle: Callable[[], None] = _at_once
    """Called between the two readings of what seems faulty."""


@dataclass(slots=True)
class Scrub:
    """What a patrol found."""

    checked: int = 0
    total: int = 0
    """Units there are, without those that `max_age` left out."""
    recent: int = 0
    """Units left out, since they were found clean a short while ago."""
    counts: dict[Kind, dict[CellClass, int]] = field(default_factory=dict)
    """Units by kind and gravest class."""
    faults: list[CellFault] = field(default_factory=list)
    """Found by both readings."""
    transient: list[CellFault] = field(default_factory=list)
    """Found by one of the two readings only: a fault of the reading, or one that was mended."""
    notes: list[str] = field(default_factory=list)
    unsaved: bool = False
    """The cursor could not be written."""

    @property
    def complete(self) -> bool:
        """Whether nothing was left for another time."""
        return self.checked == self.total

    @property
    def verdict(self) -> Verdict:
        """Failures outweigh what proves nothing; stale cells and transient faults only warn."""
        severities = {found.finding.severity for found in self.faults}
        if "failure" in severities:
            return "fail"
        return "incomplete" if "unknown" in severities else "pass"


def units_of(look: Look) -> list[Unit]:
    """Everything there is to look at, in the order in which it is looked at the first time."""
    writers = {chain.writer for chain in look.reading.ledger.ledger.chains}
    lost = {entry.path.decode().split("/")[2] for entry in look.reading.inventory.lost}
    return [
        *(Unit("ledger", name) for name in sorted(writers | lost)),
        Unit("ledger", HEADS),
        Unit("ledger", STRAYS),
        *([Unit("index", "index")] if look.index_exists else []),
        Unit("object", HEAD),
        *(Unit("fact", path) for path in look.fact_paths),
        *(Unit("object", name) for name in kept_folders(look)),
        *(Unit("receipt", path) for path in look.receipt_paths),
        *(Unit("image", image.path) for image in look.images),
        Unit("image", STRAYS),
    ]


def check_unit(look: Look, unit: Unit) -> tuple[CellFault, ...]:
    """Everything that is wrong with one unit; nothing when it is clean."""
    try:
        return tuple(_check(look, unit))
    except (CannotError, RefusedError) as error:
        return (erased(unit.kind, unit.name, error),)


def _check(look: Look, unit: Unit) -> Iterator[CellFault]:
    match unit.kind:
        case "ledger":
            return check_ledger(look, unit.name)
        case "index":
            return check_index(look)
        case "object":
            return check_object(look, unit.name)
        case "fact":
            return check_fact(look, unit.name)
        case "receipt":
            return check_receipt(look, unit.name)
        case "image":
            return check_images(look, unit.name)
        case _:
            assert_never(unit.kind)


def scrub(
    workspace: Workspace, budget: Budget | None = None, progress: Progress | None = None
) -> Scrub:
    """Make one patrol, or as much of it as the budget allows; changes nothing but the cursor.

    What seems faulty is read again, from new handles, before it is believed.

    Raises:
        CannotError: the workspace itself cannot be read.
    """
    budget = budget or Budget()
    done = Scrub()
    place = _Place(workspace)
    try:
        look = Look(workspace)
    except (CannotError, RefusedError):
        if not _objects_alone(workspace, place, done):
            raise
        return done
    with look:
        units = _due(units_of(look), place, budget, done)
        done.total = len(units)
        _say(done, look, place)
        suspects = _first_reading(look, units, place, budget, done, progress)
    if suspects:
        budget.settle()
        with Look(workspace) as again:
            _second_reading(again, suspects, place, done)
    done.faults.sort(key=lambda found: (-found.gravity, found.finding.sort_key()))
    place.save(done)
    return done


class _Place:
    """The cursor of a workspace while a patrol moves it on."""

    def __init__(self, workspace: Workspace) -> None:
        self._folder = index_path(workspace).parent
        self._workspace = workspace.config.id
        found = cursor.load(self._folder, self._workspace)
        self.now = stamp(workspace.around.now)
        self.at = workspace.around.now
        self.damaged = found.damaged
        self.checked = dict(found.checked)

    def save(self, done: Scrub) -> None:
        """Make the cursor durable; a patrol that cannot keep its place is still a patrol."""
        self._folder.mkdir(parents=True, exist_ok=True)
        if not cursor.save(self._folder, self._workspace, self.checked) and not done.unsaved:
            done.unsaved = True
            done.notes.append(f"{cursor.NAME} cannot be written: the next patrol begins anew")


def _due(units: list[Unit], place: _Place, budget: Budget, done: Scrub) -> list[Unit]:
    """What to look at, least recently checked first; the cursor forgets what is gone."""
    keys = {unit.key for unit in units}
    place.checked = {key: ts for key, ts in place.checked.items() if key in keys}
    last = place.checked
    if budget.max_age is not None:
        oldest = stamp(place.at - budget.max_age)
        due = [unit for unit in units if last.get(unit.key, "") <= oldest]
        done.recent, units = len(units) - len(due), due
    return sorted(units, key=lambda unit: last.get(unit.key, ""))


def _say(done: Scrub, look: Look, place: _Place) -> None:
    if place.damaged:
        done.notes.append(f"{cursor.NAME} was damaged: the patrol begins anew")
    if not look.index_exists:
        done.notes.append("there is no index to look at: syn reindex makes one")


def _first_reading(
    look: Look,
    units: list[Unit],
    place: _Place,
    budget: Budget,
    done: Scrub,
    progress: Progress | None,
) -> dict[Unit, tuple[CellFault, ...]]:
    suspects: dict[Unit, tuple[CellFault, ...]] = {}
    try:
        for unit in units:
            found = check_unit(look, unit)
            done.checked += 1
            if found:
                suspects[unit] = found
            else:
                _count(done, unit, "clean")
                place.checked[unit.key] = place.now
            if progress is not None:
                progress(done.checked, done.total)
            if done.checked % SAVE_EVERY == 0:
                place.save(done)
            if budget.spent():
                break
    except KeyboardInterrupt:
        place.save(done)
        raise
    return suspects


def _second_reading(
    look: Look, suspects: Mapping[Unit, tuple[CellFault, ...]], place: _Place, done: Scrub
) -> None:
    for unit, first in suspects.items():
        _second(first, check_unit(look, unit), unit, place, done)


def _second(
    first: tuple[CellFault, ...],
    second: tuple[CellFault, ...],
    unit: Unit,
    place: _Place,
    done: Scrub,
) -> None:
    """What two readings of one unit add up to."""
    both = [found for found in second if found in first]
    done.faults += both
    done.transient += [found for found in (*first, *second) if found not in both]
    worst = max((found.gravity for found in both), default=0)
    _count(done, unit, CLASSES[worst])
    if second:
        place.checked.pop(unit.key, None)
    else:
        place.checked[unit.key] = place.now


def _objects_alone(workspace: Workspace, place: _Place, done: Scrub) -> bool:
    """Look for the objects for want of which the work tree cannot even be listed."""
    first = tuple(check_head(_again(workspace)))
    if not first:
        return False
    _second(first, tuple(check_head(_again(workspace))), Unit("object", HEAD), place, done)
    done.checked, done.total = 1, 2
    done.notes.append("without these objects the work tree cannot be listed: nothing else was read")
    return True


def _again(workspace: Workspace) -> Repository:
    """The repository from new handles."""
    return find_workspace(workspace.root, workspace.around).repository


def _count(done: Scrub, unit: Unit, cls: CellClass) -> None:
    by_class = done.counts.setdefault(unit.kind, {})
    by_class[cls] = by_class.get(cls, 0) + 1


_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_AGE = re.compile(r"(\d{1,6})([smhdw])\Z")


def parse_age(text: str) -> timedelta:
    """A length of time as it is written on a command line: `90s`, `30m`, `12h`, `7d`, `2w`.

    Raises:
        UsageError: it is another text.
    """
    match = _AGE.match(text)
    if match is None:
        raise UsageError("bad-age", f"expected an age such as 12h or 7d, got {text!r:.40}")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


SCHEMA = "synapse.scrub/1"


def scrub_json(done: Scrub) -> dict[str, Json]:
    """A patrol as one JSON object."""
    return {
        "schema": SCHEMA,
        "verdict": done.verdict,
        "checked": done.checked,
        "total": done.total,
        "recent": done.recent,
        "complete": done.complete,
        "counts": {
            kind: {str(cls): number for cls, number in done.counts[kind].items()}
            for kind in KINDS
            if kind in done.counts
        },
        "faults": [fault_json(found) for found in done.faults],
        "transient": [fault_json(found) for found in done.transient],
        "notes": list(done.notes),
    }


def fault_json(found: CellFault) -> Json:
    """A fault as JSON."""
    finding = found.finding
    return {
        "kind": found.kind,
        "class": found.cls,
        "code": finding.code,
        "severity": finding.severity,
        "subject": finding.subject,
        "path": finding.path,
        "line": finding.line,
        "expected": finding.expected,
        "actual": finding.actual,
        "remedy": finding.remedy,
    }
