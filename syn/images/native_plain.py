"""The ordinary rows of a `synapse.image/1` table: checked by writing them again. Pure.

A check of 100,000 pages spends its time here. An ordinary row says nothing but what follows from
its place, its body, its role, a durability and maybe a witness. So it is written from those, word
and all, and the line has to be that text to the byte: one comparison for syntax, fields, descriptor
and word.
Whatever is not so is for `syn.images.native_verify`, which says the same of it, slowly: the oracle
in the tests.
"""

import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from json.encoder import encode_basestring as _quote
from typing import Protocol

from syn.images.descriptor import benign_descriptor, first_line
from syn.images.survey import Survey
from syn.images.table import Blob

MAX_BODY = 1 << 30


class Store(Protocol):
    """The bodies of an image, by place."""

    def view_at(self, offset: int, size: int) -> memoryview:
        """The bytes at a place; shorter at the end of the store."""
        ...

    def size(self) -> int:
        """Bytes of the store."""
        ...


class Bodies(Mapping[str, Blob]):
    """What was read of a store, by digest. A body of an ordinary page costs two numbers."""

    __slots__ = ("_indexed", "_names", "_places", "_plain", "_sizes", "others")

    def __init__(self) -> None:
        self.others: dict[str, Blob] = {}
        """What the pages that are not ordinary name; goes before what an ordinary page says."""
        self._names: list[str] = []
        self._places, self._sizes = array("Q"), array("Q")
        self._indexed: dict[str, int] = {}
        self._plain = 0

    def add_plain(self, digest: str, place: int, size: int) -> None:
        """Take in the sound body of an ordinary page; it counts, whatever others named before."""
        if self.others:
            self.others.pop(digest, None)
        self._names.append(digest)
        self._places.append(place)
        self._sizes.append(size)

    def _index(self) -> dict[str, int]:
        """The numbers of the ordinary bodies; of one that stands twice, the last."""
        if self._plain < len(self._names):
            fresh = range(self._plain, len(self._names))
            self._indexed.update(zip(self._names[self._plain :], fresh, strict=True))
            self._plain = len(self._names)
        return self._indexed

    def plain(self, digest: str) -> Blob | None:
        """The body of an ordinary page, without its first line, which only the others need."""
        number = self._index().get(digest)
        if number is None:
            return None
        return Blob(self._sizes[number], "", digest, "", self._places[number])

    def rotten(self) -> dict[str, Blob]:
        """Those that do not check."""
        return {digest: blob for digest, blob in self.others.items() if blob.fault}

    def total(self) -> int:
        """Bytes of those that check."""
        others = sum(blob.size for blob in self.others.values() if not blob.fault)
        if not self.others and len(set(self._names)) == len(self._names):
            return sum(self._sizes)
        numbers = self._index().items()
        return others + sum(self._sizes[n] for name, n in numbers if name not in self.others)

    # `override` is Python 3.12.
    def __getitem__(self, digest: str) -> Blob:  # type: ignore[explicit-override]
        blob = self.others.get(digest) or self.plain(digest)
        if blob is None:
            raise KeyError(digest)
        return blob

    def __iter__(self) -> Iterator[str]:  # type: ignore[explicit-override]
        return iter(self._index() | self.others)

    def __len__(self) -> int:  # type: ignore[explicit-override]
        return len(self._index() | self.others)


_START = b'"durability":"'
_REST = re.compile(
    rb'"durability":"(?:turn|session|durable)","len":(0|[1-9][0-9]{0,9}),"quarantined":false,'
    rb'"role":"([^"\\]*)","step":(0|[1-9][0-9]{0,14}),"taint":0'
    rb'(?:(?:,"trust_epoch":([1-9][0-9]{0,14}))?,"witness":"([^"\\]+)")?'
    rb',"word":"sha256:([0-9a-f]{64})"\}\n'
)
"""An ordinary row from its durability on: canonical when role and witness are."""
_WORD_SIZE = len(',"word":"sha256:') + 64 + len('"}\n')


@dataclass(slots=True)
class PlainRows:
    """A table from its first row on, for as long as its rows are ordinary."""

    prefix: bytes
    """`syn.images.word.native_prefix` of the session."""
    store: Store
    survey: Survey
    """Of every row so far."""
    bodies: Bodies = field(default_factory=Bodies)
    leaves: bytearray = field(default_factory=bytearray)
    """The RFC 6962 leaf hash of every row's word."""
    end: int = 0
    """Where the next body stands in the store."""

    def run(self, lines: Iterator[bytes]) -> bytes | None:
        """Take rows in; gives the first line that is no ordinary row, None when there is none."""
        for line in lines:
            word = self._word(line)
            if word is None:
                return line
            self.leaves += sha256(b"\x00" + word).digest()
        return None

    def _word(self, line: bytes) -> bytes | None:
        """The 32 bytes of the word of an ordinary row, which is then taken in; else None."""
        place, cut = self.end, line.rfind(_START)
        start, found = f'{{"at":{place},', _REST.fullmatch(line, cut)
        if found is None or not line.startswith(start.encode()):
            return None
        length, spelled, step, epoch, witness, stored = found.groups()
        size, role, position = int(length), _text(spelled), len(self.survey.digests)
        if role is None or size > MAX_BODY or int(step) != position:
            return None
        if witness and _text(witness) is None:
            return None
        body = self.store.view_at(place, size)
        digest = sha256(body).hexdigest()
        shown = _quote(benign_descriptor(role, first_line(body)))
        if line[:cut] != f'{start}"descriptor":{shown},"digest":"sha256:{digest}",'.encode():
            return None
        word = sha256(self.prefix + line[:-_WORD_SIZE] + b"}")
        if word.hexdigest().encode() != stored or len(body) != size:
            return None
        self.survey.digests.append(digest)
        self.bodies.add_plain(digest, place, size)
        if witness:
            self.survey.epochs.append((int(epoch or 0), position))
        self.end += size
        return word.digest()


@lru_cache(maxsize=256)
def _text(spelled: bytes) -> str | None:
    """The text that JSON spells so; None when it spells none so."""
    try:
        text = spelled.decode()
    except UnicodeDecodeError:
        return None
    return text if _quote(text) == f'"{text}"' else None


def root_over(leaves: bytes | bytearray) -> bytes:
    """The RFC 6962 root over leaf hashes of 32 bytes, level by level.

    A node without a sibling moves up as it is: the tree that splits at the largest power of two.
    Half the time of `syn.canon.merkle.root_of`, its oracle in the tests.
    """
    level = leaves or sha256(b"").digest()
    while len(level) > _NODE:
        pairs = range(0, len(level) - _NODE, 2 * _NODE)
        above = [sha256(b"\x01" + level[at : at + 2 * _NODE]).digest() for at in pairs]
        level = b"".join(above) + level[2 * _NODE * len(above) :]
    return bytes(level)


_NODE = 32
