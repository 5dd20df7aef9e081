"""Bytes by what they hash to: from the work tree, from what git keeps for us, from its history."""

from collections.abc import Iterator

from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.git.history import changed_paths, walk
from syn.git.objects import ObjectStore
from syn.git.repository import Repository
from syn.git.write import kept_blob


class LostBytesError(CannotError):
    """Bytes that a decision names are nowhere in this repository."""

    def __init__(self, path: str, source: str) -> None:
        super().__init__(
            "bytes-lost",
            f"{path}: no bytes here hash to {source}",
            "fetch the branch or clone that has them, or restore them from a backup; they were "
            "perhaps expunged (syn log tells)",
        )


def recorded_bytes(repository: Repository, path: str, source: str) -> bytes:
    """The bytes with this digest, which stood at a path once.

    Looks at what git keeps for syn, then at HEAD, then through history.

    Raises:
        LostBytesError: they are not here.
    """
    found = find_bytes(repository, path, source)
    if found is None:
        raise LostBytesError(path, source)
    return found


def find_bytes(repository: Repository, path: str, source: str) -> bytes | None:
    """`recorded_bytes`, or None."""
    kept = kept_blob(repository, source)
    if kept is not None:
        return kept
    return next(
        (data for data in _versions(repository, path.encode()) if sha256(data) == source), None
    )


def _versions(repository: Repository, path: bytes) -> Iterator[bytes]:
    """What stood at a path, HEAD first; each blob once, and what cannot be read is left out."""
    head = repository.head().commit
    if head is None:
        return
    store = repository.store
    seen: set[str] = set()
    for oid in _blobs(repository, store, head, path):
        if oid in seen:
            continue
        seen.add(oid)
        try:
            yield store.blob(oid)
        except (CannotError, RefusedError):
            continue


def _blobs(repository: Repository, store: ObjectStore, head: str, path: bytes) -> Iterator[str]:
    shallow, missing = repository.shallow_commits(), []  # type: ignore[var-annotated]
    for commit in walk(store, [head], shallow=shallow, missing=missing):
        if commit.oid == head and (item := store.find(commit.tree, path)) is not None:
            yield item.oid
        for parent in commit.parents:
            try:
                tree = store.commit(parent).tree
                changes = list(changed_paths(store, tree, commit.tree, [path]))
            except (CannotError, RefusedError):
                continue
            yield from (change.old_oid for change in changes if change.old_oid)
