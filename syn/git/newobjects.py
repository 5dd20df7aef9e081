"""Writing objects durably: a few as loose files, many as one pack.

A loose object costs two fsyncs, so an adoption of thousands of facts would take minutes; a pack
costs three for all of them. That holds for objects that somebody else left loose as well: git does
not fsync them, and what we refer to from now on has to be on disk. Whatever is written is read back
and re-hashed before anything refers to it.
"""

import contextlib
import os
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha1
from itertools import accumulate
from pathlib import Path
from sys import byteorder
from typing import Final

import pygit2
from pygit2.enums import ObjectType as PgType
from pygit2.enums import Option

from syn.errors import CannotError
from syn.git.durable import fsync_folder
from syn.git.loose import loose_path
from syn.git.objects import MissingObjectError
from syn.git.parse import EMPTY_TREE, ObjectType, object_id
from syn.git.repository import Repository

MOST_LOOSE: Final = 64
"""More objects than this, new or loose, are written as one pack."""
_TRIES: Final = 5
_TYPES: Final[dict[ObjectType, PgType]] = {
    "commit": PgType.COMMIT,
    "tree": PgType.TREE,
    "blob": PgType.BLOB,
    "tag": PgType.TAG,
}


class NewObjects:
    """Objects that are to be written together."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[ObjectType, bytes]] = {}

    def add(self, kind: ObjectType, data: bytes) -> str:
        """Take an object; its id."""
        oid = object_id(kind, data)
        self._found[oid] = (kind, data)
        return oid

    def write(self, repo: Repository) -> None:
        """Write what is not there yet, make the rest durable, and read back what was written.

        Raises:
            ObjectMismatchError: a damaged object of one of the ids is there already.
            CannotError: `cannot-write`.
        """
        found = {oid: found for oid, found in self._found.items() if not _is_packed(repo, oid)}
        self._found.clear()
        loose = {oid for oid in found if loose_path(repo.store.folders[0], oid).exists()}
        new = [oid for oid in found if oid not in loose]
        try:
            if len(found) > MOST_LOOSE:
                write_pack(repo.store.folders[0], found)
            else:
                _fsync_loose(repo, loose)
                for oid in new:
                    _write_loose(repo, oid, *found[oid])
        except (pygit2.GitError, OSError, ValueError) as error:
            raise CannotError("cannot-write", f"objects cannot be written: {error}") from error
        for oid in new:
            repo.store.read(oid)


def write_pack(objects: Path, new: Mapping[str, tuple[ObjectType, bytes]]) -> Path:
    """Write a pack of whole objects and its index (gitformat-pack, version 2). Raises `OSError`."""
    rows = [(bytes.fromhex(oid), _packed(*new[oid])) for oid in sorted(new)]
    content = b"".join([b"PACK\0\0\0\2", len(rows).to_bytes(4, "big"), *(data for _, data in rows)])
    trailer = sha1(content, usedforsecurity=False)
    path = objects / "pack" / f"pack-{trailer.hexdigest()}.pack"
    path.parent.mkdir(exist_ok=True)
    _place(path, content + trailer.digest())
    # The index comes last: a pack without one is not seen.
    _place(path.with_suffix(".idx"), _pack_index(rows, trailer.digest()))
    fsync_folder(path.parent)
    return path


def fsync_objects() -> None:
    """Let libgit2 fsync what it writes: off by default, and a setting of the whole process."""
    pygit2.option(Option.ENABLE_FSYNC_GITDIR, True)


def _is_packed(repo: Repository, oid: str) -> bool:
    """Whether an object is there, sound, and in a pack, which git does fsync."""
    if oid == EMPTY_TREE:
        return False  # readers know it without an object
    try:
        repo.store.read(oid)
    except MissingObjectError:
        return False
    return not loose_path(repo.store.folders[0], oid).exists()


def _fsync_loose(repo: Repository, oids: Iterable[str]) -> None:
    paths = [loose_path(repo.store.folders[0], oid) for oid in oids]
    for path in paths:
        with contextlib.suppress(FileNotFoundError), path.open("rb") as file:  # packed meanwhile
            os.fsync(file.fileno())
    for folder in {path.parent for path in paths}:
        with contextlib.suppress(FileNotFoundError):
            fsync_folder(folder)


def _write_loose(repo: Repository, oid: str, kind: ObjectType, data: bytes) -> None:
    folder = loose_path(repo.store.folders[0], oid).parent
    is_new = not folder.exists()
    fsync_objects()
    for left in reversed(range(_TRIES)):
        try:
            repo.pg.odb.write(_TYPES[kind], data)
            break
        except (pygit2.GitError, OSError) as error:
            # git gc takes empty folders away, also the one that libgit2 has just made for this.
            if not left or "No such file" not in str(error):
                raise
    if is_new:
        # libgit2 makes the file durable, but not the folder it made for it.
        fsync_folder(folder.parent)


def _packed(kind: ObjectType, data: bytes) -> bytes:
    size = len(data)
    head = [int(_TYPES[kind]) << 4 | size & 15]
    size >>= 4
    while size:
        head[-1] |= 0x80
        head.append(size & 0x7F)
        size >>= 7
    return bytes(head) + zlib.compress(data)


def _pack_index(rows: list[tuple[bytes, bytes]], pack_hash: bytes) -> bytes:
    counts = [0] * 256
    for oid, _ in rows:
        counts[oid[0]] += 1
    offsets = list(accumulate((len(data) for _, data in rows), initial=12))[:-1]
    content = b"".join(_index_tables(rows, list(accumulate(counts)), offsets)) + pack_hash
    return content + sha1(content, usedforsecurity=False).digest()


def _index_tables(
    rows: list[tuple[bytes, bytes]], fanout: list[int], offsets: list[int]
) -> Iterator[bytes]:
    yield b"\xfftOc\0\0\0\2" + _words(fanout)
    yield b"".join(oid for oid, _ in rows)
    yield _words([zlib.crc32(data) for _, data in rows])
    yield _words(offsets)


def _words(values: list[int]) -> bytes:
    words = array("I", values)
    if byteorder == "little":
        words.byteswap()
    return words.tobytes()


def _place(path: Path, data: bytes) -> None:
    temporary = path.with_name(f"tmp_{path.name}")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    temporary.chmod(0o444)
    temporary.replace(path)
