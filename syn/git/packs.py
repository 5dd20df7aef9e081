"""Packed objects: libgit2 reads the packs, after their indexes were checked here.

libgit2 trusts `.idx` and `multi-pack-index` files as its own: one wrong bit in an offset table ends
the process (ADR 0007). So every index is checked for shape, bounds and checksum before libgit2
maps it, and again whenever packs appeared.
"""

import hashlib
import struct
import sys
from array import array
from itertools import pairwise
from pathlib import Path
from typing import Final

import pygit2

from syn.errors import CannotError
from syn.git.parse import ObjectType

_TYPES: Final[dict[int, ObjectType]] = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_FANOUT = 256
_LARGE = 0x80000000
_HASH = 20


class CorruptPackError(CannotError):
    """A pack, or the index of one, that cannot be used."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            "corrupt-pack",
            f"{path.name} cannot be used: {reason}",
            "run git fsck; git index-pack rebuilds the index of a sound pack",
        )
        self.path = path


class PackReader:
    """The packs below one objects folder."""

    def __init__(self, objects: Path) -> None:
        self._folder = objects / "pack"
        self._checked: dict[str, tuple[int, int, int]] = {}
        self._check_indexes()
        self._backend = pygit2.OdbBackendPack(str(objects))

    def read(self, oid: bytes) -> tuple[ObjectType, bytes] | None:
        """Type and bytes of an object, not re-hashed; None when no pack here holds it.

        Raises:
            CorruptPackError: the pack's bytes cannot be inflated or make no object.
        """
        try:
            kind, data = self._backend.read(pygit2.Oid(raw=oid))
        except KeyError:
            return None
        except (pygit2.GitError, OSError, ValueError) as error:
            reason = str(error).removeprefix(f"{oid.hex()}: ")
            raise CorruptPackError(self._folder, f"{oid.hex()}: {reason}") from error
        found = _TYPES.get(int(kind))
        if found is None:
            raise CorruptPackError(self._folder, f"{oid.hex()} has the unknown type {kind}")
        return found, data

    def refresh(self) -> bool:
        """Take in packs that appeared since; whether there were any (a repack runs beside us)."""
        before = dict(self._checked)
        self._check_indexes()
        if self._checked == before:
            return False
        self._backend.refresh()
        return True

    def _check_indexes(self) -> None:
        found: dict[str, tuple[int, int, int]] = {}
        for path in _index_files(self._folder):
            try:
                stat = path.stat()
                key = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
                if self._checked.get(path.name) != key:
                    _check_file(path)
            except FileNotFoundError:
                continue  # a repack removed it between listing and reading
            except OSError as error:
                raise CorruptPackError(path, str(error)) from error
            found[path.name] = key
        self._checked = found


def check_index(data: bytes, pack_size: int) -> str:
    """What is wrong with the bytes of a `.idx` file (gitformat-pack, version 2 or 1); "" if sound.

    Every offset must lie inside a pack of `pack_size` bytes, and the trailing checksum must hold.
    """
    if len(data) < 4 * _FANOUT + 2 * _HASH:
        return "shorter than any pack index"
    if hashlib.sha1(data[:-_HASH], usedforsecurity=False).digest() != data[-_HASH:]:
        return "its checksum does not hold"
    if data[:4] != b"\xfftOc":
        return _check_version_one(data, pack_size)
    if data[4:8] != b"\0\0\0\2":
        return "unknown version"
    count, fault = _fanout(data, 8)
    start = 8 + 4 * _FANOUT + count * (_HASH + 4)
    rest = len(data) - start - 4 * count - 2 * _HASH
    if fault or rest < 0 or rest % 8:
        return fault or "tables do not fit its size"
    return _check_offsets(
        data[start : start + 4 * count], data[start + 4 * count :], rest // 8, pack_size
    )


def _check_version_one(data: bytes, pack_size: int) -> str:
    count, fault = _fanout(data, 0)
    if fault or len(data) != 4 * _FANOUT + count * (_HASH + 4) + 2 * _HASH:
        return fault or "tables do not fit its size"
    offsets = struct.iter_unpack(">I20s", data[4 * _FANOUT : -2 * _HASH])
    return "an offset beyond the pack" if any(o >= pack_size for o, _ in offsets) else ""


def _fanout(data: bytes, start: int) -> tuple[int, str]:
    table = _words(data[start : start + 4 * _FANOUT])
    if any(table[i] > table[i + 1] for i in range(_FANOUT - 1)):
        return 0, "its fan-out table is not sorted"
    return table[-1], ""


def _check_offsets(small: bytes, large: bytes, large_count: int, pack_size: int) -> str:
    words = _words(small)
    if not words or max(words) < min(_LARGE, pack_size):
        return ""
    for word in words:
        offset = word
        if word & _LARGE:
            slot = word & ~_LARGE
            if slot >= large_count:
                return "an offset outside its own table"
            offset = int.from_bytes(large[8 * slot : 8 * slot + 8], "big")
        if offset >= pack_size:
            return "an offset beyond the pack"
    return ""


def check_multi_pack_index(data: bytes, pack_sizes: dict[str, int]) -> str:
    """What is wrong with a `multi-pack-index` (gitformat-pack); "" when it is sound.

    `pack_sizes` maps the file name of every index (`pack-….idx`) to its pack's size.
    """
    if len(data) < 12 + 24 + _HASH or data[:6] != b"MIDX\x01\x01":
        return "unknown header"
    if hashlib.sha1(data[:-_HASH], usedforsecurity=False).digest() != data[-_HASH:]:
        return "its checksum does not hold"
    chunks = _chunks(data)
    missing = {b"PNAM", b"OIDF", b"OIDL", b"OOFF"} - chunks.keys()
    if missing or len(chunks[b"OIDF"]) != 4 * _FANOUT:
        return "a table is missing or of a wrong size"
    count, fault = _fanout(chunks[b"OIDF"], 0)
    if fault or len(chunks[b"OIDL"]) != _HASH * count or len(chunks[b"OOFF"]) != 8 * count:
        return fault or "tables do not fit its size"
    names = [name.decode("ascii", "replace") for name in chunks[b"PNAM"].split(b"\0") if name]
    if len(names) != int.from_bytes(data[8:12], "big") or any(n not in pack_sizes for n in names):
        return "it names packs that are not here"
    return _check_midx_offsets(
        _words(chunks[b"OOFF"]), chunks.get(b"LOFF", b""), [pack_sizes[name] for name in names]
    )


def _chunks(data: bytes) -> dict[bytes, bytes]:
    # Ids and offsets, 12 bytes each, then a terminator whose offset is the end of the last.
    count = data[6]
    table = [
        (data[at : at + 4], int.from_bytes(data[at + 4 : at + 12], "big"))
        for at in range(12, 12 + 12 * (count + 1), 12)
    ]
    return {
        name: data[start:end]
        for (name, start), (_, end) in pairwise(table)
        if 12 + 12 * (count + 1) <= start <= end <= len(data) - _HASH
    }


def _check_midx_offsets(words: "array[int]", large: bytes, sizes: list[int]) -> str:
    for pack, word in zip(words[0::2], words[1::2], strict=True):
        offset = word
        if word & _LARGE:
            slot = 8 * (word & ~_LARGE)
            if slot + 8 > len(large):
                return "an offset outside its own table"
            offset = int.from_bytes(large[slot : slot + 8], "big")
        if pack >= len(sizes) or offset >= sizes[pack]:
            return "an offset beyond the pack"
    return ""


def _check_file(path: Path) -> None:
    data = path.read_bytes()
    if path.name == "multi-pack-index":
        sizes = {
            index.name: index.with_suffix(".pack").stat().st_size
            for index in path.parent.glob("*.idx")
            if index.with_suffix(".pack").exists()
        }
        fault = check_multi_pack_index(data, sizes)
    else:
        fault = check_index(data, path.with_suffix(".pack").stat().st_size)
    if fault:
        raise CorruptPackError(path, fault)


def _index_files(folder: Path) -> list[Path]:
    packs = [p for p in folder.glob("*.idx") if p.with_suffix(".pack").exists()]
    several = folder / "multi-pack-index"
    return [*packs, several] if several.exists() else packs


def _words(data: bytes) -> "array[int]":
    words = array("I", data)
    if sys.byteorder == "little":
        words.byteswap()
    return words
