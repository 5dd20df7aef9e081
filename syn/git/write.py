"""Writing into git: our own paths only, durable, with nothing of the user's touched (design 10).

The order is: objects, git's index, the reference. A crash in between leaves objects nobody names,
or our own paths staged; never a reference without its objects, and never an index that would take
the new commit's files back (proofs 6).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

import pygit2

from syn.canon.digest import is_digest, sha256
from syn.errors import CannotError, RefusedError, UsageError
from syn.git.newobjects import NewObjects, fsync_objects
from syn.git.parse import (
    EMPTY_TREE,
    FILE_MODE,
    TREE_MODE,
    Ident,
    ObjectType,
    TreeItem,
    add_signature,
    render_commit,
    render_tree,
)
from syn.git.refs import RefMovedError, check_new_ref, check_ref_lock, move_ref, read_ref
from syn.git.repository import Repository, open_repository
from syn.git.snapshot import iter_tree
from syn.git.staging import Staged, check_index_lock, stage
from syn.model.problem import display_path

KEPT_REF: Final = "refs/synapse/kept"
_ATTEMPTS = 5
_KEEPER = Ident("syn", "syn@localhost", 0)


class PathRefusedError(RefusedError):
    """A path that a commit cannot hold, or that is something else than a file there."""

    def __init__(self, path: bytes, reason: str) -> None:
        super().__init__("path-refused", f"{display_path(path)} cannot be committed: {reason}")


def init_repository(path: Path, branch: str = "main") -> Repository:
    """Make a git repository (and its folder) with this unborn branch, without any template.

    Raises:
        UsageError: `bad-ref-name`.
        CannotError: it cannot be made.
    """
    if not pygit2.reference_is_valid_name(f"refs/heads/{branch}"):
        raise UsageError("bad-ref-name", f"{branch!r} is no name of a branch")
    fsync_objects()
    try:
        pygit2.init_repository(str(path), initial_head=branch)
    except (pygit2.GitError, OSError, ValueError) as error:
        raise CannotError(
            "cannot-write", f"no repository can be made at {path}: {error}"
        ) from error
    return open_repository(path)


def check_locks(repo: Repository) -> None:
    """Raise `LockedError` when a lock stands in the way of a commit; nothing is changed.

    A lock that a killed process of ours left is removed.
    """
    if not repo.is_bare:
        check_index_lock(repo)
    check_ref_lock(repo, "HEAD")
    check_ref_lock(repo, repo.head().ref)


def commit_paths(  # noqa: PLR0913 - a commit has that many independent parts
    repo: Repository,
    changes: Mapping[bytes, bytes | None],
    message: str,
    author: Ident,
    committer: Ident,
    *,
    parent: str | None,
    sign: Callable[[bytes], str] | None = None,
) -> str:
    """Commit these paths (None removes one) on top of `parent`, which HEAD must name.

    The tree is HEAD's with these paths changed; a file keeps its executable bit. Staged and
    unstaged changes of other paths stay as they are. Without any change, `parent` is returned.
    `sign` makes the armoured SSH signature of a commit's bytes.

    Returns:
        The new commit's id.

    Raises:
        RefMovedError: HEAD is elsewhere; nothing was done.
        LockedError: another program holds git's index or the branch; nothing was done.
        PathRefusedError: a path is a link or a folder there, or no path.
    """
    new = NewObjects()
    blobs = {path: None if d is None else new.add("blob", d) for path, d in changes.items()}
    return _commit(repo, new, blobs, (message, author, committer), parent, sign)


def commit_blobs(  # noqa: PLR0913 - a commit has that many independent parts
    repo: Repository,
    blobs: Mapping[bytes, str | None],
    message: str,
    author: Ident,
    committer: Ident,
    *,
    parent: str | None,
    sign: Callable[[bytes], str] | None = None,
) -> str:
    """`commit_paths` for blobs that are there already; raises as it does."""
    return _commit(repo, NewObjects(), blobs, (message, author, committer), parent, sign)


def _commit(
    repo: Repository,
    new: NewObjects,
    blobs: Mapping[bytes, str | None],
    words: tuple[str, Ident, Ident],
    parent: str | None,
    sign: Callable[[bytes], str] | None,
) -> str:
    head = repo.head()
    if head.commit != parent:
        raise RefMovedError(head.ref, parent, head.commit)
    check_locks(repo)
    if parent is None:
        check_new_ref(repo, head.ref)
    _check_paths(blobs)
    message, author, committer = words
    base = repo.store.commit(parent).tree if parent else None
    tree = change_tree(repo, new, base, blobs)
    commit = parent
    if commit is None or tree != base:
        raw = render_commit(tree, (parent,) if parent else (), author, committer, message)
        commit = new.add("commit", add_signature(raw, sign(raw)) if sign else raw)
    new.write(repo)
    stage(repo, _staged(repo, tree, blobs))
    if commit != parent:
        subject = message.partition("\n")[0]
        move_ref(repo, head.ref, commit, parent, committer, f"commit: {subject}")
    return commit


def write_object(repo: Repository, kind: ObjectType, data: bytes) -> str:
    """Write one object durably and read it back; its id. Raises as `NewObjects.write`."""
    new = NewObjects()
    oid = new.add(kind, data)
    new.write(repo)
    return oid


def change_tree(
    repo: Repository, new: NewObjects, base: str | None, changes: Mapping[bytes, str | None]
) -> str:
    """The tree `base` with these paths set to blobs, or removed with None; its id.

    Raises:
        PathRefusedError: a path is no file in `base`, or leads through one.
    """
    return _change_folder(repo, new, base, dict(changes), b"") or new.add("tree", b"")


def keep_blobs(repo: Repository, blobs: Iterable[bytes]) -> None:
    """Keep these bytes reachable in git: they stand in the tree `refs/synapse/kept`.

    Names there are their SHA-256, two digits a folder, so that `kept_blob` finds bytes by source
    digest.
    """
    new = NewObjects()
    kept = {sha256(data): new.add("blob", data) for data in blobs}
    new.write(repo)
    keep_objects(repo, kept)


def keep_objects(repo: Repository, blobs: Mapping[str, str]) -> None:
    """`keep_blobs` for blobs that are there already: source digest to blob id."""
    if blobs:
        _change_kept(repo, {_kept_path(source): oid for source, oid in blobs.items()})


def kept_blob(repo: Repository, source: str) -> bytes | None:
    """The kept bytes with this digest (`sha256:<hex>`), or None.

    Raises:
        ObjectMismatchError, MissingObjectError: they are named there and cannot be had.
    """
    tree = read_ref(repo, KEPT_REF)
    if tree is None or not is_digest(source):
        return None
    item = repo.store.find(tree, _kept_path(source))
    return None if item is None else repo.store.blob(item.oid)


def kept_sources(repo: Repository) -> Iterator[tuple[str, bytes]]:
    """Everything that is kept: source digest and bytes, sorted by digest."""
    tree = read_ref(repo, KEPT_REF)
    if tree is None:
        return
    for path, item in iter_tree(repo.store, tree):
        yield f"sha256:{path.replace(b'/', b'').decode()}", repo.store.blob(item.oid.hex())


def forget_blobs(repo: Repository, sources: Iterable[str]) -> None:
    """Take bytes out of `refs/synapse/kept` by their digests; git's gc removes them in time."""
    _change_kept(repo, {_kept_path(source): None for source in sources})


def _change_kept(repo: Repository, changes: Mapping[bytes, str | None]) -> None:
    for attempt in range(_ATTEMPTS):
        before = read_ref(repo, KEPT_REF)
        new = NewObjects()
        after = change_tree(repo, new, before, changes)
        new.write(repo)
        if after == before or (before is None and after == EMPTY_TREE):
            return
        try:
            move_ref(repo, KEPT_REF, after, before, _KEEPER, "keep")
        except RefMovedError:
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def _kept_path(source: str) -> bytes:
    name = source.removeprefix("sha256:").encode()
    return name[:2] + b"/" + name[2:]


def _change_folder(
    repo: Repository,
    new: NewObjects,
    base: str | None,
    changes: dict[bytes, str | None],
    folder: bytes,
) -> str | None:
    # The id of the changed folder, or None when nothing is left in it.
    items = {item.name: item for item in repo.store.tree(base)} if base else {}
    below: dict[bytes, dict[bytes, str | None]] = {}
    for path, oid in changes.items():
        name, slash, rest = path.partition(b"/")
        if slash:
            below.setdefault(name, {})[rest] = oid
        else:
            _set_file(items, name, oid, folder + name)
    for name, inner in below.items():
        there = items.get(name)
        if there is not None and there.kind != "tree":
            if any(oid is not None for oid in inner.values()):
                raise PathRefusedError(folder + name, f"it is a {there.kind}, not a folder")
            continue
        tree = _change_folder(repo, new, there.oid if there else None, inner, folder + name + b"/")
        if tree is None:
            items.pop(name, None)
        else:
            items[name] = TreeItem(TREE_MODE, name, tree)
    return new.add("tree", render_tree(list(items.values()))) if items else None


def _set_file(items: dict[bytes, TreeItem], name: bytes, oid: str | None, path: bytes) -> None:
    there = items.get(name)
    if there is not None and there.kind != "file":
        if oid is None and there.kind == "tree":
            return  # the file is gone already, and a folder has its name
        raise PathRefusedError(path, f"it is a {there.kind} there")
    if oid is None:
        items.pop(name, None)
    else:
        items[name] = TreeItem(there.mode if there else FILE_MODE, name, oid)


def _staged(
    repo: Repository, tree: str, blobs: Mapping[bytes, str | None]
) -> dict[bytes, Staged | None]:
    staged: dict[bytes, Staged | None] = {}
    for path, oid in blobs.items():
        item = None if oid is None else repo.store.find(tree, path)
        staged[path] = None if item is None else Staged(item.mode, item.oid)
    return staged


def _check_paths(changes: Mapping[bytes, object]) -> None:
    for path in changes:
        parts = path.split(b"/")
        if b"\0" in path or any(p in {b"", b".", b".."} or p.lower() == b".git" for p in parts):
            raise PathRefusedError(path, "expected a path inside the work tree")
        if any(changes.get(folder) is not None for folder in _above(path)):
            raise PathRefusedError(path, "it lies below a file of the same change")


def _above(path: bytes) -> Iterator[bytes]:
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        yield path
