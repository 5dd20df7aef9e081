"""The work tree as a snapshot: by content, whatever git's own notes about it say (ADR 0008).

Three sorted streams are merged: HEAD's tree, git's index, and the folders on disk. A tracked file
that is not on disk comes from HEAD where a sparse checkout leaves it out, and is `missing`
otherwise. Links are reported and never followed; a folder with a `.git` is not entered.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from syn.errors import CannotError, RefusedError, SynError
from syn.git.attributes import Attributes
from syn.git.convert import KEEP, Conversion, to_git
from syn.git.disk import DiskItem, Scan, is_repository, scan, stat_key
from syn.git.durable import Folders, open_file, read_file
from syn.git.gitindex import PLAIN_SIZE, IndexEntry
from syn.git.parse import RawItem, blob_id
from syn.git.repository import Repository
from syn.git.snapshot import (
    EVERYWHERE,
    EntryKind,
    NoContentError,
    SnapshotEntry,
    clean_prefixes,
    iter_tree,
    kind_of,
    wanted_below,
)
from syn.git.splitindex import load_index
from syn.model.problem import Problem, display_path

_SPARSE_FOLDER: Final = 0o040000
Lost: TypeAlias = list[CannotError | RefusedError]
"""What could not be read while a listing went on without it."""


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
        lost: Lost | None = None,
    ) -> None:
        """`prefixes` limits the listing; attributes are looked up for `wanted` paths only.

        `lost` takes what of HEAD and of git's index cannot be read; without it, that is raised.
        """
        if repo.root is None:
            raise BareRepositoryError(repo.git_dir)
        self._repo = repo
        self._root = repo.root
        self._prefixes = clean_prefixes(prefixes)
        self._wanted = wanted
        self._lost = lost
        self._attributes = Attributes(repo)
        self._links = str(_setting(repo, "core.symlinks")) != "false"
        self._warnings: dict[tuple[bytes, str], Problem] = {}
        self._tree_warnings: dict[bytes, Problem] = {}
        self._closed_folders: list[bytes] = []
        self._folders = Folders(self._root)
        self._staged: dict[bytes, str] | None = None
        self._nested: dict[bytes, bool] = {}

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
        self._folders.close()
        staged = self._index_entries()
        self._attributes.forget()
        self._attributes.saw_staged_rules(staged)
        sparse = b""
        for path, head, index, disk in self._merged(staged):
            skipped = False
            if index is not None and len(index.head) > PLAIN_SIZE:
                # Flags beyond the first sixteen bits, which few entries have.
                if index.mode == _SPARSE_FOLDER:
                    sparse = path
                    continue
                skipped = index.skip_worktree
            if sparse and path.startswith(sparse):
                skipped = True
            entry = self._entry(path, head, index, disk, skipped=skipped)
            if entry is not None:
                yield entry

    def find(self, path: bytes) -> SnapshotEntry | None:
        """The entry at one path; a folder is listed no further than that path."""
        found = self.find_tracked(path)
        if found is not None:
            return found
        narrow = WorktreeSnapshot(self._repo, (path,), self._wanted)
        narrow._attributes = self._attributes
        found = next((entry for entry in narrow.entries() if entry.path == path), None)
        self._warnings.update(narrow._warnings)
        return found

    def find_tracked(self, path: bytes) -> SnapshotEntry | None:
        """The same for a file of HEAD that is on disk; None says nothing of any other."""
        head = self._plain_head(path)
        disk = None if head is None else self._plain_file(path)
        if disk is None:
            return None
        self._attributes.may_convert(path)
        return self._entry(path, head, None, disk, skipped=False)

    @property
    def is_plain(self) -> bool:
        """Whether, in the listing just made, each file's bytes were the file's own.

        No rule converts any, no sparse checkout leaves any out, and nothing was odd.
        """
        return not (self._attributes.active or self._is_sparse or self.warnings or self._lost)

    def _plain_head(self, path: bytes) -> RawItem | None:
        # A file of HEAD where no sparse checkout is at work: git's index has nothing to add.
        tree = self._head_tree
        if tree is None or self._is_sparse:
            return None
        item = self._repo.store.find(tree, path)
        if item is None or item.kind != "file":
            return None
        return RawItem(b"%o" % item.mode, item.name, bytes.fromhex(item.oid))

    def _plain_file(self, path: bytes) -> DiskItem | None:
        if self._is_nested(path.rpartition(b"/")[0]):
            return None
        try:
            with open_file(self._folders, path) as file:
                return path, "file", stat_key(os.fstat(file.fileno()))
        except SynError:
            return None

    def _is_nested(self, folder: bytes) -> bool:
        """Whether a folder is, or is in, a repository of its own."""
        if not folder:
            return False
        known = self._nested.get(folder)
        if known is None:
            known = self._is_nested(folder.rpartition(b"/")[0])
            known = known or is_repository(os.fsencode(self._root) + b"/" + folder)
            self._nested[folder] = known
        return known

    @cached_property
    def _head_tree(self) -> str | None:
        return self._repo.head_tree()

    @cached_property
    def _is_sparse(self) -> bool:
        return (self._repo.git_dir / "info" / "sparse-checkout").exists()

    def read(self, entry: SnapshotEntry) -> bytes:
        """The bytes git would store for the file: from disk, or HEAD's blob."""
        if entry.kind != "file":
            raise NoContentError(entry.path, entry.kind)
        if not entry.on_disk:
            return self._repo.store.blob(entry.head_oid)
        data = self.read_disk(entry)
        if not self._attributes.may_convert(entry.path) or blob_id(data) == entry.head_oid:
            return data
        how = self._attributes.conversion(entry.path)
        if how.keeps_bytes:
            return data
        return to_git(data, how, self._staged_blob(entry.path, how))

    def read_disk(self, entry: SnapshotEntry) -> bytes:
        """The file's bytes exactly as they stand on disk."""
        return read_file(self._folders, entry.path)

    def to_git(self, path: bytes, data: bytes) -> bytes:
        """What git would store for these bytes at this path."""
        how = self._attributes.conversion(path)
        return data if how.keeps_bytes else to_git(data, how, self._staged_blob(path, how))

    def _merged(
        self, staged: Sequence[IndexEntry]
    ) -> Iterator[tuple[bytes, RawItem | None, IndexEntry | None, DiskItem | None]]:
        # All three come sorted by path; this is the loop that runs once a file.
        heads, indexed, on_disk = self._head_items(), self._below(staged), self._disk_items()
        head, index, disk = next(heads, None), next(indexed, None), next(on_disk, None)
        while head is not None or index is not None or disk is not None:
            path = disk[0] if disk is not None else None
            if head is not None and (path is None or head[0] < path):
                path = head[0]
            if index is not None and (path is None or index[0] < path):
                path = index[0]
            assert path is not None  # noqa: S101 - one of the three is there
            mine, one, found = None, None, None
            while head is not None and head[0] == path:
                mine, head = head[1], next(heads, None)
            while index is not None and index[0] == path:
                one, index = index, next(indexed, None)
            if disk is not None and disk[0] == path:
                found, disk = disk, next(on_disk, None)
            yield path, mine, one, found

    def _head_items(self) -> Iterator[tuple[bytes, RawItem]]:
        store, prefixes = self._repo.store, self._prefixes or EVERYWHERE
        try:
            tree = self._repo.head_tree()
            if tree is not None:
                yield from iter_tree(store, tree, prefixes, self._tree_warnings)
        except (CannotError, RefusedError) as error:
            self._lose(error)

    def _index_entries(self) -> Sequence[IndexEntry]:
        try:
            return load_index(self._repo.index_path)[1].entries
        except CannotError as error:
            self._lose(error)
            return ()

    def _lose(self, error: CannotError | RefusedError) -> None:
        """Go on without HEAD or without git's index, where the caller takes note of that."""
        if self._lost is None:
            raise error
        if str(error) not in map(str, self._lost):
            self._lost.append(error)
        # Whether a file is left out on purpose is not known any more: it is unread, not missing.
        self._closed_folders.append(b"")

    def _below(self, staged: Sequence[IndexEntry]) -> Iterator[IndexEntry]:
        if not self._prefixes:
            return iter(staged)
        return (e for e in staged if wanted_below(e.path.rstrip(b"/"), self._prefixes) == ())

    def _disk_items(self) -> Iterator[DiskItem]:
        root = os.fsencode(self._root)

        return scan(Scan(root, self._prefixes, self._attributes.saw_rules, self._cannot_list))

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
        if disk is None or disk[1] == "other":
            # A tracked file that is a socket or a device now is as good as gone.
            if disk is not None:
                self._warn_special(path)
            return self._absent(path, head, index, oid, skipped=skipped) if tracked else None
        if tracked and disk[1] == "file" and self._links and not self._attributes.active:
            return SnapshotEntry(path, "file", True, False, oid, disk[2], True)
        ignored = not tracked and self._attributes.ignored(path)
        kind = self._disk_kind(head, disk)
        if kind != "file":
            return SnapshotEntry(path, kind, tracked, ignored, oid, None, True)
        how = self._conversion(path)
        if how.opaque or how.ident:
            self._warn_opaque(path, how.opaque or "ident")
        if how.opaque and head is not None and kind_of(head.mode) == "file":
            return SnapshotEntry(path, "file", True, False, oid, None, False)
        key = disk[2] if how.keeps_bytes else None
        return SnapshotEntry(path, "file", tracked, ignored, oid, key, True)

    def _disk_kind(self, head: RawItem | None, disk: DiskItem) -> EntryKind:
        # With core.symlinks=false git checks a link out as a small file: the tree decides.
        if head is not None and not self._links and kind_of(head.mode) == "symlink":
            return "symlink"
        return "file" if disk[1] == "other" else disk[1]

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

    def _warn_special(self, path: bytes) -> None:
        self._warnings[path, "special-file"] = Problem(
            display_path(path),
            0,
            "special-file",
            "expected a file, got a pipe, a socket or a device: it is not read",
            "move it out of the workspace",
        )

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
    lost: Lost | None = None,
) -> WorktreeSnapshot:
    """The snapshot of the work tree.

    `prefixes` limits the listing to these paths and what lies below them (fast in a large
    repository); `wanted` says for which paths attributes matter (facts), by default for all;
    `lost`, where it is given, takes what of HEAD and of git's index cannot be read.

    Raises:
        BareRepositoryError: there is no work tree.
    """
    return WorktreeSnapshot(repo, prefixes, wanted, lost)


def _setting(repo: Repository, name: str) -> str:
    try:
        return str(repo.pg.config[name]).lower()
    except KeyError:
        return ""
