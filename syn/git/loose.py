"""Loose objects: one zlib stream a file, read here and not by libgit2.

libgit2 1.9 does not come back from a truncated stream (ADR 0007); zlib in Python says so.
"""

import zlib
from pathlib import Path
from typing import Final

from syn.git.parse import ObjectType

_TYPES: Final[dict[bytes, ObjectType]] = {
    b"commit": "commit",
    b"tree": "tree",
    b"blob": "blob",
    b"tag": "tag",
}
_HEADER = 64
_DIGITS = 15


class LooseObjectError(Exception):
    """The file is no loose object; `syn.git.objects` gives it its code and remedy."""


def loose_path(objects: Path, oid: str) -> Path:
    """Where the loose object would stand."""
    return objects / oid[:2] / oid[2:]


def read_loose(path: Path) -> tuple[ObjectType, bytes] | None:
    """Type and bytes of a loose object, not re-hashed; None when there is no such file.

    Raises:
        LooseObjectError: the file is no whole zlib stream of `<type> <size>`, NUL and size bytes.
        OSError: it is there and cannot be read.
    """
    try:
        packed = path.read_bytes()
    except FileNotFoundError:
        return None
    return parse_loose(packed)


def parse_loose(packed: bytes) -> tuple[ObjectType, bytes]:
    """Type and bytes from the bytes of a loose object's file; never inflates past its own size."""
    stream = zlib.decompressobj()
    try:
        start = stream.decompress(packed, _HEADER)
        header, end, body = start.partition(b"\0")
        kind, size = _parse_header(header, end)
        wanted = size - len(body)
        if wanted >= 0:
            body += stream.decompress(stream.unconsumed_tail, wanted + 1)
    except zlib.error as error:
        raise LooseObjectError(f"not a zlib stream: {error}") from error
    if not stream.eof and len(body) == size:
        body += stream.decompress(stream.unconsumed_tail, 1)
    if len(body) != size:
        raise LooseObjectError(f"expected {size} bytes, got {'more' if wanted < 0 else len(body)}")
    if not stream.eof:
        raise LooseObjectError("its stream has no end")
    if stream.unused_data:
        raise LooseObjectError("bytes follow its stream")
    return kind, body


def encode_loose(kind: ObjectType, data: bytes) -> bytes:
    """The bytes of a loose object's file."""
    return zlib.compress(b"%s %d\0" % (kind.encode(), len(data)) + data)


def _parse_header(header: bytes, end: bytes) -> tuple[ObjectType, int]:
    name, _, size = header.partition(b" ")
    kind = _TYPES.get(name)
    zeros = size[:1] == b"0" and len(size) > 1
    if kind is None or not end or not size.isdigit() or zeros or len(size) > _DIGITS:
        raise LooseObjectError("expected a type and a size first")
    return kind, int(size)
