"""Changing a few paths in git's index and nothing else: other entries keep every byte."""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from syn.errors import RefusedError
from syn.git.durable import FileError, Folders, LinkedPathError, open_file
from syn.git.gitindex import GitIndexError, IndexEntry, IndexFile, render_index, with_name_length
from syn.git.locks import Guarded, check_lock, publish
from syn.git.parse import blob_id
from syn.git.repository import Repository
from syn.git.splitindex import load_index
from syn.model.problem import display_path

_KEPT: Final = frozenset({b"TREE", b"REUC", b"sdir"})
"""Extensions that hold whatever entries there are; git rebuilds the others itself."""
_ATTEMPTS = 5
_WORD = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Staged:
    """What a path shall be in the index."""

    mode: int
    oid: str


class IndexMovedError(RefusedError):
    """Somebody else changed git's index at the same moment."""

    def __init__(self) -> None:
        super().__init__("index-moved", "git's index changed while it was written", "try again")


def check_index_lock(repo: Repository) -> None:
    """Raise `LockedError` when somebody else holds the lock of git's index."""
    check_lock(_guarded(repo))


def stage(repo: Repository, changes: Mapping[bytes, Staged | None]) -> None:
    """Set (or with None remove) these paths in the index; a bare repository has none.

    Raises:
        LockedError: another program holds `index.lock`.
        GitIndexError: the index is damaged, or folds one of the paths away.
        RefusedError: a path is a folder there, or lies below a file.
    """
    if repo.root is None or not changes:
        return
    for attempt in range(_ATTEMPTS):
        before, index = load_index(repo.index_path)
        after = render_index(_changed(index, changes, repo.root))

        def still_valid(before: bytes = before) -> None:
            if _read(repo.index_path) != before:
                raise IndexMovedError

        try:
            publish(_guarded(repo), after, still_valid)
        except IndexMovedError:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def _guarded(repo: Repository) -> Guarded:
    return Guarded(repo.index_path, repo.git_dir / "synapse")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def _changed(index: IndexFile, changes: Mapping[bytes, Staged | None], root: Path) -> IndexFile:
    changes = _without_sparse(index, changes)
    _check_room(index, changes)
    entries = [entry for entry in index.entries if entry.path not in changes]
    with Folders(root) as folders:
        for path, staged in changes.items():
            if staged is not None:
                entries.append(_entry(path, staged, folders))
    extensions = tuple(
        (name, invalidate(data, changes) if name == b"TREE" else data)
        for name, data in index.extensions
        if name in _KEPT
    )
    return IndexFile(index.version, tuple(entries), extensions)


def _without_sparse(
    index: IndexFile, changes: Mapping[bytes, Staged | None]
) -> Mapping[bytes, Staged | None]:
    """The changes that are any: an entry outside a sparse checkout that stays keeps its mark."""
    same = {
        entry.path
        for entry in index.entries
        if entry.skip_worktree and changes.get(entry.path) == Staged(entry.mode, entry.oid)
    }
    return {path: staged for path, staged in changes.items() if path not in same}


def _check_room(index: IndexFile, changes: Mapping[bytes, Staged | None]) -> None:
    added = [path for path, staged in changes.items() if staged is not None]
    above = {folder for path in added for folder in _folders(path)}
    below = tuple(path + b"/" for path in added)
    for entry in index.entries:
        if entry.path in above or (below and entry.path.startswith(below)):
            raise RefusedError(
                "path-conflict",
                f"git's index holds {display_path(entry.path)}, a file where a folder has to be",
                "git rm --cached it",
            )
        if entry.mode == stat.S_IFDIR and any(path.startswith(entry.path) for path in changes):
            raise GitIndexError(
                f"it folds {display_path(entry.path)} away (a sparse index)",
                "git sparse-checkout reapply --no-sparse-index",
            )


def _folders(path: bytes) -> Iterator[bytes]:
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        yield path


def _entry(path: bytes, staged: Staged, folders: Folders) -> IndexEntry:
    head = _stat_words(path, staged, folders) + bytes.fromhex(staged.oid) + b"\0\0"
    return IndexEntry(path, with_name_length(head, path))


def _stat_words(path: bytes, staged: Staged, folders: Folders) -> bytes:
    # Times and sizes only where the file on disk is this blob; else git compares contents itself.
    info = _matching(path, staged, folders)
    words = [0] * 10
    if info is not None:
        words = [
            *divmod(info.st_ctime_ns, 10**9),
            *divmod(info.st_mtime_ns, 10**9),
            info.st_dev,
            info.st_ino,
            0,
            info.st_uid,
            info.st_gid,
            info.st_size,
        ]
    words[6] = staged.mode
    return b"".join((word & _WORD).to_bytes(4, "big") for word in words)


def _matching(path: bytes, staged: Staged, folders: Folders) -> os.stat_result | None:
    try:
        with open_file(folders, path) as file:
            info = os.fstat(file.fileno())
            same = blob_id(file.read()) == staged.oid
            after = os.fstat(file.fileno())
    except (FileError, LinkedPathError):
        return None
    unchanged = (info.st_mtime_ns, info.st_ctime_ns) == (after.st_mtime_ns, after.st_ctime_ns)
    return after if same and unchanged else None


def invalidate(tree_cache: bytes, changes: Mapping[bytes, object]) -> bytes:
    """The `TREE` extension with every folder above a changed path marked as not known."""
    dirty = {folder for path in changes for folder in _folders(path)} | {b""}
    rendered: list[bytes] = []
    pending: list[tuple[bytes, int]] = []
    position = 0
    while position < len(tree_cache):
        name_end = tree_cache.index(b"\0", position)
        line_end = tree_cache.index(b"\n", name_end)
        count, subtrees = tree_cache[name_end + 1 : line_end].split(b" ")
        name = tree_cache[position:name_end]
        folder = _cached_folder(pending, name)
        known = not count.startswith(b"-")
        oid = tree_cache[line_end + 1 : line_end + 21] if known else b""
        position = line_end + 1 + len(oid)
        pending.append((folder, int(subtrees)))
        if folder in dirty:
            count, oid = b"-1", b""
        rendered.append(name + b"\0" + count + b" " + subtrees + b"\n" + oid)
    return b"".join(rendered)


def _cached_folder(pending: list[tuple[bytes, int]], name: bytes) -> bytes:
    # Folders come in pre-order, each with the number of folders below it.
    while pending and pending[-1][1] == 0:
        pending.pop()
    if not pending:
        return b""
    above, left = pending[-1]
    pending[-1] = (above, left - 1)
    return above + b"/" + name if above else name
