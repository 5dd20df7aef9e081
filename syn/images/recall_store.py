"""Reading the store of a `recall.v1` image strictly, entry by entry.

A store that is no store raises `MalformedError`; an entry that is wrong is a value, because one
rotten body must not hide the verdict on the others.
"""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from syn.images.malformed import MalformedError
from syn.images.strict import CHUNK, Stream

STORE = "cas.json"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a store as it is read."""

    key: str
    body: bytes | None
    """The decoded bytes; None when the value is no base64 text."""
    fault: str = ""
    """`blob-malformed`: the value is no strict base64 · `address-malformed`: the key is none."""
    place: int = -1
    """First byte of the base64 text in the file; -1 for a null."""
    span: int = 0


_ADDRESS = re.compile(rb"[0-9a-f]{64}\Z")
_START = re.compile(rb'[ \t\n\r]*"([0-9a-f]{64})"[ \t\n\r]*:[ \t\n\r]*"')
_WHITE = b" \t\n\r"


class StoreReader:
    """One reading of a `cas.json`, entry by entry; memory is the largest body."""

    def __init__(self, stream: Stream, path: str = STORE) -> None:
        self._path = path
        self._stream = stream
        self._data = b""
        self._at = 0
        self._base = 0
        self._entries = 0

    def entries(self) -> Iterator[Entry]:
        """Every entry in the order it is written.

        Raises:
            MalformedError: the store is no JSON object of that shape, or names a key twice.
        """
        self._expect(b"{", "store-not-object")
        seen: set[str] = set()
        if not self._take(b"}"):
            while True:
                entry = self._ordinary() or self._entry()
                if entry.key in seen:
                    self._fail("duplicate-member", f"names the address {entry.key[:12]} twice")
                seen.add(entry.key)
                self._entries += 1
                yield entry
                if self._take(b"}"):
                    break
                self._expect(b",", "not-json")
        if self._peek():
            self._fail("trailing-data", "bytes after the object")

    def _ordinary(self) -> Entry | None:
        """An address and a body that stand whole in what was read; None for `_entry` to say more.

        A check of 100,000 pages spends its time here.
        """
        data = self._data
        found = _START.match(data, self._at)
        end = data.find(b'"', found.end()) if found is not None else -1
        if found is None or end < 0:
            return None
        place = found.end()
        try:
            body = binascii.a2b_base64(data[place:end], strict_mode=True)
        except binascii.Error:
            return None
        self._at = end + 1
        return Entry(found[1].decode("ascii"), body, "", self._base + place, end - place)

    def _entry(self) -> Entry:
        key = self._string("an address")
        self._expect(b":", "not-json")
        fault = "" if _ADDRESS.match(key) else "address-malformed"
        address = key.decode("ascii", "backslashreplace")
        if self._peek() == b"n":
            self._word(b"null")
            return Entry(address, b"", fault)
        if self._peek() != b'"':
            self._fail("wrong-type", f"expected base64 text or null in entry {self._entries}")
        text = self._string("a body")
        place = self._base + self._at - 1 - len(text)
        try:
            body = binascii.a2b_base64(text, strict_mode=True)
        except binascii.Error:
            return Entry(address, None, fault or "blob-malformed")
        return Entry(address, body, fault, place, len(text))

    def _string(self, what: str) -> bytes:
        """The raw bytes between quotes; escapes are left in, as no valid key or body has one."""
        self._expect(b'"', "not-json")
        start, search = self._at, self._at
        while True:
            end = self._data.find(b'"', search)
            if end < 0:
                search = len(self._data) - start
                if not self._fill(start):
                    self._fail("not-json", f"the text ends inside {what}")
                start = 0
                continue
            if not _is_escaped(self._data, start, end):
                break
            search = end + 1
        self._at = end + 1
        return self._data[start:end]

    def _word(self, word: bytes) -> None:
        while len(self._data) - self._at < len(word) and self._fill(self._at):
            pass
        if self._data[self._at : self._at + len(word)] != word:
            self._fail("not-json", f"broken JSON in entry {self._entries}")
        self._at += len(word)

    def _peek(self) -> bytes:
        while True:
            data, at = self._data, self._at
            while at < len(data) and data[at] in _WHITE:
                at += 1
            self._at = at
            if at < len(data):
                return data[at : at + 1]
            if not self._fill(at):
                return b""

    def _take(self, char: bytes) -> bool:
        if self._peek() != char:
            return False
        self._at += 1
        return True

    def _expect(self, char: bytes, code: str) -> None:
        if not self._take(char):
            found = self._peek().decode("ascii", "backslashreplace")
            got = repr(found) if found else "the end"
            self._fail(code, f"expected {char.decode()!r} after entry {self._entries}, got {got}")

    def _fill(self, keep: int) -> bool:
        """Read on, keeping what stands from `keep`; False at the end."""
        size = max(CHUNK, len(self._data) - keep)
        chunk = self._stream.read(size)
        self._data = self._data[keep:] + chunk
        self._at -= keep
        self._base += keep
        return bool(chunk)

    def _fail(self, code: str, message: str) -> NoReturn:
        raise MalformedError(code, f"{self._path}: {message}", self._path)


def _is_escaped(data: bytes, start: int, quote: int) -> bool:
    """Whether an odd number of backslashes stands before the quote."""
    at = quote
    while at > start and data[at - 1] == 0x5C:  # noqa: PLR2004 - a backslash
        at -= 1
    return (quote - at) % 2 == 1
