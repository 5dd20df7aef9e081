"""A write: all or nothing, whatever happens in between (design 10, ADR 0020).

The order is intent, facts, ledger, git index, reference, each durable before the next. Everything
that the write needs stands in the intent, so the next command finishes it from wherever it was
cut off; before the intent is in place nothing has changed.
"""

import contextlib
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.git import durable
from syn.git.parse import Ident
from syn.git.write import check_locks, commit_paths, keep_blobs
from syn.ledger.build import Draft, Signer, lines, next_entries
from syn.ledger.entry import HashedEntry
from syn.ledger.segments import Tail, segment_path
from syn.model.finding import Json
from syn.services.indexing import Reading
from syn.services.workspace import Workspace, stamp
from syn.services.writer import choose_tail, save_tail

INTENT = "intent"


class OutOfDateError(RefusedError):
    """A file is not what the decision was made on."""

    def __init__(self, path: str, expected: str, actual: str) -> None:
        super().__init__(
            "out-of-date",
            f"{path}: expected {expected or 'no file'}, got {actual or 'no file'}: "
            "it changed after it was read",
            "look at it again and repeat the command",
        )


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a decision writes or removes."""

    path: str
    data: bytes | None
    """None removes the file."""
    base: str
    """Source digest of the bytes the decision was made on; "" when there was no file."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Entries to record, the files they change, and the files they only take as they are."""

    drafts: tuple[Draft, ...]
    changes: tuple[FileChange, ...] = ()
    adopted: tuple[str, ...] = ()
    """Paths whose bytes in the work tree (or absence) are recorded as they are."""
    message: str = ""
    """First line of the commit."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Who commits and signs."""

    ident: Ident
    signer: Signer | None = None
    sign_commit: Callable[[bytes], str] | None = None


def record(
    workspace: Workspace, reading: Reading, decision: Decision, recorder: Recorder
) -> tuple[HashedEntry, ...]:
    """Carry a decision out; the caller holds the lock and read the workspace under it.

    Raises:
        OutOfDateError: a file is not the one the decision was made on; nothing was done.
        RefusedError: git's own lock is in the way; nothing was done.
    """
    _check_bases(workspace.root, decision)
    commit = workspace.config.commit
    if commit:
        check_locks(workspace.repository)
    tail = choose_tail(workspace, reading.ledger.ledger)
    ts = stamp(workspace.around.now)
    entries, new_tail = next_entries(tail, decision.drafts, ts, signer=recorder.signer)
    plan = _plan(workspace, decision, entries, new_tail, commit=commit)
    _write_intent(workspace, plan, decision)
    _carry_out(workspace, plan, recorder)
    return entries


def recover(workspace: Workspace, recorder: Recorder) -> bool:
    """Finish a write that was cut off. Returns whether there was one.

    A file that somebody edited in between is left as it is: it shows as a hand edit. A ledger that
    does not fit any more (another branch was checked out) makes the write undone: nothing of it is
    recorded.
    """
    folder = _intent_folder(workspace)
    plan = _read_intent(folder)
    if plan is None:
        if folder.exists():
            shutil.rmtree(folder)
        return False
    if _fits(workspace, plan):
        _carry_out(workspace, plan, recorder)
    else:
        shutil.rmtree(folder)
    return True


def pending(workspace: Workspace) -> bool:
    """Whether a write was cut off here."""
    return (_intent_folder(workspace) / "intent.json").exists()


# The plan: plain values that stand in the intent.


@dataclass(frozen=True, slots=True)
class _Append:
    path: str
    length: int
    """Bytes of the file before."""
    data: bytes


@dataclass(frozen=True, slots=True)
class _Plan:
    files: tuple[tuple[str, str, str], ...]
    """(path, digest before, digest after); "" where there is no file."""
    appends: tuple[_Append, ...]
    adopted: tuple[str, ...]
    tail: Tail
    parent: str
    """HEAD's commit when the write began; "" on an unborn branch."""
    message: str
    commit: bool


def _plan(
    workspace: Workspace,
    decision: Decision,
    entries: tuple[HashedEntry, ...],
    tail: Tail,
    *,
    commit: bool,
) -> _Plan:
    return _Plan(
        files=tuple(
            (c.path, c.base, "" if c.data is None else sha256(c.data)) for c in decision.changes
        ),
        appends=tuple(_appends(workspace.root, entries)),
        adopted=decision.adopted,
        tail=tail,
        parent=workspace.repository.head().commit or "",
        message=decision.message,
        commit=commit,
    )


def _appends(root: Path, entries: tuple[HashedEntry, ...]) -> Iterator[_Append]:
    by_file: dict[str, list[HashedEntry]] = {}
    for digest, entry in entries:
        by_file.setdefault(segment_path(entry.writer, entry.seq), []).append((digest, entry))
    for path, group in by_file.items():
        yield _Append(path, _size(root / path), lines(group))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _check_bases(root: Path, decision: Decision) -> None:
    for change in decision.changes:
        actual = digest_of(root / change.path)
        if actual != change.base:
            raise OutOfDateError(change.path, change.base, actual)


def digest_of(path: Path) -> str:
    """The source digest of a file as it is now; "" when there is none."""
    try:
        return sha256(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return ""


# The intent on disk: contents by digest, then `intent.json`, which makes it count.


def _intent_folder(workspace: Workspace) -> Path:
    return workspace.private_dir / INTENT


def _write_intent(workspace: Workspace, plan: _Plan, decision: Decision) -> None:
    folder = _intent_folder(workspace)
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    for change in decision.changes:
        if change.data is not None:
            durable.replace(folder, _name(sha256(change.data)), change.data)
    for append in plan.appends:
        durable.replace(folder, _name(sha256(append.data)), append.data)
    durable.replace(folder, b"intent.json", canonical.encode(_to_json(plan)))


def _name(digest: str) -> bytes:
    return digest.removeprefix("sha256:").encode()


def _to_json(plan: _Plan) -> Json:
    return {
        "v": 1,
        "files": [list(item) for item in plan.files],
        "appends": [[a.path, a.length, sha256(a.data)] for a in plan.appends],
        "adopted": list(plan.adopted),
        "tail": [plan.tail.writer, plan.tail.length, plan.tail.head],
        "parent": plan.parent,
        "message": plan.message,
        "commit": plan.commit,
    }


def _read_intent(folder: Path) -> _Plan | None:
    """The plan in a folder; None when it is absent or damaged, which is before it counted."""
    try:
        value: Any = canonical.decode((folder / "intent.json").read_bytes())
        writer, length, head = value["tail"]
        return _Plan(
            files=tuple((path, before, after) for path, before, after in value["files"]),
            appends=tuple(
                _Append(path, size, durable.read(folder, _name(digest)))
                for path, size, digest in value["appends"]
            ),
            adopted=tuple(value["adopted"]),
            tail=Tail(writer, length, head),
            parent=value["parent"],
            message=value["message"],
            commit=value["commit"],
        )
    except (OSError, CannotError, KeyError, TypeError, ValueError):
        return None


def _fits(workspace: Workspace, plan: _Plan) -> bool:
    """Whether every segment is what it was before the append, or further on the same way."""
    return all(_progress(workspace.root / a.path, a) is not None for a in plan.appends)


def _progress(path: Path, append: _Append) -> int | None:
    """How many bytes of an append are there already; None when the file went another way."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        data = b""
    if len(data) < append.length:
        return None
    there = data[append.length :]
    return len(there) if append.data.startswith(there) else None


# Carrying out: every step looks at what is there, so that it can be taken twice.


def _carry_out(workspace: Workspace, plan: _Plan, recorder: Recorder) -> None:
    root, folder = workspace.root, _intent_folder(workspace)
    for path, before, after in plan.files:
        _write_file(root, path, before, after, folder)
    for append in plan.appends:
        done = _progress(root / append.path, append) or 0
        durable.append(root, append.path.encode(), append.data[done:], at=append.length + done)
    save_tail(workspace, plan.tail)
    own = _own_files(root, plan)
    if plan.commit:
        if (workspace.repository.head().commit or "") == plan.parent:
            commit_paths(
                workspace.repository,
                own,
                plan.message,
                author=recorder.ident,
                committer=recorder.ident,
                parent=plan.parent or None,
                sign=recorder.sign_commit,
            )
    else:
        keep_blobs(workspace.repository, (data for data in own.values() if data is not None))
    shutil.rmtree(folder)


def _write_file(root: Path, path: str, before: str, after: str, folder: Path) -> None:
    if digest_of(root / path) != before:
        return
    if after:
        durable.replace(root, path.encode(), durable.read(folder, _name(after)))
    else:
        durable.remove(root, path.encode())


def _own_files(root: Path, plan: _Plan) -> dict[bytes, bytes | None]:
    """The write's own paths and their bytes now; None where there is no file."""
    paths = [*(path for path, _, _ in plan.files), *plan.adopted]
    own: dict[bytes, bytes | None] = {}
    for path in (*paths, *(append.path for append in plan.appends)):
        own[path.encode()] = None
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            own[path.encode()] = (root / path).read_bytes()
    return own
