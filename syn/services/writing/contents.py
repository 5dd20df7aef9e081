"""Bytes by what they hash to: from the work tree, from what git keeps for us, from its history."""

from collections.abc import Iterable, Iterator, Mapping

from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.git.history import changed_paths, walk
from syn.git.repository import Repository
from syn.git.write import kept_blob

_FEW = 32
"""Paths up to which a tree's other paths are left out of the search."""


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
    return find_all(repository, {path: {source}}).get(source)


def find_all(repository: Repository, wanted: Mapping[str, Iterable[str]]) -> dict[str, bytes]:
    """Bytes by digest, for digests wanted per path; what is not here is left out.

    History is walked once, and only while something that is not kept is still missing.
    """
    found: dict[str, bytes] = {}
    missing: dict[bytes, set[str]] = {}
    for path, sources in wanted.items():
        for source in sources:
            data = kept_blob(repository, source)
            if data is None:
                missing.setdefault(path.encode(), set()).add(source)
            else:
                found[source] = data
    head = repository.head().commit
    if missing and head is not None:
        _search(repository, head, missing, found)
    return found


def _search(
    repository: Repository, head: str, missing: dict[bytes, set[str]], found: dict[str, bytes]
) -> None:
    store = repository.store
    seen: set[str] = set()
    for path, oid in _blobs(repository, head, missing):
        if oid in seen or path not in missing:
            continue
        seen.add(oid)
        try:
            data = store.blob(oid)
        except (CannotError, RefusedError):
            continue
        source = sha256(data)
        if source in missing[path]:
            found[source] = data
            missing[path].discard(source)
            if not missing[path]:
                del missing[path]
        if not missing:
            return


def _blobs(
    repository: Repository, head: str, wanted: Mapping[bytes, object]
) -> Iterator[tuple[bytes, str]]:
    """What stood at the paths, HEAD first; commits that cannot be read are left out."""
    store = repository.store
    tree = store.commit(head).tree
    for path in list(wanted):
        item = store.find(tree, path)
        if item is not None and item.kind == "file":
            yield path, item.oid
    shallow, missing = repository.shallow_commits(), []  # type: ignore[var-annotated]
    prefixes = list(wanted) if len(wanted) <= _FEW else [b""]
    for commit in walk(store, [head], shallow=shallow, missing=missing):
        for parent in commit.parents:
            try:
                before = store.commit(parent).tree
                changes = list(changed_paths(store, before, commit.tree, prefixes))
            except (CannotError, RefusedError):
                continue
            yield from ((change.path, change.old_oid) for change in changes if change.old_oid)
