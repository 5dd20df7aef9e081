"""Git's split index: a small file of changes over a shared one (gitformat-index, `link`).

The merged index is what any other reader sees; it is never split again by us.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from syn.git.gitindex import (
    GitIndexError,
    IndexEntry,
    IndexFile,
    parse_index,
    with_name_length,
)

_HASH = 20
_WORD = 8


def load_index(path: Path) -> tuple[bytes, IndexFile]:
    """The bytes of an index file, and the index with a shared one merged in.

    An absent file is an empty index.

    Raises:
        GitIndexError: damaged, or its shared part is gone.
    """
    data = _read(path)
    if not data:
        return data, IndexFile(2, (), ())
    index = parse_index(data)
    link = next((value for name, value in index.extensions if name == b"link"), None)
    if link is None:
        return data, index

    def shared(name: str) -> IndexFile:
        found = _read(path.with_name(f"sharedindex.{name}"))
        if not found:
            raise GitIndexError(f"its shared part sharedindex.{name} is gone")
        return parse_index(found)

    return data, merge_split(index, link, shared)


def merge_split(index: IndexFile, link: bytes, shared: Callable[[str], IndexFile]) -> IndexFile:
    """One index of a small one, its `link` extension, and the shared one that names."""
    rest = tuple((name, value) for name, value in index.extensions if name != b"link")
    if not any(link[:_HASH]):
        return IndexFile(index.version, index.entries, rest)
    base = shared(link[:_HASH].hex())
    deleted, position = parse_bitmap(link, _HASH, len(base.entries))
    replaced, _ = parse_bitmap(link, position, len(base.entries))
    if len(replaced) > len(index.entries):
        raise GitIndexError("its shared part does not fit")
    entries = dict(enumerate(base.entries))
    # The first entries stand for those they replace, in order, and bear no name.
    for place, entry in zip(replaced, index.entries, strict=False):
        path = base.entries[place].path
        entries[place] = IndexEntry(path, with_name_length(entry.head, path))
    for place in deleted:
        del entries[place]
    merged = [*entries.values(), *index.entries[len(replaced) :]]
    merged.sort(key=lambda entry: (entry.path, entry.stage))
    return IndexFile(index.version, tuple(merged), rest)


def parse_bitmap(data: bytes, position: int, limit: int) -> tuple[list[int], int]:
    """The set bits of an EWAH bitmap (gitformat-bitmap) and the position after it.

    A bit at or beyond `limit` is refused: eight bytes can claim four thousand million of them.
    """
    size = int.from_bytes(data[position : position + 4], "big")
    count = int.from_bytes(data[position + 4 : position + 8], "big")
    start, end = position + 8, position + 8 + _WORD * count
    if end + 4 > len(data):
        raise GitIndexError("a bitmap ends early")
    words = [int.from_bytes(data[at : at + _WORD], "big") for at in range(start, end, _WORD)]
    bits = [bit for bit in islice(_bits(words, min(size, limit + 1)), limit + 1) if bit < size]
    if bits and bits[-1] >= limit:
        raise GitIndexError("its shared part does not fit")
    return bits, end + 4


def _bits(words: list[int], size: int) -> Iterator[int]:
    place = 0
    number = 0
    while number < len(words):
        marker = words[number]
        run = (marker >> 1) & 0xFFFFFFFF
        if marker & 1:
            yield from range(place, min(place + 64 * run, size))
        place += 64 * run
        literals = marker >> 33
        for word in words[number + 1 : number + 1 + literals]:
            yield from (place + bit for bit in range(64) if word >> bit & 1)
            place += 64
        number += 1 + literals


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise GitIndexError(f"{path.name}: {error.strerror}") from error
