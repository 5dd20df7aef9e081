"""A write: all or nothing, whatever happens in between (design 10, ADR 0020).

The order is: bytes into git's object store, intent, facts, ledger, writer's tail, git index,
reference; each is durable before the next. The intent names everything the write needs, so the
next command finishes it from wherever it was cut off, or takes back what was done of it. Before the
intent is in place nothing has changed; bytes that a write replaces are kept in git from before
that moment on.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from time import sleep

from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.git import durable
from syn.git.locks import LockedError
from syn.git.repository import Repository
from syn.git.write import check_locks, commit_blobs, forget_blobs, write_object
from syn.ledger.build import next_entries
from syn.ledger.entry import HashedEntry
from syn.services.recall.indexing import Progress, Reading
from syn.services.workspace import Workspace, stamp
from syn.services.writing import intent as intents
from syn.services.writing.decision import (
    Decision,
    OutOfDateError,
    Recorder,
    bytes_of,
    check_bases,
    digest_of,
)
from syn.services.writing.intent import Append, Intent, PlannedFile
from syn.services.writing.preparing import prepare
from syn.services.writing.writer import choose_tail, save_tail

_PAUSES = (0.02, 0.05, 0.1, 0.2, 0.4)
"""Seconds between two tries; git itself waits up to a second for `packed-refs`."""


class CutOffError(CannotError):
    """A write stopped half-way; its intent stands."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "cut-off",
            f"the write was cut off: {reason}",
            "the next syn command finishes it or takes it back; nothing is lost",
        )


def record(
    workspace: Workspace,
    reading: Reading,
    decision: Decision,
    recorder: Recorder,
    progress: Progress | None = None,
) -> tuple[HashedEntry, ...]:
    """Carry a decision out; the caller holds the lock (`exclusive.exclusively`) and read under it.

    `progress` is told of the files that were put into git's object store.

    Raises:
        OutOfDateError: a file is not the one the decision was made on; nothing was done.
        RefusedError: git's own lock, or a link on the way to a file, is in the way; nothing was
            done.
        CutOffError: it stopped half-way; the next command finishes it.
    """
    if pending(workspace):
        raise CutOffError("another write has to be finished first")
    check_bases(workspace.root, decision)
    if workspace.config.commit:
        _patiently(lambda: check_locks(workspace.repository))
    tail = choose_tail(workspace, reading.ledger.ledger)
    ts = stamp(workspace.around.now)
    entries, new_tail = next_entries(tail, decision.drafts, ts, signer=recorder.signer)
    plan = prepare(workspace, reading.snapshot, decision, (entries, new_tail), recorder, progress)
    intents.write(workspace, plan)
    try:
        _patiently(lambda: _carry_out(workspace, plan, recorder))
    except (OSError, CannotError, RefusedError) as error:
        raise CutOffError(getattr(error, "message", "") or str(error)) from error
    return entries


def recover(workspace: Workspace, recorder: Recorder) -> str:
    """Finish a write that was cut off, or take it back; the caller holds the lock.

    It is finished when the ledger is the one it began on, or already holds its entries; else
    (another branch was checked out, the branch was reset) what it wrote into facts is taken back.
    A file that somebody edited in between is left as it is: it shows as a hand edit.

    Returns:
        `finished`, `undone`, or "" when there was nothing to do.

    Raises:
        CutOffError: the disk still refuses; the intent stands.
    """
    plan = intents.read(workspace)
    if plan is None:
        return ""
    try:
        _sweep(workspace.root, plan)
        if all(_progress(workspace.root / a.path, a) is not None for a in plan.appends):
            _carry_out(workspace, plan, recorder)
            return "finished"
        _take_back(workspace, plan)
    except (OSError, CannotError, RefusedError) as error:
        raise CutOffError(getattr(error, "message", "") or str(error)) from error
    return "undone"


def pending(workspace: Workspace) -> bool:
    """Whether a write is under way or was cut off here."""
    return intents.present(workspace)


def _patiently(step: Callable[[], None]) -> None:
    """Take a step again while git holds a lock: its own housekeeping does so for an instant."""
    for pause in _PAUSES:
        try:
            return step()
        except LockedError:
            sleep(pause)
    return step()


# Carrying out: every step looks at what is there, so that it can be taken twice.


def _carry_out(workspace: Workspace, plan: Intent, recorder: Recorder) -> None:
    root = workspace.root
    if not all(_progress(root / a.path, a) == len(a.data) for a in plan.appends):
        for file in plan.files:
            _write_file(workspace, file, file.before, file.after, file.after_blob)
        for append in plan.appends:
            _append(root, append)
    save_tail(workspace, plan.tail)
    if plan.commit:
        _commit(workspace, plan, recorder)
    _finished(workspace, plan)


def _finished(workspace: Workspace, plan: Intent) -> None:
    for name in plan.discard:
        durable.remove(workspace.shared_dir, b"pending/" + name.encode())
    if plan.forget:
        forget_blobs(workspace.repository, plan.forget)
    intents.remove(workspace)


def _write_file(
    workspace: Workspace, file: PlannedFile, expected: str, wanted: str, blob: str
) -> None:
    """Make a file what is wanted, when it still is what is expected."""
    if digest_of(workspace.root / file.path) != expected:
        return
    if wanted:
        data = workspace.repository.store.blob(blob)
        durable.replace(workspace.root, file.path.encode(), data)
    else:
        durable.remove(workspace.root, file.path.encode())


def _progress(path: Path, append: Append) -> int | None:
    """How many bytes of an append are there already; None when the file went another way.

    Zeros at the end are what a crash of the machine leaves of bytes that were not written yet.
    """
    data = bytes_of(path) or b""
    if len(data) < append.length or sha256(data[: append.length]) != append.base:
        return None
    there = data[append.length :].rstrip(b"\0")
    return len(there) if append.data.startswith(there) else None


def _append(root: Path, append: Append) -> None:
    data = bytes_of(root / append.path) or b""
    done = _progress(root / append.path, append)
    if done is None:
        raise OutOfDateError(append.path, append.base, sha256(data))
    if len(data) != append.length + done:
        durable.replace(root, append.path.encode(), data[: append.length + done])
    if append.data[done:]:
        durable.append(root, append.path.encode(), append.data[done:], at=append.length + done)


def _commit(workspace: Workspace, plan: Intent, recorder: Recorder) -> None:
    """Commit the write's own paths on top of what HEAD is now, unless HEAD has them already."""
    repository = workspace.repository
    segments = {a.path.encode(): _whole(workspace.root, a) for a in plan.appends}
    head = repository.head().commit
    if head is not None:
        tree = repository.store.commit(head).tree
        heads = {path: _blob_at(repository, tree, path) for path in segments}
        if all(heads[path].startswith(data) for path, data in segments.items()):
            return
        if not all(data.startswith(heads[path]) for path, data in segments.items()):
            return  # HEAD's history of this writer is another one: left in the work tree
    blobs: dict[bytes, str | None] = {
        file.path.encode(): file.stored_blob or None for file in plan.files
    }
    blobs |= {path.encode(): oid or None for path, oid in plan.adopted}
    for path, data in segments.items():
        blobs[path] = write_object(repository, "blob", data)
    commit_blobs(
        repository,
        blobs,
        plan.message,
        author=plan.ident,
        committer=plan.ident,
        parent=head,
        sign=recorder.sign_commit,
    )


def _whole(root: Path, append: Append) -> bytes:
    data = bytes_of(root / append.path) or b""
    return data[: append.length + len(append.data)]


def _blob_at(repository: Repository, tree: str, path: bytes) -> bytes:
    item = repository.store.find(tree, path)
    return b"" if item is None or item.kind != "file" else repository.store.blob(item.oid)


# Taking back.


def _take_back(workspace: Workspace, plan: Intent) -> None:
    """Leave what was before; the ledger is not the one this write began on."""
    root = workspace.root
    for append in plan.appends:
        if _progress(root / append.path, append):
            data = (bytes_of(root / append.path) or b"")[: append.length]
            if data:
                durable.replace(root, append.path.encode(), data)
            else:
                durable.remove(root, append.path.encode())
    for file in plan.files:
        _write_file(workspace, file, file.after, file.before, file.before_blob)
    intents.remove(workspace)


def _sweep(root: Path, plan: Intent) -> None:
    """Remove the temporary files that a killed write left in the folders it wrote to."""
    for folder in {_folder(path) for path in _written(plan)}:
        durable.sweep(root, folder)


def _written(plan: Intent) -> Iterable[str]:
    return (*(file.path for file in plan.files), *(append.path for append in plan.appends))


def _folder(path: str) -> bytes:
    return path.encode().rpartition(b"/")[0]
