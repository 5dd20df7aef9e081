"""One state of the files: the work tree now, or the tree of a commit (design 2 'Reading').

Every read of a workspace goes through a snapshot. Entries come in one pass, sorted by path bytes,
and nothing is kept for them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol, TypeAlias

from syn.errors import CannotError
from syn.git.objects import ObjectStore
from syn.git.parse import FOLDER_MODES, RawItem, tree_faults, tree_item
from syn.git.repository import Repository
from syn.model.problem import Problem, display_path

EntryKind: TypeAlias = Literal["file", "symlink", "gitlink", "missing"]
EVERYWHERE: tuple[bytes, ...] = (b"",)


class StatKey(NamedTuple):
    """What a file's bytes are known by until the racy moment passed (nanoseconds)."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class SnapshotEntry(NamedTuple):
    """One path of a snapshot (a tuple: there are as many as files)."""

    path: bytes
    kind: EntryKind
    """`gitlink` is a submodule or a nested repository, never entered; `missing` is tracked and
    not on disk."""
    tracked: bool
    """In HEAD's tree or in git's index."""
    ignored: bool
    """Untracked and ignored by git's rules."""
    head_oid: str
    """The blob at this path in HEAD (in the commit itself for a commit's snapshot), or ""."""
    stat: StatKey | None
    """None where the bytes do not come from the file alone."""
    on_disk: bool
    """Whether `read` takes the bytes from the work tree; else they are HEAD's blob."""


class Snapshot(Protocol):
    """The port: one state of the files."""

    @property
    def label(self) -> str:
        """`worktree`, or the commit's id."""

    @property
    def warnings(self) -> Sequence[Problem]:
        """What was noticed while entries were listed and read; complete when the listing is."""

    def entries(self) -> Iterator[SnapshotEntry]:
        """Every path, sorted by path bytes; may be called again."""

    def read(self, entry: SnapshotEntry) -> bytes:
        """The bytes of a `file`, as git stores them.

        Raises:
            NoContentError: the entry is no file.
            CannotError: it cannot be read, or its object is not here.
            ObjectMismatchError: the object's bytes do not hash to its id.
        """

    def find(self, path: bytes) -> SnapshotEntry | None:
        """The entry at one path, without a listing; None when there is none."""


class NoContentError(CannotError):
    """A path that has no bytes of its own: a link, a nested repository, a missing file."""

    def __init__(self, path: bytes, kind: str) -> None:
        super().__init__("no-content", f"{display_path(path)} is no file but {kind}")


@dataclass(frozen=True, slots=True)
class HeadItem:
    """A path of a tree."""

    path: bytes
    item: RawItem


class CommitSnapshot:
    """The tree of one commit; works in bare repositories."""

    def __init__(
        self, store: ObjectStore, commit: str, prefixes: Sequence[bytes] = EVERYWHERE
    ) -> None:
        """`prefixes` limits the listing to these paths and what lies below them."""
        self._store = store
        self._label = commit
        self._tree = store.commit(commit).tree
        self._prefixes = clean_prefixes(prefixes)
        self._warnings: dict[bytes, Problem] = {}

    @property
    def label(self) -> str:
        """The commit's id."""
        return self._label

    @property
    def tree(self) -> str:
        """The id of the commit's tree."""
        return self._tree

    @property
    def warnings(self) -> Sequence[Problem]:
        """Trees of a form that git itself would refuse."""
        return tuple(self._warnings.values())

    def entries(self) -> Iterator[SnapshotEntry]:
        """Every path of the tree, sorted by path bytes."""
        for path, item in iter_tree(self._store, self._tree, self._prefixes, self._warnings):
            yield _committed(path, item)

    def find(self, path: bytes) -> SnapshotEntry | None:
        """The entry at one path."""
        item = self._store.find(self._tree, path)
        if item is None or item.kind == "tree":
            return None
        return _committed(path, RawItem(b"%o" % item.mode, item.name, bytes.fromhex(item.oid)))

    def read(self, entry: SnapshotEntry) -> bytes:
        """The blob's bytes."""
        if entry.kind != "file":
            raise NoContentError(entry.path, entry.kind)
        return self._store.blob(entry.head_oid)


def commit_snapshot(
    repo: Repository, commit: str, prefixes: Sequence[bytes] = EVERYWHERE
) -> CommitSnapshot:
    """The snapshot of a commit named by its full id (`Repository.resolve` makes one of a name)."""
    return CommitSnapshot(repo.store, commit, prefixes)


def iter_tree(
    store: ObjectStore,
    tree: str,
    prefixes: Sequence[bytes] = EVERYWHERE,
    warnings: dict[bytes, Problem] | None = None,
) -> Iterator[tuple[bytes, RawItem]]:
    """Every file, link and gitlink below a tree with its path, sorted by path bytes."""
    wanted = clean_prefixes(prefixes)
    return _iter_tree(store, bytes.fromhex(tree), b"", wanted, {} if warnings is None else warnings)


def kind_of(mode: bytes) -> Literal["file", "symlink", "gitlink"]:
    """The kind of a tree entry that is no folder, by its octal digits."""
    if mode.startswith(b"12"):
        return "symlink"
    return "gitlink" if mode.startswith(b"16") else "file"


def clean_prefixes(prefixes: Iterable[bytes]) -> tuple[bytes, ...]:
    """Prefixes without a final `/`; the empty tuple when one of them is everything."""
    cleaned = tuple(sorted({prefix.rstrip(b"/") for prefix in prefixes}))
    return () if b"" in cleaned else cleaned


def wanted_below(path: bytes, prefixes: tuple[bytes, ...]) -> tuple[bytes, ...] | None:
    """The prefixes that still matter at and below a path: () is everything, None is nothing."""
    if not prefixes:
        return ()
    if any(path == prefix or path.startswith(prefix + b"/") for prefix in prefixes):
        return ()
    return tuple(p for p in prefixes if p.startswith(path + b"/")) or None


def _committed(path: bytes, item: RawItem) -> SnapshotEntry:
    return SnapshotEntry(path, kind_of(item.mode), True, False, item.oid.hex(), None, False)


def _iter_tree(
    store: ObjectStore,
    tree: bytes,
    folder: bytes,
    prefixes: tuple[bytes, ...],
    warnings: dict[bytes, Problem],
) -> Iterator[tuple[bytes, RawItem]]:
    items = store.raw_tree(tree)
    keys = [item.name + b"/" if item.mode in FOLDER_MODES else item.name for item in items]
    ordered = sorted(keys)
    if ordered != keys or _suspicious(items):
        _warn(folder, items, warnings)
        items = tuple(item for _, item in sorted(zip(keys, items, strict=True)))
    for key, item in zip(ordered, items, strict=True):
        path = folder + key
        below = wanted_below(path.rstrip(b"/"), prefixes) if prefixes else ()
        if below is None:
            continue
        if item.mode in FOLDER_MODES:
            yield from _iter_tree(store, item.oid, path, below, warnings)
        elif not below:
            yield path, item


_SOUND_MODES = frozenset({b"40000", b"100644", b"100755", b"120000", b"160000"})


def _suspicious(items: tuple[RawItem, ...]) -> bool:
    names = {item.name for item in items}
    if len(names) != len(items) or not {item.mode for item in items} <= _SOUND_MODES:
        return True
    return not names.isdisjoint({b".", b"..", b".git"}) or any(b"/" in name for name in names)


def _warn(folder: bytes, items: tuple[RawItem, ...], warnings: dict[bytes, Problem]) -> None:
    faults = tree_faults(tuple(tree_item(item) for item in items), items)
    if faults:
        warnings[folder] = Problem(
            display_path(folder.rstrip(b"/")) or ".",
            0,
            "malformed-tree",
            f"git's tree of this folder is malformed: {', '.join(faults)}",
            "git fsck --strict names the object; a new commit with a sound tree replaces it",
        )
