"""`syn restore`: take hand edits back, to the bytes that are recorded (design 10)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from syn.errors import RefusedError, UsageError
from syn.facts.parse import parse
from syn.git.repository import Repository
from syn.index.store import Index
from syn.model.fact import Fact, Parsed, Unreadable
from syn.model.recorded import Recorded
from syn.services.recall.indexing import Reading
from syn.services.recall.opening import open_current
from syn.services.recall.reading import stored_bytes, under_recorded_id
from syn.services.recall.reads import did_you_mean, near_names
from syn.services.workspace import Workspace
from syn.services.writing.contents import recorded_bytes
from syn.services.writing.control import CONTROL, restore_control
from syn.services.writing.desk import disk_bytes
from syn.services.writing.exclusive import exclusively
from syn.services.writing.gate import Verdict
from syn.services.writing.planning import Item, Plan, UnreadableResultError
from syn.services.writing.writes import Terms, Written, carry_out, refresh

_CLEAR = Verdict("clear", ())


class NotRestorableError(RefusedError):
    """The record does not say which bytes a fact has to have."""

    def __init__(self, fact: str, state: str, remedy: str) -> None:
        super().__init__("not-restorable", f"{fact} is {state}", remedy)


def restore(
    workspace: Workspace, names: Sequence[str], terms: Terms, note: Callable[[str], None]
) -> Written:
    """Bring facts back to their recorded bytes, whatever stands there now.

    What stood there is kept in git (`refs/synapse/kept`). Facts that are as they are recorded are
    left out. The configuration and the policy may be named too, each by its path.

    Raises:
        UsageError: a name is that of no recorded fact.
        NotRestorableError: the record says that it is gone, or says several things.
        LostBytesError: the bytes are not in this repository.
    """
    control = [name for name in names if name in CONTROL]
    facts = [name for name in names if name not in CONTROL]
    with exclusively(workspace):
        index, reading = open_current(workspace, note)
        with index:
            plan = plan_restore(workspace.repository, reading, index, facts)
        entries = carry_out(workspace, reading, plan, _CLEAR, terms)
        # Last, and without a new index: the next command reads by the rules that are back.
        taken = restore_control(workspace, reading, control)
        if not control:
            refresh(workspace, note)
    return Written(plan, _CLEAR, entries, tuple(taken))


def plan_restore(
    repository: Repository, reading: Reading, index: Index, names: Sequence[str]
) -> Plan:
    """What restoring these facts (ids, paths, or folders of paths) would do."""
    states = dict.fromkeys(state.fact for name in names for state in _named(reading, name))
    restorer = _Restorer(repository, reading, index)
    items = [restorer.item(reading.ledger.recorded[fact]) for fact in states]
    return Plan(tuple(item for item in items if item is not None))


def _named(reading: Reading, name: str) -> list[Recorded]:
    recorded = reading.ledger.recorded
    if name in recorded:
        return [recorded[name]]
    folder = name.rstrip("/") + "/"
    found = [s for s in recorded.values() if s.path == name or s.path.startswith(folder)]
    if not found:
        raise UsageError(
            "unknown-fact",
            f"no recorded fact has the id or the path {name}",
            did_you_mean(near_names(name, recorded))
            or "syn status lists what differs from the record",
        )
    return found


@dataclass(frozen=True, slots=True)
class _Restorer:
    repository: Repository
    reading: Reading
    index: Index

    def item(self, state: Recorded) -> Item | None:
        """One fact's part; None when it is as it is recorded."""
        if state.forked:
            raise NotRestorableError(
                state.fact, "recorded in several versions", "syn adopt decides which holds"
            )
        if state.deleted:
            raise NotRestorableError(
                state.fact,
                "recorded as gone",
                "remove its file; syn undo takes the deletion back, syn adopt records it again",
            )
        before = self._disk(state.path)
        was = self._elsewhere(state) if before is None else ""
        if was:
            before = self._disk(was)
        data = recorded_bytes(self.repository, state.path, state.source)
        old = None if before is None else self._parse(was or state.path, before)
        new = self._parse(state.path, data)
        if isinstance(new, Unreadable):
            raise UnreadableResultError(state.path, new)
        if old is not None and old.source_digest == state.source and not was:
            return None
        return Item(
            action="restore",
            id=state.fact,
            path=state.path,
            before=before,
            after=data,
            old=old if isinstance(old, Fact) else None,
            new=replace(new, id=state.fact),
            was=was,
        )

    def _disk(self, path: str) -> bytes | None:
        entry = self.reading.snapshot.find(path.encode())
        if entry is None or entry.kind == "missing":
            return None
        return disk_bytes(self.reading.snapshot, entry)

    def _elsewhere(self, state: Recorded) -> str:
        """Where somebody moved the file to, when that is plain."""
        paths = [fact.path for fact, _ in self.index.cells_of_id(state.fact)]
        return paths[0] if len(paths) == 1 and paths[0] != state.path else ""

    def _parse(self, path: str, data: bytes) -> Parsed:
        stored = stored_bytes(self.reading.snapshot, path, data)
        moved = self.reading.ledger.moved
        return under_recorded_id(parse(path, stored, self.reading.config), moved)
