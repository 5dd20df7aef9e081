"""Preparing a write: all that it needs becomes an object of git or stands in the intent."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from syn.canon.digest import sha256
from syn.git.newobjects import NewObjects
from syn.git.snapshot import Snapshot
from syn.git.write import keep_objects
from syn.ledger.build import Draft, lines
from syn.ledger.entry import HashedEntry
from syn.ledger.segments import Tail, segment_path
from syn.services.recall.indexing import Progress
from syn.services.recall.reading import stored_bytes
from syn.services.workspace import Workspace
from syn.services.writing.decision import (
    Decision,
    FileChange,
    OutOfDateError,
    Recorder,
    bytes_of,
)
from syn.services.writing.intent import Append, Intent, PlannedFile

_MOST_WAITING = 1 << 26
"""Bytes that are held in memory until they are written together."""


def prepare(
    workspace: Workspace,
    snapshot: Snapshot,
    decision: Decision,
    made: tuple[tuple[HashedEntry, ...], Tail],
    recorder: Recorder,
    progress: Progress | None = None,
) -> Intent:
    """Put every byte the write needs into git's object store, and name it all in an intent.

    Raises:
        OutOfDateError: a file is not the one the decision was made on.
    """
    objects = _Objects(workspace, snapshot)
    files = tuple(_planned(objects, change) for change in decision.changes)
    changed = {file.path for file in files}
    sources = _sources(decision.drafts)
    paths = [path for path in dict.fromkeys(decision.adopted) if path not in changed]
    adopted: list[tuple[str, str]] = []
    for path in paths:
        adopted.append((path, _adopt(objects, path, sources)))
        if progress is not None:
            progress(len(adopted), len(paths))
    objects.flush()
    forget = set(decision.forget)
    kept = {source: oid for source, oid in objects.kept.items() if source not in forget}
    keep_objects(workspace.repository, kept)
    return Intent(
        files=files,
        adopted=tuple(adopted),
        appends=tuple(_appends(workspace.root, made[0])),
        tail=made[1],
        ident=recorder.ident,
        message=decision.message,
        commit=workspace.config.commit,
        discard=decision.discard,
        forget=decision.forget,
    )


def _sources(drafts: Iterable[Draft]) -> dict[str, str]:
    """Path to the bytes that the decision is on; a fact that comes outweighs one that left."""
    sources: dict[str, str] = {}
    for draft in drafts:
        if draft.path and (draft.source or draft.path not in sources):
            sources[draft.path] = draft.source
    return sources


class _Objects:
    """Takes bytes that go into git, and notes which of them have to be kept reachable."""

    def __init__(self, workspace: Workspace, snapshot: Snapshot) -> None:
        self.root = workspace.root
        self.kept: dict[str, str] = {}
        self._repository = workspace.repository
        self._snapshot = snapshot
        self._new, self._size = NewObjects(), 0
        self.keeps = not workspace.config.commit
        """Whether what comes has to be kept, since no commit will hold it."""

    def write(self, data: bytes | None, *, keep: bool) -> str:
        """The blob's id; "" for no file."""
        if data is None:
            return ""
        oid = self._new.add("blob", data)
        self._size += len(data)
        if self._size > _MOST_WAITING:
            self.flush()
        if keep:
            self.kept[sha256(data)] = oid
        return oid

    def flush(self) -> None:
        """Write what waits: together, since each object by itself would cost two fsyncs."""
        self._new.write(self._repository)
        self._size = 0

    def replaced(self, path: str, data: bytes | None) -> str:
        """The blob of bytes that go: as they stand on disk, and as they are recorded."""
        self.write(self.stored(path, data), keep=True)
        return self.write(data, keep=True)

    def recorded(self, path: str, data: bytes | None) -> str:
        """The blob of bytes that come, as a commit holds them; kept where none will."""
        return self.write(self.stored(path, data), keep=self.keeps)

    def committed(self, path: str) -> bytes | None:
        """HEAD's bytes of a fact that is read from there: sparse, or an attribute hides its own."""
        entry = self._snapshot.find(path.encode())
        if entry is None or entry.kind != "file" or entry.on_disk:
            return None
        return self._snapshot.read(entry)

    def stored(self, path: str, data: bytes | None) -> bytes | None:
        """What git would store."""
        return None if data is None else stored_bytes(self._snapshot, path, data)

    def seen(self, path: str) -> bytes | None:
        """The file as the snapshot reads it."""
        entry = self._snapshot.find(path.encode())
        if entry is None or entry.kind != "file":
            return None
        return self._snapshot.read(entry)


def _planned(objects: _Objects, change: FileChange) -> PlannedFile:
    before = bytes_of(objects.root / change.path)
    actual = "" if before is None else sha256(before)
    if actual != change.base:
        raise OutOfDateError(change.path, change.base, actual)
    return PlannedFile(
        path=change.path,
        before=change.base,
        after="" if change.data is None else sha256(change.data),
        before_blob=objects.replaced(change.path, before),
        after_blob=objects.write(change.data, keep=False),
        stored_blob=objects.recorded(change.path, change.data),
    )


def _adopt(objects: _Objects, path: str, sources: dict[str, str]) -> str:
    """The blob of a file that is recorded as it is; the bytes are those that were decided on."""
    stored = objects.stored(path, bytes_of(objects.root / path))
    expected = sources.get(path)
    if expected is not None and expected != _source(stored):
        # A program converts the file, or it lies outside a sparse checkout: HEAD's blob is it.
        stored = objects.seen(path)
        if expected != _source(stored):
            raise OutOfDateError(path, expected, _source(stored))
    return objects.write(stored, keep=objects.keeps)


def _source(data: bytes | None) -> str:
    return "" if data is None else sha256(data)


def _appends(root: Path, entries: tuple[HashedEntry, ...]) -> Iterator[Append]:
    by_file: dict[str, list[HashedEntry]] = {}
    for digest, entry in entries:
        by_file.setdefault(segment_path(entry.writer, entry.seq), []).append((digest, entry))
    for path, group in by_file.items():
        there = bytes_of(root / path) or b""
        yield Append(path, len(there), sha256(there), lines(group))
