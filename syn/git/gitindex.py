"""Git's index file (gitformat-index, versions 2 to 4).

It is parsed here, because libgit2's binding hides the flags that a work-tree snapshot needs, and
because a write must leave every other entry as it is, under git's own lock (ADR 0008).
"""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

from syn.errors import CannotError

_HEADER = 12
_HASH = 20
PLAIN_SIZE = 62
"""Bytes of an entry before its path; two more with extended flags."""
_EXTENDED = 64
NAME_MASK = 0x0FFF
_EXTENDED_FLAG = 0x4000
_SKIP_WORKTREE = 0x4000
_INTENT_TO_ADD = 0x2000
_VERSIONS: Final[frozenset[int]] = frozenset({2, 3, 4})
_PREFIX_VERSION = 4


class GitIndexError(CannotError):
    """Git's index is damaged, or in a form this build does not read."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(
            "git-index",
            f"git's index cannot be read: {reason}",
            remedy or "git rebuilds it: remove the file `index` of the git folder, then git reset",
        )


class IndexEntry(NamedTuple):
    """One entry, with its bytes kept as they stand (a tuple: there are as many as files)."""

    path: bytes
    head: bytes
    """The 62 fixed bytes (64 with extended flags): times, mode, sizes, id, flags."""

    @property
    def stage(self) -> int:
        """0, or 1 to 3 while a merge is unresolved."""
        return (self.head[60] >> 4) & 3

    @property
    def mode(self) -> int:
        """As in a tree: `0o100644`, …; `0o40000` for a collapsed folder of a sparse index."""
        return int.from_bytes(self.head[24:28], "big")

    @property
    def oid(self) -> str:
        """The staged object's id."""
        return self.head[40:60].hex()

    @property
    def skip_worktree(self) -> bool:
        """Whether a sparse checkout leaves the file out."""
        return bool(self.extended & _SKIP_WORKTREE)

    @property
    def intent_to_add(self) -> bool:
        """Whether it stands for `git add --intent-to-add`: nothing is staged."""
        return bool(self.extended & _INTENT_TO_ADD)

    @property
    def extended(self) -> int:
        """The extended flags, 0 where there are none."""
        return int.from_bytes(self.head[62:64], "big")


@dataclass(frozen=True, slots=True)
class IndexFile:
    """An index, ready to be given back with other entries."""

    version: int
    entries: tuple[IndexEntry, ...]
    extensions: tuple[tuple[bytes, bytes], ...]
    """Signature and bytes of each extension."""


def parse_index(data: bytes) -> IndexFile:
    """The whole index.

    Raises:
        GitIndexError: damaged, of an unknown version, or with an unknown mandatory extension.
    """
    version, count = _parse_header(data)
    read = _read_prefixed if version == _PREFIX_VERSION else _read_padded
    try:
        entries, position = read(data, count, len(data) - _HASH)
    except IndexError as error:
        raise _ends_early() from error
    return IndexFile(version, entries, tuple(_extensions(data, position)))


def render_index(index: IndexFile) -> bytes:
    """The bytes of an index: sorted entries, the given extensions, checksum."""
    entries = sorted(index.entries, key=lambda entry: (entry.path, entry.stage))
    version = index.version
    if version == 2 and any(len(entry.head) == _EXTENDED for entry in entries):  # noqa: PLR2004
        version = 3
    render = _render_prefixed if version == _PREFIX_VERSION else _render_padded
    body = [b"DIRC" + version.to_bytes(4, "big") + len(entries).to_bytes(4, "big")]
    body += render(entries)
    body += [name + len(data).to_bytes(4, "big") + data for name, data in index.extensions]
    content = b"".join(body)
    return content + hashlib.sha1(content, usedforsecurity=False).digest()


def with_name_length(head: bytes, path: bytes) -> bytes:
    """An entry's fixed bytes with the length of its path (at most 4,095) in the flags."""
    flags = int.from_bytes(head[60:62], "big") & ~NAME_MASK | min(len(path), NAME_MASK)
    return head[:60] + flags.to_bytes(2, "big") + head[62:]


def _parse_header(data: bytes) -> tuple[int, int]:
    if len(data) < _HEADER + _HASH or data[:4] != b"DIRC":
        raise GitIndexError("expected a header DIRC")
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if version not in _VERSIONS:
        raise GitIndexError(f"expected version 2 to 4, got {version}")
    # Twenty zero bytes are `index.skipHash`.
    if (
        any(data[-_HASH:])
        and hashlib.sha1(data[:-_HASH], usedforsecurity=False).digest() != data[-_HASH:]
    ):
        raise GitIndexError("its checksum does not hold")
    return version, count


def _read_padded(data: bytes, count: int, end: int) -> tuple[tuple[IndexEntry, ...], int]:
    # Runs once a file: the loop is as bare as it can be.
    entries: list[IndexEntry] = []
    position = _HEADER
    for _ in range(count):
        start = position + (_EXTENDED if data[position + 60] & 0x40 else PLAIN_SIZE)
        head = data[position:start]
        stop = data.find(b"\0", start + ((head[60] << 8 | head[61]) & NAME_MASK), end)
        if stop < 0:
            raise _ends_early()
        entries.append(IndexEntry(data[start:stop], head))
        position += (stop - position + 8) & ~7
    return tuple(entries), position


def _read_prefixed(data: bytes, count: int, end: int) -> tuple[tuple[IndexEntry, ...], int]:
    entries: list[IndexEntry] = []
    position = _HEADER
    path = b""
    for _ in range(count):
        start = position + (_EXTENDED if data[position + 60] & 0x40 else PLAIN_SIZE)
        head = data[position:start]
        strip, start = _varint(data, start, end)
        stop = data.find(b"\0", start, end)
        if stop < 0:
            raise _ends_early()
        path = path[: len(path) - strip] + data[start:stop]
        entries.append(IndexEntry(path, head))
        position = stop + 1
    return tuple(entries), position


def _ends_early() -> GitIndexError:
    return GitIndexError("it ends inside an entry")


def _varint(data: bytes, position: int, end: int) -> tuple[int, int]:
    # The offset encoding of gitformat-pack: every continuation adds one.
    if position >= end:
        raise _ends_early()
    byte = data[position]
    value = byte & 0x7F
    while byte & 0x80:
        position += 1
        if position >= end:
            raise _ends_early()
        byte = data[position]
        value = ((value + 1) << 7) | (byte & 0x7F)
    return value, position + 1


def _render_varint(value: int) -> bytes:
    digits = [value & 0x7F]
    value >>= 7
    while value:
        value -= 1
        digits.append(0x80 | (value & 0x7F))
        value >>= 7
    return bytes(reversed(digits))


def _extensions(data: bytes, position: int) -> Iterator[tuple[bytes, bytes]]:
    end = len(data) - _HASH
    while position + 8 <= end:
        name = data[position : position + 4]
        size = int.from_bytes(data[position + 4 : position + 8], "big")
        if position + 8 + size > end:
            raise GitIndexError("it ends inside an extension")
        if not name[:1].isupper() and name not in {b"link", b"sdir"}:
            raise GitIndexError(f"it needs the unknown extension {name!r}")
        yield name, data[position + 8 : position + 8 + size]
        position += 8 + size


def _render_padded(entries: Iterable[IndexEntry]) -> Iterator[bytes]:
    for entry in entries:
        size = len(entry.head) + len(entry.path)
        yield entry.head + entry.path + b"\0" * (8 - size % 8)


def _render_prefixed(entries: Iterable[IndexEntry]) -> Iterator[bytes]:
    before = b""
    for entry in entries:
        shared = 0
        for ours, theirs in zip(before, entry.path, strict=False):
            if ours != theirs:
                break
            shared += 1
        yield entry.head + _render_varint(len(before) - shared) + entry.path[shared:] + b"\0"
        before = entry.path
