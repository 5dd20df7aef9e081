"""`syn diff`: what facts say, compared by field: with the record, or between two states."""

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from typing import TypeAlias

from syn.errors import CannotError, RefusedError
from syn.facts.parse import parse
from syn.git.snapshot import SnapshotEntry
from syn.model.fact import Fact
from syn.model.finding import Json
from syn.model.ledger import FACT_ACTIONS
from syn.services.recall.answers import Answer, page_json
from syn.services.recall.edits import Edit, find_edits
from syn.services.recall.fielddiff import changes_json, compare_facts
from syn.services.recall.indexing import Reading, read_workspace
from syn.services.recall.pagein import Served, page_in_id
from syn.services.recall.reading import under_recorded_id
from syn.services.recall.reads import Reader
from syn.services.writing.contents import find_all

MAX_ITEMS = 500


@dataclass(frozen=True, slots=True)
class _Side:
    """A fact's file in one state."""

    path: str
    fact: Fact | None
    """None when the file cannot be read as a fact."""


def diff(reader: Reader, ref: str, to: str, under: str, limit: int) -> Answer:
    """The facts that differ, in path order, each by its fields.

    Args:
        reader: the work tree.
        ref: a commit; "" compares the record with the work tree.
        to: another commit; "" is the work tree.
        under: only this folder or path; "" is everything.
        limit: at most this many are shown whole; `total` counts all.
    """
    pairs = _between(reader, ref, to, under) if ref else _recorded(reader, under)
    decided = _decided(reader) if reader.audience == "agent" else None
    shown: list[Json] = []
    total = 0
    for old, new in pairs:
        total += 1
        if len(shown) < min(limit, MAX_ITEMS):
            shown.append(_item(reader, old, new, decided))
    return page_json(shown, total, None)


_Decided: TypeAlias = Mapping[str, Set[str]]
"""Fact id to the payloads that a decision was made on."""


def _item(reader: Reader, old: _Side | None, new: _Side | None, decided: _Decided | None) -> Json:
    side = new or old
    assert side is not None  # noqa: S101 - a difference has at least one side
    fact = side.fact or (old.fact if old else None)
    answer: dict[str, Json] = {
        "id": fact.id if fact else side.path.removesuffix(".md"),
        "type": fact.type if fact else None,
        "title": fact.title if fact else "",
        "path": side.path,
        "change": _kind(old, new),
    }
    if old and new and old.path != new.path:
        answer["was"] = old.path
    if decided is not None and not all(
        _may_see(reader, s.fact, decided) for s in (old, new) if s is not None
    ):
        return {**answer, "type": None, "title": "", "withheld": "a person decides on it first"}
    if new is None or new.fact is not None:
        answer["fields"] = changes_json(
            compare_facts(old.fact if old else None, new.fact if new else None)
        )
    return answer


def _may_see(reader: Reader, fact: Fact | None, decided: _Decided) -> bool:
    """An agent sees what somebody decided on, of a fact that it may have now."""
    if fact is None or fact.payload_digest not in decided.get(fact.id, ()):
        return False
    now = page_in_id(reader.reading, reader.index, fact.id, reader.audience)
    state = reader.reading.ledger.recorded.get(fact.id)
    return isinstance(now, Served) or (now is None and state is not None and not state.quarantine)


def _decided(reader: Reader) -> _Decided:
    decided: dict[str, set[str]] = {}
    for _, entry in reader.reading.ledger.ledger.entries():
        if entry.fact and entry.payload and entry.action in FACT_ACTIONS:
            decided.setdefault(entry.fact, set()).add(entry.payload)
    return decided


def _kind(old: _Side | None, new: _Side | None) -> str:
    if old is None or new is None:
        return "added" if old is None else "removed"
    if new.fact is None:
        return "unreadable"
    if old.fact is not None and old.fact.payload_digest == new.fact.payload_digest:
        return "moved" if old.path != new.path else "reformatted"
    return "changed"


def _wanted(path: str, under: str) -> bool:
    folder = under.rstrip("/")
    return not folder or path == folder or path.startswith(folder + "/")


# The record against the work tree.


def _recorded(reader: Reader, under: str) -> Iterator[tuple[_Side | None, _Side | None]]:
    reading = reader.reading
    found = find_edits(reading, reader.index)
    recorded = reading.ledger.recorded
    edits = [
        edit
        for edit in found.edits
        if edit.kind not in ("config", "policy") and _wanted(edit.path, under)
    ]
    broken = sorted({p.path for p in found.unreadable if _wanted(p.path, under)})
    known = {state.path: state for state in recorded.values() if state.path}
    states = [recorded[edit.id] for edit in edits if edit.id in recorded]
    states += [known[path] for path in broken if path in known]
    wanted: dict[str, set[str]] = {}
    for state in states:
        if state.source:
            wanted.setdefault(state.path, set()).add(state.source)
    data = find_all(reader.workspace.repository, wanted)
    for edit in edits:
        before = recorded.get(edit.id)
        old = None
        if before is not None and before.source in data:
            old = _side(reading, before.path, data[before.source])
        yield old, None if edit.kind == "gone" else _disk(reading, edit)
    for path in broken:
        if path in known and known[path].source in data:
            yield _side(reading, path, data[known[path].source]), _Side(path, None)


def _disk(reading: Reading, edit: Edit) -> _Side:
    entry = reading.snapshot.find(edit.path.encode())
    if entry is None:
        return _Side(edit.path, None)
    return _side(reading, edit.path, reading.snapshot.read(entry))


def _side(reading: Reading, path: str, data: bytes) -> _Side:
    parsed = under_recorded_id(parse(path, data, reading.config), reading.ledger.moved)
    return _Side(path, parsed if isinstance(parsed, Fact) else None)


# Two states.


def _between(
    reader: Reader, ref: str, to: str, under: str
) -> Iterator[tuple[_Side | None, _Side | None]]:
    """Pairs of facts by id, so that a move is one change."""
    before = read_workspace(reader.workspace, ref)
    after = read_workspace(reader.workspace, to) if to else reader.reading
    old, new = _entries(before), _entries(after)
    gone: list[_Side] = []
    come: list[_Side] = []
    for path in sorted(old.keys() | new.keys()):
        if not _wanted(path, under):
            continue
        first, second = _bytes(before, old.get(path)), _bytes(after, new.get(path))
        if first == second:
            continue
        one = _side(before, path, first) if first is not None else None
        other = _side(after, path, second) if second is not None else None
        if one is not None and other is not None:
            yield from _pair(one, other, gone, come)
        elif one is not None:
            gone.append(one)
        elif other is not None:
            come.append(other)
    yield from _matched(gone, come)


def _pair(
    one: _Side, other: _Side, gone: list[_Side], come: list[_Side]
) -> Iterator[tuple[_Side, _Side]]:
    """Two files at one path are one fact unless their ids say otherwise."""
    if one.fact and other.fact and one.fact.id != other.fact.id:
        gone.append(one)
        come.append(other)
    else:
        yield one, other


def _matched(gone: list[_Side], come: list[_Side]) -> Iterator[tuple[_Side | None, _Side | None]]:
    waiting = {side.fact.id: side for side in gone if side.fact}
    moved = set()
    pairs: list[tuple[_Side | None, _Side | None]] = []
    for side in come:
        old = waiting.get(side.fact.id) if side.fact else None
        if old is not None:
            moved.add(old.path)
        pairs.append((old, side))
    pairs += [(side, None) for side in gone if side.path not in moved]
    yield from sorted(pairs, key=lambda pair: (pair[1] or pair[0] or _Side("", None)).path)


def _entries(reading: Reading) -> dict[str, SnapshotEntry]:
    return {entry.path.decode(): entry for entry in reading.files.facts}


def _bytes(reading: Reading, entry: SnapshotEntry | None) -> bytes | None:
    if entry is None:
        return None
    try:
        return reading.snapshot.read(entry)
    except (CannotError, RefusedError):
        return b"\xff"  # no fact: what is wrong with it is for verify to say
