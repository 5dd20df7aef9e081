"""Answers about another time: the tree of a commit, or what was recorded at an instant (ADR 0022).

Both are snapshots like any other, so every read works on them as it does on the work tree. Their
indexes are built in the user's cache, named by what they were built from, and thrown away when
there are too many.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from syn.canon.digest import sha256, tagged_json
from syn.errors import CannotError, RefusedError
from syn.facts.dates import parse_instant
from syn.git.snapshot import Snapshot, SnapshotEntry
from syn.index.rows import PROJECTION
from syn.index.store import Index, IndexUnusable, open_index
from syn.ledger.build import lines
from syn.ledger.entry import HashedEntry
from syn.ledger.heads import recorded, workspace_heads
from syn.ledger.known_at import known_at as known_entries
from syn.ledger.segments import segment_path
from syn.model.problem import Problem
from syn.services.recall.indexing import Reading, build_index, read_snapshot, read_workspace
from syn.services.recall.pagein import Audience
from syn.services.recall.reading import CONFIG, POLICY
from syn.services.recall.reads import Reader
from syn.services.workspace import Workspace
from syn.services.writing.contents import LostBytesError, find_all

KEPT_INDEXES = 16
"""Indexes of other times that stay in the cache, per workspace."""


@contextlib.contextmanager
def at_commit(workspace: Workspace, ref: str, audience: Audience = "person") -> Iterator[Reader]:
    """A reader of the tree of a commit.

    Raises:
        UsageError: there is no such commit.
        CannotError: the index can neither be read nor built.
    """
    reading = read_workspace(workspace, ref)
    tree = str(getattr(reading.snapshot, "tree", reading.snapshot.label))
    control = [[path.decode(), digest] for path, digest in reading.control]
    name = tagged_json("at/1", [PROJECTION, tree, control, reading.config.id])
    with _index(workspace, reading, name) as index:
        yield Reader(workspace, index, reading, audience)


@contextlib.contextmanager
def known(reader: Reader, instant: str) -> Iterator[Reader]:
    """The same reader, but of what was recorded at an instant; "" is the reader itself.

    A fact that is quarantined now is not handed to an agent as it was before.

    Raises:
        InstantError: the text names no instant.
    """
    if not instant:
        yield reader
        return
    snapshot = known_snapshot(reader, parse_instant(instant).key)
    reading = read_snapshot(snapshot, reader.reading.config)
    with _index(reader.workspace, reading, snapshot.digest) as index:
        yield Reader(reader.workspace, index, reading, reader.audience)


@contextlib.contextmanager
def _index(workspace: Workspace, reading: Reading, digest: str) -> Iterator[Index]:
    folder = workspace.around.cache_dir / "at" / workspace.config.id
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{digest.removeprefix('sha256:')}.db"
    with _open(path, reading) as index:
        _make_room(folder, path)
        yield index


def _open(path: Path, reading: Reading) -> Index:
    try:
        index = open_index(path)
    except IndexUnusable:
        build_index(path, reading)
        return open_index(path)
    path.touch()
    return index


def _make_room(folder: Path, keep: Path) -> None:
    """Remove the indexes that were used longest ago."""
    files = sorted(folder.glob("*.db"), key=lambda file: file.stat().st_mtime_ns)
    for file in files[:-KEPT_INDEXES]:
        if file != keep:
            with contextlib.suppress(OSError):
                file.unlink()


# What was recorded at an instant.


@dataclass(frozen=True, slots=True)
class _Content:
    """One file of a snapshot: its bytes, or where they can be read."""

    path: str
    read: Callable[[], bytes]


class KnownSnapshot:
    """The files as the ledger recorded them at an instant."""

    def __init__(self, instant: str, contents: Iterable[_Content], digest: str) -> None:
        """`digest` names the state, whatever the instant that was asked for."""
        self._instant = instant
        self._contents = {c.path.encode(): c for c in contents}
        self.digest = digest

    @property
    def label(self) -> str:
        """The instant."""
        return f"known-at {self._instant}"

    @property
    def warnings(self) -> Sequence[Problem]:
        """None."""
        return ()

    def entries(self) -> Iterator[SnapshotEntry]:
        """Every recorded path, sorted by path bytes."""
        return (_entry(path) for path in sorted(self._contents))

    def find(self, path: bytes) -> SnapshotEntry | None:
        """The entry at one path."""
        return _entry(path) if path in self._contents else None

    def read(self, entry: SnapshotEntry) -> bytes:
        """The recorded bytes.

        Raises:
            LostBytesError: they are not in this repository.
        """
        return self._contents[entry.path].read()


def _entry(path: bytes) -> SnapshotEntry:
    return SnapshotEntry(path, "file", True, False, "", None, False)


def known_snapshot(reader: Reader, instant: str) -> KnownSnapshot:
    """The snapshot of what was known at an instant (an `Instant.key`)."""
    reading = reader.reading
    entries = list(known_entries(reading.ledger.ledger.chains, instant))
    states = [s for s in recorded(entries).values() if s.path and s.source]
    if reader.audience == "agent":
        now = reading.ledger.recorded
        states = [s for s in states if not (s.fact in now and now[s.fact].quarantine)]
    wanted = {state.path: state.source for state in states}
    for path, action in ((CONFIG, "config"), (POLICY, "policy")):
        for _, entry in workspace_heads(entries, action)[:1]:
            wanted[path.decode()] = entry.source
    contents = list(_recorded(reader, wanted))
    if CONFIG.decode() not in wanted:
        contents += [
            _Content(CONFIG.decode(), partial(_read, reading.snapshot, entry))
            for entry in reading.inventory.config
        ]
    contents += _segments(entries)
    digest = tagged_json(
        "known/1",
        [PROJECTION, sorted(map(list, wanted.items())), [digest for digest, _ in entries]],
    )
    return KnownSnapshot(instant, contents, digest)


def _recorded(reader: Reader, wanted: dict[str, str]) -> Iterator[_Content]:
    """The bytes of today's files where they are the recorded ones, else those that git has."""
    reading = reader.reading
    inventory = reading.inventory
    entries = (*reading.files.facts, *inventory.config, *inventory.policy)
    today = {entry.path.decode(): entry for entry in entries}
    missing: dict[str, set[str]] = {}
    for path, source in wanted.items():
        entry = today.get(path)
        if entry is not None and sha256(_read(reading.snapshot, entry)) == source:
            yield _Content(path, partial(_again, reading.snapshot, entry, source))
        else:
            missing.setdefault(path, set()).add(source)
    found = find_all(reader.workspace.repository, missing)
    for path, sources in missing.items():
        for source in sources:
            yield _Content(path, partial(_found, path, source, found.get(source)))


def _read(snapshot: Snapshot, entry: SnapshotEntry) -> bytes:
    try:
        return snapshot.read(entry)
    except (CannotError, RefusedError):
        return b""


def _again(snapshot: Snapshot, entry: SnapshotEntry, source: str) -> bytes:
    data = snapshot.read(entry)
    if sha256(data) != source:
        raise LostBytesError(entry.path.decode(), source)
    return data


def _found(path: str, source: str, data: bytes | None) -> bytes:
    if data is None:
        raise LostBytesError(path, source)
    return data


def _segments(entries: Iterable[HashedEntry]) -> Iterator[_Content]:
    """The ledger as it was: the lines of every writer up to then."""
    files: dict[str, list[HashedEntry]] = {}
    for digest, entry in entries:
        files.setdefault(segment_path(entry.writer, entry.seq), []).append((digest, entry))
    for path, group in files.items():
        data = lines(group)
        yield _Content(path, partial(_found, path, "", data))
