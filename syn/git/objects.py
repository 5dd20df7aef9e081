"""The object store: every object that is read is hashed again, wherever it came from (ADR 0007).

Replace refs, grafts, commit-graphs and git's own caches play no part: an id is looked up in the
packs and loose files of this repository and of its alternates, and the bytes must hash to it.
"""

import os
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

from syn.errors import CannotError, RefusedError
from syn.git.loose import LooseObjectError, loose_path, read_loose
from syn.git.packs import CorruptPackError, PackReader
from syn.git.parse import (
    EMPTY_TREE,
    Commit,
    ObjectType,
    RawItem,
    TreeItem,
    is_oid,
    object_hash,
    parse_commit,
    parse_raw_tree,
    raw_item,
    split_tree,
    tree_item,
)
from syn.git.treediff import TreeText, compare, mark

_Value = TypeVar("_Value")
_Faults: TypeAlias = list[tuple[str, str]]
_OTHER_ID = "its bytes hash to another id"
TREE_CACHE = 6 * 1024 * 1024
"""Bytes of raw trees whose entries are kept (about eight times as much in memory)."""
TEXT_CACHE = 16 * 1024 * 1024
"""Bytes of raw trees that are kept as they are, for comparing them."""


class MissingObjectError(CannotError):
    """An object that is not here.

    The code says why: `missing-object`, `partial-clone`, `alternate-missing`, `shallow`.
    """

    def __init__(self, oid: str, code: str, reason: str, remedy: str) -> None:
        super().__init__(code, f"object {oid} is not here: {reason}", remedy)
        self.oid = oid


class ObjectMismatchError(RefusedError):
    """An object whose bytes are not the ones its id stands for: damage, or a swap."""

    def __init__(self, oid: str, where: str, reason: str) -> None:
        super().__init__(
            "object-mismatch",
            f"object {oid} is not what its id says: {reason} ({where})",
            "restore the object from a clone that holds it, then run git fsck",
        )
        self.oid = oid
        self.where = where


class WrongTypeError(CannotError):
    """An id that leads to an object of another type."""

    def __init__(self, oid: str, expected: str, actual: str) -> None:
        super().__init__("wrong-type", f"expected {oid} to be a {expected}, got a {actual}")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What explains an object's absence."""

    promisor: bool = False
    """A partial clone: a remote promises the rest."""
    lost_alternates: tuple[str, ...] = ()
    """Object folders this repository borrows from and that are gone."""


class ObjectStore:
    """Reads objects by id. Not for use by several threads at once."""

    def __init__(self, folders: tuple[Path, ...], around: Surroundings | None = None) -> None:
        """`folders` are the repository's own objects folder and its alternates', in this order."""
        self.folders = folders
        self._around = around or Surroundings()
        self._packs: tuple[PackReader, ...] | None = None
        self._trees: _Kept[tuple[RawItem, ...]] = _Kept(TREE_CACHE)
        self._texts: _Kept[TreeText] = _Kept(TEXT_CACHE)
        self._looked_in: _Kept[bytes] = _Kept(TREE_CACHE)

    def read(self, oid: str) -> tuple[ObjectType, bytes]:
        """Type and bytes of an object, re-hashed.

        Raises:
            MissingObjectError: no copy is here.
            ObjectMismatchError: copies are here, and none hashes to the id.
            CorruptPackError: an index of a pack cannot be trusted to be read.
        """
        return self.read_raw(_key(oid))

    def read_raw(self, key: bytes) -> tuple[ObjectType, bytes]:
        """`read` by the 20 bytes of an id."""
        faults: list[tuple[str, str]] = []
        for source in (self._from_packs, self._from_loose, self._from_new_packs):
            found = source(key, faults)
            if found is not None:
                return found
        oid = key.hex()
        if faults:
            raise ObjectMismatchError(oid, *faults[0])
        if oid == EMPTY_TREE:
            return "tree", b""
        raise self._missing(oid)

    def has(self, oid: str) -> bool:
        """Whether a copy that hashes to the id is here."""
        try:
            self.read(oid)
        except (MissingObjectError, ObjectMismatchError):
            return False
        return True

    def blob(self, oid: str) -> bytes:
        """The bytes of a blob."""
        return self._typed(_key(oid), "blob")

    def commit(self, oid: str) -> Commit:
        """A commit. Raises as `read`, or `WrongTypeError`, or `MalformedObjectError`."""
        return parse_commit(oid, self._typed(_key(oid), "commit"))

    def tree(self, oid: str) -> tuple[TreeItem, ...]:
        """The entries of a tree, in the order in which they stand there."""
        return tuple(tree_item(item) for item in self.raw_tree(_key(oid)))

    def raw_tree(self, oid: bytes) -> tuple[RawItem, ...]:
        """The entries of a tree as raw tuples; recently read ones are kept."""
        items = self._trees.get(oid)
        if items is None:
            data = self._typed(oid, "tree")
            items = parse_raw_tree(oid.hex(), data)
            self._trees.put(oid, items, len(data))
        return items

    def tree_difference(
        self, old: bytes | None, new: bytes | None
    ) -> tuple[set[bytes], set[bytes]]:
        """The undivided entries only in the one tree, and only in the other; None is empty."""
        if old is None or new is None:
            one, other = (self._split(oid) for oid in (old, new))
            return one, other
        left = self._texts.get(old)
        if left is None:
            right = self._texts.get(new)
            if right is not None:
                # Walks go from children to parents: the second tree is the known one.
                only_new, only_old = self._compare(right, old)
                return only_old, only_new
            data = self._typed(old, "tree")
            left = mark(old.hex(), data)
            self._texts.put(old, left, len(data))
        return self._compare(left, new)

    def _compare(self, known: TreeText, oid: bytes) -> tuple[set[bytes], set[bytes]]:
        seen = self._texts.get(oid)
        data = self._typed(oid, "tree") if seen is None else seen.data
        text, only_known, only_other = compare(known, oid.hex(), data)
        if seen is None:
            self._texts.put(oid, text, len(data))
        return only_known, only_other

    def _split(self, oid: bytes | None) -> set[bytes]:
        return set(split_tree(oid.hex(), self._typed(oid, "tree"))) if oid is not None else set()

    def find(self, root: str, path: bytes) -> TreeItem | None:
        """The entry at a path below the tree `root`, or None."""
        tree = root
        *folders, name = path.split(b"/")
        for folder in folders:
            item = self._entry(tree, folder)
            if item is None or item.kind != "tree":
                return None
            tree = item.oid
        return self._entry(tree, name)

    def _entry(self, tree: str, name: bytes) -> TreeItem | None:
        key = _key(tree)
        data = self._looked_in.get(key)
        if data is None:
            data = self._typed(key, "tree")
            self._looked_in.put(key, data, len(data))
        ending = b" " + name + b"\0"
        if ending not in data:
            return None
        # The bytes may stand inside an id too: only whole entries count.
        for entry in split_tree(tree, data):
            item = raw_item(entry) if ending in entry else None
            if item is not None and item.name == name:
                return tree_item(item)
        return None

    def _typed(self, oid: bytes, expected: ObjectType) -> bytes:
        kind, data = self.read_raw(oid)
        if kind != expected:
            raise WrongTypeError(oid.hex(), expected, kind)
        return data

    def packs(self) -> tuple[PackReader, ...]:
        """The packs of every folder, opened when first asked for.

        Raises:
            CorruptPackError: an index must not be shown to libgit2.
        """
        if self._packs is None:
            self._packs = tuple(PackReader(folder) for folder in self.folders if folder.is_dir())
        return self._packs

    def _from_packs(self, key: bytes, faults: _Faults) -> tuple[ObjectType, bytes] | None:
        for reader in self.packs():
            try:
                found = reader.read(key)
            except CorruptPackError as error:
                faults.append((error.path.name, error.message))
                continue
            if found is not None:
                if object_hash(*found) == key:
                    return found
                faults.append(("packed", _OTHER_ID))
        return None

    def _from_loose(self, key: bytes, faults: _Faults) -> tuple[ObjectType, bytes] | None:
        oid = key.hex()
        where = f"loose object {oid[:2]}/{oid[2:]}"
        for folder in self.folders:
            try:
                found = read_loose(loose_path(folder, oid))
            except LooseObjectError as error:
                faults.append((where, str(error)))
                continue
            except OSError as error:
                raise CannotError("cannot-read", f"{where} cannot be read: {error}") from error
            if found is not None:
                if object_hash(*found) == key:
                    return found
                faults.append((where, _OTHER_ID))
        return None

    def _from_new_packs(self, key: bytes, faults: _Faults) -> tuple[ObjectType, bytes] | None:
        # A repack beside us moves loose objects into packs and packs into other packs.
        changed = [reader.refresh() for reader in self.packs()]
        if not any(changed):
            return None
        faults.clear()
        return self._from_packs(key, faults)

    def _missing(self, oid: str) -> MissingObjectError:
        if self._around.lost_alternates:
            lost = ", ".join(self._around.lost_alternates)
            return MissingObjectError(
                oid,
                "alternate-missing",
                f"the object store this repository borrows from is gone: {lost}",
                "bring that folder back, or correct objects/info/alternates",
            )
        if self._around.promisor:
            return MissingObjectError(
                oid,
                "partial-clone",
                "this is a partial clone, and nothing is fetched while checking",
                "fetch it with git (git fetch --refetch --filter= , or git checkout)",
            )
        return MissingObjectError(
            oid, "missing-object", "no pack and no loose file holds it", "run git fsck"
        )


class _Kept(Generic[_Value]):
    """Parsed trees, the least recently used dropped once their raw bytes pass a budget."""

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._used = 0
        self._kept: OrderedDict[bytes, tuple[_Value, int]] = OrderedDict()

    def get(self, oid: bytes) -> _Value | None:
        found = self._kept.get(oid)
        if found is None:
            return None
        self._kept.move_to_end(oid)
        return found[0]

    def put(self, oid: bytes, value: _Value, size: int) -> None:
        self._kept[oid] = (value, size)
        self._used += size
        while self._used > self._budget and len(self._kept) > 1:
            _, (_, freed) = self._kept.popitem(last=False)
            self._used -= freed


def _key(oid: str) -> bytes:
    if not is_oid(oid):
        raise MissingObjectError(oid, "missing-object", "this is no object id", "")
    return bytes.fromhex(oid)


def alternates(objects: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """The object folders borrowed from, nested ones too, and the names of those that are gone."""
    found: list[Path] = []
    lost: list[str] = []
    pending = [objects]
    while pending:
        folder = pending.pop(0)
        for path in _alternate_lines(folder):
            if not path.is_dir():
                lost.append(str(path))
            elif path not in found and path != objects:
                found.append(path)
                pending.append(path)
    return tuple(found), tuple(lost)


def _alternate_lines(objects: Path) -> Iterator[Path]:
    try:
        data = (objects / "info" / "alternates").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return
    for line in data.split(b"\n"):
        if line and not line.startswith(b"#"):
            # A relative path starts at the objects folder; git quotes names like C strings.
            text = _unquote(line) if line.startswith(b'"') else line
            yield Path(os.path.normpath(objects / os.fsdecode(text)))


def _unquote(line: bytes) -> bytes:
    body = line[1:].rpartition(b'"')[0]
    return body.decode("unicode_escape").encode("latin-1")
