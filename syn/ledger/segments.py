"""Segment files to chains: reads what can be read and names every fault (design 5).

One bad line never hides the others, one bad writer never stops another one. The reader says what it
sees; whether a checkpoint covers a torn tail is for the caller to know.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from syn.ledger.entry import Defect, HashedEntry, decode, genesis
from syn.ledger.faults import RESTORE, Fault
from syn.ledger.syntax import batch_parts, is_writer
from syn.model.finding import Severity
from syn.model.ledger import Entry

FOLDER = ".synapse/ledger"
SEGMENT_SIZE = 1000
"""Entries after which a file closes."""
MAX_FAULTS = 100
"""Faults named per file; more of them are counted in one."""

_NAME = re.compile(rf"{re.escape(FOLDER)}/([^/]+)/([0-9]{{6,9}})\.jsonl\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Tail:
    """Where a writer's chain ends: all that the next entry needs."""

    writer: str
    length: int
    """Seq of the last entry; 0 when there is none."""
    head: str
    """Hash of the last entry, or the genesis hash."""


@dataclass(frozen=True, slots=True)
class Chain:
    """One writer's entries, as far as they could be read."""

    writer: str
    entries: tuple[HashedEntry, ...]
    """In file order; with faults there may be gaps, and equivocating entries beside each other."""
    tail: Tail
    torn: bool
    """The last line has no LF: it may be a write that a crash cut off."""

    def hash_at(self, length: int) -> str | None:
        """The hash of the entry with this seq, or None when there is none; for prefix checks."""
        if 0 < length <= len(self.entries) and self.entries[length - 1][1].seq == length:
            return self.entries[length - 1][0]
        return next((digest for digest, entry in self.entries if entry.seq == length), None)


@dataclass(frozen=True, slots=True)
class Ledger:
    """Every chain of a workspace, and what is wrong with them."""

    chains: tuple[Chain, ...]
    """Sorted by writer."""
    faults: tuple[Fault, ...]
    """Sorted by place."""

    def entries(self) -> Iterator[HashedEntry]:
        """Every entry that could be read, by writer, in file order."""
        for chain in self.chains:
            yield from chain.entries


def segment_path(writer: str, seq: int) -> str:
    """The file that holds, or would hold, a writer's entry with this seq."""
    return _file(writer, (seq - 1) // SEGMENT_SIZE + 1)


def place(entry: Entry) -> tuple[str, int]:
    """Path and line (from 1) of an entry in a whole chain: they follow from writer and seq."""
    return segment_path(entry.writer, entry.seq), (entry.seq - 1) % SEGMENT_SIZE + 1


def parse_segment_path(path: str) -> tuple[str, int] | None:
    """Writer and number of a segment file, or None when the path is not one."""
    match = _NAME.match(path)
    if match is None or not is_writer(match[1]):
        return None
    number = int(match[2])
    return (match[1], number) if path == _file(match[1], number) and number else None


def read(ws: str | None, files: Iterable[tuple[str, bytes]]) -> Ledger:
    """Read every file under `.synapse/ledger/`, in any order.

    Args:
        ws: id of the workspace, or None when it is not known: then a chain's first `prev` is taken
            as it is.
        files: path from the root, and content. Files of one writer are held until all are there;
            the others' content is dropped as soon as it is read.
    """
    segments: dict[str, list[tuple[int, str, bytes]]] = {}
    faults: list[Fault] = []
    for path, data in files:
        known = parse_segment_path(path)
        if known is None:
            faults.append(_foreign_file(path))
        else:
            segments.setdefault(known[0], []).append((known[1], path, data))
    pool: dict[str, str] = {}
    chains: list[Chain] = []
    for writer in sorted(segments):
        reader = ChainReader(ws, writer, pool)
        numbered = sorted(segments.pop(writer), reverse=True)
        while numbered:
            number, path, data = numbered.pop()
            reader.feed(number, path, data, last=not numbered)
        chains.append(reader.chain())
        faults += reader.faults
    return Ledger(tuple(chains), _classified(faults, chains, ws))


class ChainReader:
    """Reads one writer's files in order; `faults` and `chain()` hold what it found so far."""

    def __init__(self, ws: str | None, writer: str, pool: dict[str, str] | None = None) -> None:
        self.writer = writer
        self.faults: list[Fault] = []
        self._pool: dict[str, str] = {} if pool is None else pool
        self._entries: list[HashedEntry] = []
        self._seen: dict[int, str] | None = None
        self._expected = 1
        self._tip: str | None = genesis(ws, writer) if ws is not None else None
        self._genesis = self._tip or ""
        self._number = 0
        self._first = 1
        self._unread = 0
        self._last: Entry | None = None
        self._last_hash = ""
        self._torn = False
        self._path = ""
        self._line = 0
        self._byte = 0
        self._file_faults: list[Fault] = []

    def chain(self) -> Chain:
        """The chain as far as it was read."""
        head = self._last_hash or self._genesis
        tail = Tail(self.writer, self._expected - 1, head)
        return Chain(self.writer, tuple(self._entries), tail, self._torn)

    def feed(self, number: int, path: str, data: bytes, *, last: bool) -> None:
        """Read the next file; `last` says that no other one of this writer follows."""
        self._path, self._line, self._byte = path, 0, 0
        self._file_faults = []
        if number > self._number + 1:
            self._missing_files(number)
        self._number, self._first = number, (number - 1) * SEGMENT_SIZE + 1
        if not data:
            self._add(*_empty(last))
        carriage = b"\r\n" in data
        if carriage:
            self._crlf(data)
        self._lines(data, carriage=carriage, last=last)
        self._close_file()

    def _crlf(self, data: bytes) -> None:
        """One fault for the whole file: a checkout or an editor converted it."""
        self._byte = data.index(b"\r\n")
        self._line = data.count(b"\n", 0, self._byte) + 1
        count = data.count(b"\r\n")
        self._add(
            "crlf",
            "LF line ends",
            f"CRLF on {count} lines",
            "set -text for .synapse/ledger in .gitattributes, and check the file out again",
        )

    def _lines(self, data: bytes, *, carriage: bool, last: bool) -> None:
        *lines, rest = data.split(b"\n")
        self._line, self._byte = 0, 0
        for line in lines:
            self._line += 1
            self._take(decode(line.removesuffix(b"\r") if carriage else line, self._pool))
            self._byte += len(line) + 1
        if rest:
            self._line += 1
            self._torn_line(rest, last=last)

    def _torn_line(self, rest: bytes, *, last: bool) -> None:
        """A last line without LF: whole and only unfinished, or cut."""
        decoded = decode(rest, self._pool)
        if last:
            self._torn = True
            whole = "a whole entry" if not isinstance(decoded, Defect) else "a cut one"
            self._add(
                "torn-tail",
                "a last line that ends in LF",
                f"{whole} of {len(rest)} bytes without LF",
                "a write that a crash cut off: syn repair truncates it and keeps a backup",
                "unknown",
            )
        else:
            self._add("torn-segment", "a closed file that ends in LF", f"{len(rest)} bytes without")
        if not isinstance(decoded, Defect):
            self._take(decoded)
        elif not last:
            self._unread += 1

    def _take(self, decoded: HashedEntry | Defect) -> None:
        if isinstance(decoded, Defect):
            self._unread += 1
            self._byte += decoded.offset
            self._add(decoded.code, decoded.expected, decoded.actual)
            self._byte -= decoded.offset
            return
        digest, entry = decoded
        if entry.writer != self.writer:
            self._add("writer-foreign", f"entries of {self.writer}", f"an entry of {entry.writer}")
            self._unread += 1
            return
        if entry.key and not entry.sig:
            self._add("signature-missing", f"a signature by {entry.key}", "none")
        if entry.seq < self._expected:
            self._backwards(digest, entry)
            return
        if entry.seq != self._expected or entry.prev != self._tip:
            self._break(entry)
        if not 0 <= entry.seq - self._first < SEGMENT_SIZE:
            self._misplaced(entry)
        self._compare(entry)
        self._entries.append(decoded)
        if self._seen is not None:
            self._seen[entry.seq] = digest
        self._expected, self._unread = entry.seq + 1, 0
        self._tip = self._last_hash = digest
        self._last = entry

    def _break(self, entry: Entry) -> None:
        """An entry that does not follow; the chain goes on from it, so each break is told once."""
        jump = entry.seq - self._expected
        if jump > self._unread:
            self._add("seq-gap", f"seq {self._expected}", f"seq {entry.seq}")
        elif self._tip is not None and not jump:
            self._add("chain-broken", f"prev {self._tip}", f"prev {entry.prev}")
        elif jump and entry.prev == self._tip:
            self._add("chain-broken", f"seq {self._expected} after {self._tip}", f"seq {entry.seq}")

    def _backwards(self, digest: str, entry: Entry) -> None:
        """An entry before its place: a copy, another one with the same seq, or a late one."""
        if self._seen is None:
            self._seen = {known.seq: hashed for hashed, known in self._entries}
        known = self._seen.get(entry.seq)
        if known == digest:
            self._add("seq-duplicate", f"seq {self._expected}", f"seq {entry.seq} a second time")
            return
        if known is not None:
            self._add(
                "equivocation",
                f"one entry with seq {entry.seq}: {known}",
                f"another one: {digest}",
                "two histories of one writer were mixed: keep the one that a checkpoint or witness "
                "covers; an acknowledge decision accepts the fork for the record",
            )
        else:
            self._seen[entry.seq] = digest
            self._add("chain-broken", f"seq {self._expected}", f"seq {entry.seq} out of order")
        self._entries.append((digest, entry))

    def _compare(self, entry: Entry) -> None:
        """What an entry owes to the one before it, chain apart."""
        last = self._last
        if last is not None and entry.ts < last.ts:
            self._add(
                "time-backwards",
                f"ts from {last.ts}",
                f"ts {entry.ts}",
                "the clock was set back; order comes from seq, so nothing depends on it",
                "warning",
            )
        if entry.batch and (last is None or last.batch != entry.batch):
            parts = batch_parts(entry.batch)
            if parts is None or parts[1] != entry.seq:
                self._add("batch-broken", f"the line before in batch {entry.batch}", "another one")

    def _misplaced(self, entry: Entry) -> None:
        if not any(fault.code == "segment-misplaced" for fault in self._file_faults):
            expected = segment_path(self.writer, entry.seq)
            self._add("segment-misplaced", f"seq {entry.seq} in {expected}", self._path)

    def _missing_files(self, number: int) -> None:
        absent = f"{self._number + 1:06d} to {number - 1:06d}"
        path, self._path = self._path, _file(self.writer, self._number + 1)
        self._add("segment-missing", f"segments {absent} of {self.writer}", f"{number:06d} follows")
        self._path = path
        self._expected, self._tip = (number - 1) * SEGMENT_SIZE + 1, None
        self._last, self._unread = None, 0

    def _add(
        self,
        code: str,
        expected: str,
        actual: str,
        remedy: str = RESTORE,
        severity: Severity = "failure",
    ) -> None:
        remedy = remedy.format(path=self._path) if remedy is RESTORE else remedy
        self._file_faults.append(
            Fault(
                code=code,
                subject=self.writer,
                path=self._path,
                line=self._line,
                byte=self._byte,
                expected=expected,
                actual=actual,
                remedy=remedy,
                severity=severity,
            )
        )

    def _close_file(self) -> None:
        found = self._file_faults
        self.faults += found[:MAX_FAULTS]
        if len(found) > MAX_FAULTS:
            more = [f for f in found[MAX_FAULTS:] if f.severity == "failure"] or found[MAX_FAULTS:]
            self.faults.append(
                replace(
                    more[0],
                    code="faults-omitted",
                    expected=f"at most {MAX_FAULTS} faults named per file",
                    actual=f"{len(found) - MAX_FAULTS} more, the first of them {more[0].code}",
                )
            )


def _file(writer: str, number: int) -> str:
    return f"{FOLDER}/{writer}/{number:06d}.jsonl"


def _empty(last: bool) -> tuple[str, str, str, str, Severity]:
    if last:
        return (
            "torn-tail",
            "a first line",
            "an empty file",
            "a write that a crash cut off: syn repair removes the empty file",
            "unknown",
        )
    return "torn-segment", f"{SEGMENT_SIZE} lines", "an empty file", RESTORE, "failure"


def _foreign_file(path: str) -> Fault:
    return Fault(
        code="segment-name",
        subject=path,
        path=path,
        line=0,
        byte=0,
        expected=f"{FOLDER}/<writer>/<NNNNNN>.jsonl",
        actual=path,
        remedy="move the file out of the ledger's folder, or give the segment its name back",
    )


def _classified(
    faults: Iterable[Fault], chains: Iterable[Chain], ws: str | None
) -> tuple[Fault, ...]:
    """The faults in order; a `prev` that another writer's chain explains is called foreign."""
    faults = list(faults)
    if any(fault.code == "chain-broken" for fault in faults):
        owner: Mapping[str, str] = _owners(chains, ws)
        faults = [_foreign(fault, owner) for fault in faults]
    return tuple(sorted(faults, key=Fault.sort_key))


def _owners(chains: Iterable[Chain], ws: str | None) -> dict[str, str]:
    owner: dict[str, str] = {}
    for chain in chains:
        owner.update((digest, chain.writer) for digest, _ in chain.entries)
        if ws is not None:
            owner[genesis(ws, chain.writer)] = chain.writer
    return owner


def _foreign(fault: Fault, owner: Mapping[str, str]) -> Fault:
    prev = fault.actual.removeprefix("prev ")
    writer = owner.get(prev, fault.subject)
    if fault.code != "chain-broken" or writer == fault.subject:
        return fault
    return replace(fault, code="prev-foreign", actual=f"{fault.actual} of writer {writer}")
