"""The ledger of one snapshot: its bytes at once, its entries when they are asked for."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.git.parse import blob_id
from syn.git.snapshot import Snapshot, SnapshotEntry
from syn.index.inputs import inputs_hash
from syn.ledger import heads, links, segments
from syn.ledger.entry import Defect, HashedEntry, decode
from syn.ledger.growth import growth_faults
from syn.ledger.segments import Ledger
from syn.model.finding import Finding
from syn.model.problem import display_path
from syn.model.recorded import Recorded
from syn.services.recall.ledgernote import Note, ledger_digest, recall, remember
from syn.services.recall.reading import read_plain, unreadable_finding

_FEW = 8
"""Facts whose lines are looked for one by one; after them, all lines are told apart by their fact,
which costs what looking for so many does."""
_MAX_SCANS = 60
"""Looks for a path or an action after which the whole ledger is decoded: then that is cheaper."""
_FACT = re.compile(rb'"fact":("(?:[^"\\]|\\.)*")')


@dataclass(frozen=True, slots=True)
class LedgerView:
    """The whole ledger of one snapshot, decoded."""

    ledger: Ledger
    recorded: dict[str, Recorded]
    findings: tuple[Finding, ...]
    moved: Mapping[str, str]
    """Path to fact id, where the id is the default of a path that the fact was moved from."""

    @property
    def paths(self) -> frozenset[str]:
        """The paths at which a fact is recorded."""
        return frozenset(s.path for s in self.recorded.values() if s.path and not s.deleted)


def _moved(entries: Iterable[HashedEntry], recorded: Mapping[str, Recorded]) -> dict[str, str]:
    once = {entry.fact for _, entry in entries if entry.fact and entry.path == f"{entry.fact}.md"}
    states = (recorded[fact] for fact in sorted(once) if fact in recorded)
    return {s.path: s.fact for s in states if s.path and s.path != f"{s.fact}.md"}


@dataclass(slots=True)
class _Read:
    """The files of a ledger as they were read."""

    ahead: list[tuple[SnapshotEntry, bytes | None]]
    """Those that are not HEAD's, with their bytes; None for one that is lost."""
    files: list[tuple[str, bytes]] = field(default_factory=list)
    unread: list[Finding] = field(default_factory=list)
    digests: list[tuple[bytes, str]] = field(default_factory=list)
    heads: bool = True


@dataclass(frozen=True, slots=True)
class LookedUp:
    """The recorded states of a ledger, each derived when it is asked for."""

    files: "LedgerFiles"

    def get(self, fact: str, /) -> Recorded | None:
        """The recorded state of the fact with this id."""
        return self.files.recorded(fact)


class LedgerFiles:
    """The bytes of every segment of one snapshot; decoded as a whole only when that is asked."""

    def __init__(
        self,
        snapshot: Snapshot,
        entries: Iterable[SnapshotEntry],
        ws: str,
        lost: Iterable[SnapshotEntry] = (),
        note: Path | None = None,
    ) -> None:
        """Every file under `.synapse/ledger/`, read when the first of them is asked for.

        `lost` are the files that HEAD has there and the work tree has not; `note` is where earlier
        reads kept what they learnt of the ledger.
        """
        self._ws = ws
        self._snapshot = snapshot
        self._entries = tuple(entries)
        self._lost = tuple(lost)
        self._note_path = note
        self._scans = 0
        self._found: dict[str, tuple[HashedEntry, ...]] = {}
        self._states: dict[str, Recorded | None] = {}

    @cached_property
    def _read(self) -> "_Read":
        """The bytes; what cannot be read becomes a finding."""
        found = _Read(ahead=[(entry, None) for entry in self._lost])
        for entry in self._entries:
            path = display_path(entry.path)
            try:
                data = read_plain(self._snapshot, entry)
            except (CannotError, RefusedError) as error:
                found.unread.append(unreadable_finding(path, error))
                continue
            found.digests.append((entry.path, sha256(data)))
            if blob_id(data) != entry.head_oid:
                found.heads = False
                found.ahead.append((entry, data))
            found.files.append((path, data))
        return found

    def read(self) -> None:
        """Read every file now."""
        _ = self._read

    @property
    def digests(self) -> tuple[tuple[bytes, str], ...]:
        """(path, digest) of every file that could be read."""
        return tuple(self._read.digests)

    @property
    def heads(self) -> bool:
        """Whether every file is HEAD's blob at its path."""
        return self._read.heads

    @cached_property
    def note(self) -> Note | None:
        """What is known of these very bytes without decoding them (`ledgernote`)."""
        return recall(self._note_path, self.digest) if self._note_path is not None else None

    @cached_property
    def digest(self) -> str:
        """One digest for all files."""
        return ledger_digest(self._ws, self.digests)

    @cached_property
    def content(self) -> str:
        """One digest for all files, whatever program reads them."""
        return inputs_hash(self.digests)

    @property
    def is_decoded(self) -> bool:
        """Whether `view` was asked for; then nothing is gained by a shorter way."""
        return "view" in vars(self)

    @property
    def is_noted(self) -> bool:
        """Whether these very bytes are known to be a ledger without a fault."""
        return self.note is not None and not self._read.unread

    @property
    def faults(self) -> tuple[Finding, ...]:
        """What is wrong with it, warnings apart."""
        if self.is_noted and not self.is_decoded:
            return ()
        return tuple(found for found in self.view.findings if found.severity != "warning")

    @property
    def moved(self) -> Mapping[str, str]:
        """As `LedgerView.moved`."""
        if self.note is not None and not self.is_decoded:
            return self.note.moved
        return self.view.moved

    def recorded(self, fact: str) -> Recorded | None:
        """The recorded state of one fact."""
        if self.is_decoded or self.note is None:
            return self.view.recorded.get(fact)
        if fact not in self._states:
            self._states[fact] = heads.recorded(self.about(fact)).get(fact)
        return self._states[fact]

    @property
    def has_facts(self) -> bool:
        """Whether any decision is on a fact."""
        if self.is_decoded or self.note is None:
            return bool(self.view.recorded)
        return any(b'"fact":' in data for _, data in self._read.files)

    def of_action(self, action: str) -> tuple[HashedEntry, ...]:
        """The entries of one action, such as `policy`."""
        if self.is_decoded or not self._may_scan():
            return tuple(p for p in self.view.ledger.entries() if p[1].action == action)
        return tuple(pair for pair in self._scan("action", action) if pair[1].action == action)

    def holds(self, writer: str, length: int, head: str) -> bool:
        """Whether a chain has this many entries at least, the last of those with this hash."""
        if self.note is None or self.is_decoded:
            chains = (chain for chain in self.view.ledger.chains if chain.writer == writer)
            return any(chain.hash_at(length) == head for chain in chains)
        path = segments.segment_path(writer, length)
        data = next((data for name, data in self._read.files if name == path), b"")
        lines = data.split(b"\n")[(length - 1) % segments.SEGMENT_SIZE :]
        decoded = decode(lines[0]) if lines else None
        return isinstance(decoded, tuple) and decoded[0] == head

    @cached_property
    def view(self) -> LedgerView:
        """Every entry and what they add up to. Linear in the entries: about 20 us each."""
        files = self._read.files
        # With a note, lines may be looked for meanwhile, in another thread.
        ledger = segments.read(self._ws, _drained(files) if self.note is None else files)
        entries = list(ledger.entries())
        faults = (*ledger.faults, *links.link_faults(entries))
        recorded = heads.recorded(entries)
        view = LedgerView(
            ledger=ledger,
            recorded=recorded,
            moved=_moved(entries, recorded),
            findings=(*(fault.finding() for fault in faults), *self._read.unread),
        )
        self._keep_note(view)
        return view

    def _keep_note(self, view: LedgerView) -> None:
        """Keep what was learnt of a ledger that had to be decoded, for the next read."""
        if self._note_path is None or self.note is not None:
            return
        if all(found.severity == "warning" for found in view.findings):
            remember(self._note_path, Note(self.digest, view.moved))

    @cached_property
    def shrunk(self) -> tuple[Finding, ...]:
        """Where this ledger is not HEAD's with whole lines appended: decisions were cut off."""
        found: list[Finding] = []
        for entry, data in self._read.ahead:
            if not entry.head_oid:
                continue
            path = display_path(entry.path)
            try:
                old = self._snapshot.read(entry._replace(kind="file", on_disk=False))
            except (CannotError, RefusedError) as error:
                found.append(unreadable_finding(path, error))
                continue
            subject = path.split("/")[2]
            found += (fault.finding() for fault in growth_faults(path, subject, old, data))
        return tuple(found)

    def recorded_at(self, paths: Iterable[str]) -> frozenset[str]:
        """Which of the paths a fact is recorded at; decodes only when the text may name one."""
        wanted = [path for path in paths if self.is_decoded or self._mentions("path", path)]
        if not wanted:
            return frozenset()
        if self.is_decoded or self.note is None or len(wanted) > _MAX_SCANS:
            return frozenset(wanted) & self.view.paths
        found = {path: {entry.fact for _, entry in self._scan("path", path)} for path in wanted}
        return frozenset(path for path in wanted if self._stands_at(path, found[path]))

    def about(self, fact: str) -> tuple[HashedEntry, ...]:
        """The entries on one fact; their hashes are computed from the bytes as they are now."""
        if fact in self._found:
            return self._found[fact]
        if self.is_decoded or self.note is None:
            return self._by_fact.get(fact, ())
        lines = self._scan("fact", fact) if len(self._found) < _FEW else self._lines_on(fact)
        found = tuple(pair for pair in lines if pair[1].fact == fact)
        return self._found.setdefault(fact, found)

    @cached_property
    def policies(self) -> tuple[HashedEntry, ...]:
        """The `policy` decisions."""
        return self.of_action("policy")

    def _may_scan(self) -> bool:
        """Whether a few lines may be decoded alone: nothing is wrong with the others."""
        self._scans += 1
        return self.note is not None and self._scans <= _MAX_SCANS

    def _stands_at(self, path: str, facts: Iterable[str]) -> bool:
        states = (self.recorded(fact) for fact in facts if fact)
        return any(s is not None and s.path == path and not s.deleted for s in states)

    def _scan(self, name: str, text: str) -> Iterator[HashedEntry]:
        """The entries of the lines that hold a member: decoded, and hashed, one by one."""
        member = _member(name, text)
        for _, data in self._read.files:
            at = data.find(member)
            while at >= 0:
                yield from _entry_at(data, at)
                at = data.find(member, data.find(b"\n", at))

    def _lines_on(self, fact: str) -> Iterator[HashedEntry]:
        """The same for a fact, by where its name stands."""
        for data, at in self._places.get(_member("fact", fact)[len(b'"fact":') :], ()):
            yield from _entry_at(data, at)

    @cached_property
    def _places(self) -> dict[bytes, list[tuple[bytes, int]]]:
        """A fact's name as a line has it, to the files and places where it stands."""
        found: dict[bytes, list[tuple[bytes, int]]] = {}
        for _, data in self._read.files:
            for match in _FACT.finditer(data):
                found.setdefault(match[1], []).append((data, match.start()))
        return found

    @cached_property
    def _by_fact(self) -> dict[str, tuple[HashedEntry, ...]]:
        groups: dict[str, list[HashedEntry]] = {}
        for digest, entry in self.view.ledger.entries():
            if entry.fact:
                groups.setdefault(entry.fact, []).append((digest, entry))
        return {fact: tuple(found) for fact, found in groups.items()}

    def _mentions(self, name: str, text: str) -> bool:
        member = _member(name, text)
        return any(member in data for _, data in self._read.files)


def _entry_at(data: bytes, at: int) -> Iterator[HashedEntry]:
    """The entry of the line around a place, if it is one."""
    decoded = decode(data[data.rfind(b"\n", 0, at) + 1 : data.find(b"\n", at)])
    if not isinstance(decoded, Defect):
        yield decoded


def _drained(files: list[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """The files, each let go of: half a kilobyte a decision that nobody reads any more."""
    while files:
        yield files.pop()


def _member(name: str, text: str) -> bytes:
    """How a member stands in canonical JSON; ids and paths are text without lone surrogates."""
    return canonical.encode({name: text})[1:-1]
