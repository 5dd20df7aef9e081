"""The gate over hand edits: what must have its path named before it is adopted (design 10).

The first adoption of a workspace records what is there as it is: there is no memory yet that a
change could contradict or hide in. Then only secrets are held; everything else is told.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.facts.parse import parse
from syn.git.repository import Repository
from syn.git.snapshot import SnapshotEntry
from syn.git.write import kept_blob
from syn.index.store import Index
from syn.model.fact import Fact
from syn.model.recorded import Recorded
from syn.services.recall.edits import Edit
from syn.services.recall.fielddiff import FieldChange, compare_facts
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import under_recorded_id
from syn.services.writing.gate import Reason, Verdict, clashes, held, successor, verdict_of
from syn.services.writing.screen import Hit, new_hits, screen
from syn.services.writing.statements import Statements, statement_of

FIELDS_SHOWN = 100
"""Changed facts whose fields are compared for people."""
_FACTS = frozenset({"new", "unrecorded", "changed", "reformatted", "moved", "gone", "forked"})


class UnnamedError(RefusedError):
    """Changes that are only taken in when their paths are named."""

    def __init__(self, reasons: tuple[Reason, ...], paths: tuple[str, ...]) -> None:
        first, more = reasons[0], len(paths) - 1
        others = f"; {more} more files like that" if more else ""
        super().__init__(
            "must-be-named",
            f"{paths[0]}: {first.message}{others}",
            f"look at it and name it: syn adopt {' '.join(paths[:5])}{' …' if more > 4 else ''}",  # noqa: PLR2004 - what fits a line
        )
        self.reasons = reasons
        self.paths = paths


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the gate says of hand edits."""

    reasons: tuple[tuple[str, Reason], ...]
    """(path of the edit, what speaks against it), hardest first."""
    imports: bool
    """Nothing is recorded yet: only secrets are held."""
    fields: tuple[tuple[str, tuple[FieldChange, ...]], ...] = ()
    """(path, fields that change) of the first changed facts."""

    @property
    def held(self) -> tuple[tuple[str, Reason], ...]:
        """The reasons for which a path has to be named."""
        return tuple(
            (path, reason)
            for path, reason in self.reasons
            if reason.kind in ("screened", "conflict")
            and (not self.imports or reason.code == "secret")
        )

    @property
    def verdict(self) -> Verdict:
        """The class of all edits together."""
        return verdict_of(reason for _, reason in self.reasons)


def check_named(judgement: Judgement, named: Iterable[str]) -> None:
    """Raise `UnnamedError` for what is held and not named."""
    names = frozenset(named)
    unnamed = [(path, reason) for path, reason in judgement.held if path not in names]
    if unnamed:
        paths = tuple(dict.fromkeys(path for path, _ in unnamed))
        raise UnnamedError(tuple(reason for _, reason in unnamed), paths)


def judge_edits(
    repository: Repository, reading: Reading, index: Index, edits: Iterable[Edit]
) -> Judgement:
    """Everything that speaks against adopting these edits as they are."""
    todo = [edit for edit in edits if edit.kind in _FACTS]
    judge = _Judge(repository, reading, index, todo)
    reasons: list[tuple[str, Reason]] = []
    fields: list[tuple[str, tuple[FieldChange, ...]]] = []
    for edit in todo:
        reasons += [(edit.path, reason) for reason in judge.reasons(edit)]
        if len(fields) < FIELDS_SHOWN and edit.kind in ("changed", "forked", "moved"):
            changes = judge.fields(edit)
            if changes:
                fields.append((edit.path, changes))
    order = {reason: at for at, reason in enumerate(verdict_of(r for _, r in reasons).reasons)}
    reasons.sort(key=lambda pair: (order[pair[1]], pair[0]))
    return Judgement(tuple(reasons), not reading.ledger_files.has_facts, tuple(fields))


class _Judge:
    def __init__(
        self, repository: Repository, reading: Reading, index: Index, edits: list[Edit]
    ) -> None:
        self._repository = repository
        self._reading = reading
        self._index = index
        self._ids = frozenset(edit.id for edit in edits)
        self._statements = Statements(index, self._ids, reading.config.multi)
        self._new = {entry.path: entry for entry in reading.files.new_entries}

    def reasons(self, edit: Edit) -> Iterator[Reason]:
        """What speaks against one edit; those before it count as adopted."""
        known = self._reading.ledger_files.recorded(edit.id)
        yield from _trust(edit, known)
        if edit.kind == "gone":
            yield from successor(edit.id, self._index, self._ids)
            return
        old = self._recorded(known)
        if edit.said is not None:
            before = statement_of(old[1]) if old and old[1] else None
            if before is None or _words(before) != _words(edit.said):
                yield from clashes(edit.said, self._statements)
            self._statements.add(edit.said)
        data = self._data(edit.path)
        if data is not None:
            after = screen(edit.path, data, self._fact(edit.path, data))
            hits: Counter[Hit] = screen(edit.path, *old) if old else Counter()
            yield from held(edit.id, edit.path, new_hits(after, hits))

    def _entry(self, path: str) -> SnapshotEntry | None:
        found = self._new.get(path.encode())
        return found or self._reading.files.known.find(path.encode())

    def fields(self, edit: Edit) -> tuple[FieldChange, ...]:
        """The fields that change, where the recorded bytes are at hand."""
        old = self._recorded(self._reading.ledger_files.recorded(edit.id))
        data = self._data(edit.path)
        if old is None or data is None:
            return ()
        parsed = self._parse(edit.path, data)
        return compare_facts(old[1], parsed if isinstance(parsed, Fact) else None)

    def _recorded(self, known: Recorded | None) -> tuple[bytes, Fact | None] | None:
        """The recorded bytes, from HEAD or from what is kept, and the fact they are."""
        if known is None or not known.source:
            return None
        entry = self._entry(known.path)
        data = self._head(entry, known.source) or kept_blob(self._repository, known.source)
        if data is None:
            return None
        parsed = self._parse(known.path, data)
        return data, parsed if isinstance(parsed, Fact) else None

    def _head(self, entry: SnapshotEntry | None, source: str) -> bytes | None:
        if entry is None or not entry.head_oid:
            return None
        data = self._repository.store.blob(entry.head_oid)
        return data if sha256(data) == source else None

    def _data(self, path: str) -> bytes | None:
        entry = self._entry(path)
        try:
            return None if entry is None else self._reading.snapshot.read(entry)
        except CannotError:
            return None

    def _fact(self, path: str, data: bytes) -> Fact | None:
        """The fact, where its text may hold escapes; without one, the text itself says it all."""
        parsed = self._parse(path, data) if b"\\" in data else None
        return parsed if isinstance(parsed, Fact) else None

    def _parse(self, path: str, data: bytes) -> object:
        parsed = parse(path, data, self._reading.config)
        return under_recorded_id(parsed, self._reading.ledger.moved)


def _words(said: object) -> tuple[object, ...]:
    names = ("subject", "field", "value", "start", "end")
    return tuple(getattr(said, name) for name in names)


def _trust(edit: Edit, known: Recorded | None) -> Iterator[Reason]:
    """What the record says of the fact that is touched, and where the content comes from."""
    if known is not None and known.quarantine:
        yield Reason("conflict", "quarantined", edit.id, f"{edit.id} is quarantined", edit.path)
    touched = edit.kind in ("gone", "moved") or (known and known.payload != edit.payload)
    if known is not None and known.closed and touched:
        message = f"{edit.id} is closed: a decision ended it"
        yield Reason("conflict", "closed", edit.id, message, edit.path)
    if edit.external and (known is None or known.payload != edit.payload):
        yield Reason("tainted", "external", edit.id, f"{edit.id} comes from outside", edit.path)
