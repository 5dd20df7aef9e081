"""The work tree as a snapshot: by content, whatever git's own notes about it say (ADR 0008).

Three sorted streams are merged: HEAD's tree, git's index, and the folders on disk. A tracked file
that is not on disk comes from HEAD where a sparse checkout leaves it out, and is `missing`
otherwise. Links are reported and never followed; a folder with a `.git` is not entered.
"""

import heapq
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from syn.errors import CannotError
from syn.git.attributes import Attributes
from syn.git.convert import KEEP, Conversion, to_git
from syn.git.durable import Folders, open_file
from syn.git.gitindex import IndexEntry
from syn.git.parse import RawItem, blob_id
from syn.git.repository import Repository
from syn.git.snapshot import (
    EVERYWHERE,
    EntryKind,
    NoContentError,
    SnapshotEntry,
    StatKey,
    clean_prefixes,
    iter_tree,
    kind_of,
    wanted_below,
)
from syn.git.splitindex import load_index
from syn.model.problem import Problem, display_path

_HEAD, _INDEX, _DISK = 0, 1, 2
_SPARSE_FOLDER: Final = 0o040000


class DiskItem(NamedTuple):
    """What the folder listing says of one path."""

    kind: Literal["file", "symlink", "gitlink", "other"]
    """`file`, `symlink`, `gitlink` (a nested repository), `other` (a socket, a device)."""
    stat: StatKey | None


_Streamed: TypeAlias = tuple[bytes, int, RawItem | IndexEntry | DiskItem]


class BareRepositoryError(CannotError):
    """A work tree was asked of a repository that has none."""

    def __init__(self, git_dir: Path) -> None:
        super().__init__(
            "bare-repository",
            f"{git_dir} is bare: it has no work tree",
            "name a commit (--ref HEAD)",
        )


class WorktreeSnapshot:
    """The work tree of one repository, read as it is now."""

    def __init__(
        self,
        repo: Repository,
        prefixes: Sequence[bytes] = EVERYWHERE,
        wanted: Callable[[bytes], bool] | None = None,
    ) -> None:
        """`prefixes` limits the listing; attributes are looked up for `wanted` paths only."""
        if repo.root is None:
            raise BareRepositoryError(repo.git_dir)
        self._repo = repo
        self._root = repo.root
        self._root_bytes = os.fsencode(repo.root)
        self._prefixes = clean_prefixes(prefixes)
        self._wanted = wanted
        self._attributes = Attributes(repo)
        self._links = str(_setting(repo, "core.symlinks")) != "false"
        self._warnings: dict[tuple[bytes, str], Problem] = {}
        self._tree_warnings: dict[bytes, Problem] = {}
        self._closed_folders: list[bytes] = []
        self._folders = Folders(self._root)
        self._staged: dict[bytes, str] | None = None

    @property
    def label(self) -> str:
        """`worktree`."""
        return "worktree"

    @property
    def warnings(self) -> Sequence[Problem]:
        """Attributes that hide a file's bytes, folders that cannot be read, malformed trees."""
        return (*self._warnings.values(), *self._tree_warnings.values())

    def entries(self) -> Iterator[SnapshotEntry]:
        """Every tracked or untracked path, sorted by path bytes."""
        sparse = b""
        for path, group in groupby(self._streams(), key=itemgetter(0)):
            head, index, disk = _sides(group)
            if index is not None and index.mode == _SPARSE_FOLDER:
                sparse = path
                continue
            skipped = bool(sparse and path.startswith(sparse))
            skipped = skipped or (index is not None and index.skip_worktree)
            entry = self._entry(path, head, index, disk, skipped=skipped)
            if entry is not None:
                yield entry

    def find(self, path: bytes) -> SnapshotEntry | None:
        """The entry at one path; a folder is listed no further than that path."""
        narrow = WorktreeSnapshot(self._repo, (path,), self._wanted)
        found = next((entry for entry in narrow.entries() if entry.path == path), None)
        self._warnings.update(narrow._warnings)
        return found

    def read(self, entry: SnapshotEntry) -> bytes:
        """The bytes git would store for the file: from disk, or HEAD's blob."""
        if entry.kind != "file":
            raise NoContentError(entry.path, entry.kind)
        if not entry.on_disk:
            return self._repo.store.blob(entry.head_oid)
        data = self.read_disk(entry)
        if not self._attributes.active or blob_id(data) == entry.head_oid:
            return data
        how = self._attributes.conversion(entry.path)
        if how.keeps_bytes:
            return data
        return to_git(data, how, self._staged_blob(entry.path, how))

    def read_disk(self, entry: SnapshotEntry) -> bytes:
        """The file's bytes exactly as they stand on disk."""
        with open_file(self._folders, entry.path) as file:
            return file.read()

    def to_git(self, path: bytes, data: bytes) -> bytes:
        """What git would store for these bytes at this path."""
        how = self._attributes.conversion(path)
        return data if how.keeps_bytes else to_git(data, how, self._staged_blob(path, how))

    def _streams(self) -> Iterator[_Streamed]:
        tree = self._repo.head_tree()
        streams: list[Iterator[_Streamed]] = [self._disk_stream(), self._index_stream()]
        if tree is not None:
            items = iter_tree(
                self._repo.store, tree, self._prefixes or EVERYWHERE, self._tree_warnings
            )
            streams.append((path, _HEAD, item) for path, item in items)
        return heapq.merge(*streams, key=itemgetter(0, 1))

    def _index_stream(self) -> Iterator[_Streamed]:
        for entry in load_index(self._repo.index_path)[1].entries:
            if wanted_below(entry.path.rstrip(b"/"), self._prefixes) == ():
                yield entry.path, _INDEX, entry

    def _disk_stream(self) -> Iterator[_Streamed]:
        for path, item in self._scan(b"", self._prefixes):
            yield path, _DISK, item

    def _scan(self, folder: bytes, prefixes: tuple[bytes, ...]) -> Iterator[tuple[bytes, DiskItem]]:
        for key, found in self._listing(folder):
            path = folder + found.name
            below = wanted_below(path, prefixes) if prefixes else ()
            if below is None:
                continue
            if key.endswith(b"/"):
                yield from self._scan(path + b"/", below)
            elif found.is_dir(follow_symlinks=False):
                yield path, DiskItem("gitlink", None)
            elif not below or found.is_symlink():
                item = _disk_item(found)
                if item is not None:
                    yield path, item

    def _listing(self, folder: bytes) -> list[tuple[bytes, "os.DirEntry[bytes]"]]:
        try:
            with os.scandir(self._root_bytes + b"/" + folder) as found:
                listed = [(_disk_order(entry), entry) for entry in found]
        except (FileNotFoundError, NotADirectoryError):
            return []  # it went away between the listing above and now
        except OSError as error:
            self._cannot_list(folder, error)
            return []
        listed.sort(key=itemgetter(0))
        if not folder:
            listed = [(key, entry) for key, entry in listed if entry.name != b".git"]
        rules = next((entry for _, entry in listed if entry.name == b".gitattributes"), None)
        if rules is not None:
            self._attributes.saw_rules(Path(os.fsdecode(rules.path)))
        return listed

    def _entry(
        self,
        path: bytes,
        head: RawItem | None,
        index: IndexEntry | None,
        disk: DiskItem | None,
        *,
        skipped: bool,
    ) -> SnapshotEntry | None:
        tracked = head is not None or index is not None
        oid = head.oid.hex() if head is not None else ""
        if disk is None or disk.kind == "other":
            # A tracked file that is a socket or a device now is as good as gone.
            return self._absent(path, head, index, oid, skipped=skipped) if tracked else None
        ignored = not tracked and self._attributes.ignored(path)
        kind = self._disk_kind(head, disk)
        if kind != "file":
            return SnapshotEntry(path, kind, tracked, ignored, oid, None, True)
        how = self._conversion(path)
        if how.opaque or how.ident:
            self._warn_opaque(path, how.opaque or "ident")
        if how.opaque and head is not None and kind_of(head.mode) == "file":
            return SnapshotEntry(path, "file", True, False, oid, None, False)
        key = disk.stat if how.keeps_bytes else None
        return SnapshotEntry(path, "file", tracked, ignored, oid, key, True)

    def _disk_kind(self, head: RawItem | None, disk: DiskItem) -> EntryKind:
        # With core.symlinks=false git checks a link out as a small file: the tree decides.
        if head is not None and not self._links and kind_of(head.mode) == "symlink":
            return "symlink"
        return "file" if disk.kind == "other" else disk.kind

    def _absent(
        self,
        path: bytes,
        head: RawItem | None,
        index: IndexEntry | None,
        oid: str,
        *,
        skipped: bool,
    ) -> SnapshotEntry:
        if head is not None and kind_of(head.mode) == "gitlink":
            return SnapshotEntry(path, "gitlink", True, False, oid, None, False)
        if index is not None and kind_of(b"%o" % index.mode) == "gitlink":
            return SnapshotEntry(path, "gitlink", True, False, oid, None, False)
        if head is not None and skipped:
            return SnapshotEntry(path, kind_of(head.mode), True, False, oid, None, False)
        if any(path.startswith(folder) for folder in self._closed_folders):
            return SnapshotEntry(path, "file", True, False, oid, None, True)
        return SnapshotEntry(path, "missing", True, False, oid, None, False)

    def _conversion(self, path: bytes) -> Conversion:
        if self._attributes.active and (self._wanted is None or self._wanted(path)):
            return self._attributes.conversion(path)
        return KEEP

    def _staged_blob(self, path: bytes, how: Conversion) -> bytes | None:
        if how.line_ends != "auto":
            return None
        if self._staged is None:
            self._staged = {
                entry.path: entry.oid
                for entry in load_index(self._repo.index_path)[1].entries
                if entry.stage == 0 and not entry.intent_to_add
            }
        oid = self._staged.get(path)
        return None if oid is None else self._repo.store.blob(oid)

    def _warn_opaque(self, path: bytes, attribute: str) -> None:
        self._warnings[path, attribute] = Problem(
            display_path(path),
            0,
            "opaque-attribute",
            f"the attribute {attribute} hides the file's bytes, so git's blob is read instead",
            "exempt facts in .gitattributes: `*.md -filter -text !working-tree-encoding`",
        )

    def _cannot_list(self, folder: bytes, error: OSError) -> None:
        self._closed_folders.append(folder)
        self._warnings[folder, "unreadable-folder"] = Problem(
            display_path(folder.rstrip(b"/")) or ".",
            0,
            "unreadable-folder",
            f"the folder cannot be listed: {error.strerror}",
            "give yourself the right to read it",
        )


def worktree_snapshot(
    repo: Repository,
    prefixes: Sequence[bytes] = EVERYWHERE,
    wanted: Callable[[bytes], bool] | None = None,
) -> WorktreeSnapshot:
    """The snapshot of the work tree.

    `prefixes` limits the listing to these paths and what lies below them (fast in a large
    repository); `wanted` says for which paths attributes matter (facts), by default for all.

    Raises:
        BareRepositoryError: there is no work tree.
    """
    return WorktreeSnapshot(repo, prefixes, wanted)


def _sides(
    group: Iterator[_Streamed],
) -> tuple[RawItem | None, IndexEntry | None, DiskItem | None]:
    head: RawItem | None = None
    index: IndexEntry | None = None
    disk: DiskItem | None = None
    for _, _, item in group:
        match item:
            case RawItem():
                head = item
            case IndexEntry():
                index = item
            case DiskItem():
                disk = item
    return head, index, disk


def _disk_order(entry: "os.DirEntry[bytes]") -> bytes:
    # As in a tree: a folder sorts with its slash, a nested repository without.
    if entry.is_dir(follow_symlinks=False) and not _is_repository(entry.path):
        return entry.name + b"/"
    return entry.name


def _disk_item(found: "os.DirEntry[bytes]") -> DiskItem | None:
    if found.is_symlink():
        return DiskItem("symlink", None)
    try:
        info = found.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(info.st_mode):
        return DiskItem("other", None)
    return DiskItem("file", StatKey(info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino))


def _is_repository(folder: bytes) -> bool:
    return os.path.lexists(folder + b"/.git")


def _setting(repo: Repository, name: str) -> str:
    try:
        return str(repo.pg.config[name]).lower()
    except KeyError:
        return ""
