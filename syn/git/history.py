"""Walks over history by raw commits: whoever edits the repository's caches moves nothing here.

Orders depend on the graph alone, never on dates. Memory holds ids and a bounded number of trees,
not commits (design 2 and 15).
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from syn.git.objects import MissingObjectError, ObjectStore
from syn.git.parse import FOLDER_MODES, Commit, RawItem, raw_item


class Change(NamedTuple):
    """One path that differs between two trees (a tuple: history makes millions of them)."""

    path: bytes
    old_oid: str
    """The blob before (a commit for a gitlink); "" when the path is new."""
    new_oid: str
    """The blob after; "" when the path is gone."""


class ModeChange(NamedTuple):
    """A `Change` with the modes, as octal digits; b"" where a side is absent."""

    path: bytes
    old_oid: str
    new_oid: str
    old_mode: bytes
    new_mode: bytes


def parent_of(
    store: ObjectStore, child: Commit, number: int, shallow: frozenset[str] = frozenset()
) -> Commit:
    """The n-th parent (from 0) of a commit.

    Raises:
        MissingObjectError: it is not here; with the code `shallow` where `child` is one of the
            commits at which this clone was cut.
    """
    oid = child.parents[number]
    try:
        return store.commit(oid)
    except MissingObjectError as error:
        if child.oid in shallow:
            raise MissingObjectError(
                oid,
                "shallow",
                f"history was cut at {child.oid} (a shallow clone)",
                "fetch the whole history: git fetch --unshallow",
            ) from error
        raise


def walk(
    store: ObjectStore,
    starts: Iterable[str],
    *,
    until: Iterable[str] = (),
    shallow: frozenset[str] = frozenset(),
    missing: list[MissingObjectError] | None = None,
) -> Iterator[Commit]:
    """Every commit reachable from `starts` and not from `until`, children before parents.

    The order is topological and depends on the graph and the set of starts only: of several
    commits that may come next, the first parent of the one just given comes first, and unrelated
    lines follow the order of their ids. Commits are read twice, so that none is kept.

    `missing` collects parents that are not here, and the walk goes on without them; when it is
    None the first one is raised, before anything is yielded. `shallow` names the commits where a
    shallow clone was cut, for the right reason in that error.
    """
    roots = sorted(set(starts))
    excluded = _reachable(store, sorted(set(until)), shallow, missing, set())
    waiting = _children_waiting(store, roots, excluded, shallow, missing)
    ready = [oid for oid in reversed(roots) if oid in waiting and not waiting[oid]]
    while ready:
        commit = store.commit(ready.pop())
        yield commit
        for parent in reversed(commit.parents):
            count = waiting.get(parent)
            if count is None:
                continue
            waiting[parent] = count - 1
            if count == 1:
                ready.append(parent)


def is_ancestor(
    store: ObjectStore, ancestor: str, descendant: str, shallow: frozenset[str] = frozenset()
) -> bool | None:
    """Whether `ancestor` is reachable from `descendant` (a commit is its own ancestor).

    None when it was not found and some of the history is not here: nobody can tell.

    Raises:
        MissingObjectError: `descendant` itself is not here.
    """
    if ancestor == descendant:
        return True
    missing: list[MissingObjectError] = []
    for commit in _commits(store, [descendant], shallow, missing, set()):
        if ancestor in commit.parents:
            return True
    return None if missing else False


def ancestors(
    store: ObjectStore,
    start: str,
    shallow: frozenset[str] = frozenset(),
    missing: list[MissingObjectError] | None = None,
) -> set[str]:
    """The ids of everything reachable from a commit, itself included; see `walk` for `missing`."""
    return {oid.hex() for oid in _reachable(store, [start], shallow, missing, set())}


def changed_paths(
    store: ObjectStore,
    old_tree: str | None,
    new_tree: str | None,
    prefixes: Sequence[bytes] = (b"",),
) -> Iterator[Change]:
    """The files that differ between two trees, sorted by path bytes; None is the empty tree.

    A change of mode alone is given too, with equal ids. Equal subtrees are never opened. Only
    paths that equal a prefix, lie below it, or start with one that ends in `/` are given.
    """
    for path, old_oid, new_oid, _, _ in changed_modes(store, old_tree, new_tree, prefixes):
        yield Change(path, old_oid, new_oid)


def changed_modes(
    store: ObjectStore,
    old_tree: str | None,
    new_tree: str | None,
    prefixes: Sequence[bytes] = (b"",),
) -> Iterator[ModeChange]:
    """`changed_paths` with the modes of both sides."""
    wanted = tuple(prefix.rstrip(b"/") for prefix in prefixes)
    old = bytes.fromhex(old_tree) if old_tree else None
    new = bytes.fromhex(new_tree) if new_tree else None
    yield from _differences(store, b"", old, new, () if b"" in wanted else wanted)


def _differences(
    store: ObjectStore,
    folder: bytes,
    old_tree: bytes | None,
    new_tree: bytes | None,
    prefixes: tuple[bytes, ...],
) -> Iterator[ModeChange]:
    if old_tree == new_tree:
        return
    only_old, only_new = store.tree_difference(old_tree, new_tree)
    before, after = _by_order(only_old), _by_order(only_new)
    for key in sorted(before.keys() | after.keys()):
        path = folder + key
        if prefixes and not _overlaps(path.rstrip(b"/"), prefixes):
            continue
        was, now = before.get(key), after.get(key)
        if key.endswith(b"/"):
            below = () if _covered(path.rstrip(b"/"), prefixes) else prefixes
            yield from _differences(
                store, path, was.oid if was else None, now.oid if now else None, below
            )
        elif not prefixes or _covered(path, prefixes):
            yield ModeChange(
                path,
                was.oid.hex() if was else "",
                now.oid.hex() if now else "",
                was.mode if was else b"",
                now.mode if now else b"",
            )


def _by_order(entries: set[bytes]) -> dict[bytes, RawItem]:
    found: dict[bytes, RawItem] = {}
    for entry in entries:
        item = raw_item(entry)
        found[item.name + b"/" if item.mode in FOLDER_MODES else item.name] = item
    return found


def _overlaps(path: bytes, prefixes: tuple[bytes, ...]) -> bool:
    return _covered(path, prefixes) or any(p.startswith(path + b"/") for p in prefixes)


def _covered(path: bytes, prefixes: tuple[bytes, ...]) -> bool:
    return not prefixes or any(path == p or path.startswith(p + b"/") for p in prefixes)


def _commits(
    store: ObjectStore,
    starts: Iterable[str],
    shallow: frozenset[str],
    missing: list[MissingObjectError] | None,
    seen: set[bytes],
) -> Iterator[Commit]:
    # Each reachable commit once, in no order that matters; `seen` grows by every id met.
    pending = [store.commit(oid) for oid in starts]
    seen.update(bytes.fromhex(commit.oid) for commit in pending)
    while pending:
        commit = pending.pop()
        yield commit
        for number, parent in enumerate(commit.parents):
            key = bytes.fromhex(parent)
            if key in seen:
                continue
            seen.add(key)
            try:
                pending.append(parent_of(store, commit, number, shallow))
            except MissingObjectError as error:
                if missing is None:
                    raise
                missing.append(error)
                seen.discard(key)


def _reachable(
    store: ObjectStore,
    starts: Sequence[str],
    shallow: frozenset[str],
    missing: list[MissingObjectError] | None,
    seen: set[bytes],
) -> set[bytes]:
    for _ in _commits(store, starts, shallow, missing, seen):
        pass
    return seen


def _children_waiting(
    store: ObjectStore,
    roots: Sequence[str],
    excluded: set[bytes],
    shallow: frozenset[str],
    missing: list[MissingObjectError] | None,
) -> dict[str, int]:
    # How many children of each commit in question have not been given yet.
    waiting: dict[str, int] = {}
    starts = [oid for oid in roots if bytes.fromhex(oid) not in excluded]
    for commit in _commits(store, starts, shallow, missing, set(excluded)):
        waiting.setdefault(commit.oid, 0)
        for parent in commit.parents:
            if bytes.fromhex(parent) not in excluded:
                waiting[parent] = waiting.get(parent, 0) + 1
    for error in missing or ():
        waiting.pop(error.oid, None)
    return waiting
