"""Reading `recall.v1` strictly: the page table row by row, the store entry by entry.

The members, their types and what Go forgives but we refuse: docs/formats/image.md. The readers
take streams and yield values; an image that is no image raises `MalformedError`, a store entry
that is wrong is a value, because one rotten body must not hide the verdict on the others.
"""

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from syn.images.malformed import MalformedError
from syn.images.strict import CHUNK, Stream, TextWindow, Written, kind
from syn.images.table import RECALL_FORMAT, Change, Head, Page

MANIFEST = "manifest.json"
STORE = "cas.json"

_REQUIRED = {
    "step": int,
    "role": str,
    "descriptor": str,
    "digest": str,
    "len": int,
    "taint": int,
    "quarantined": bool,
}
_OPTIONAL = {
    "qid": str,
    "reason": str,
    "durability": str,
    "valid_to": int,
    "witness": str,
    "trust_epoch": int,
    "syndrome": str,
    "utility": float,
}
_PAGE = {**_REQUIRED, **_OPTIONAL}
_CHANGE_REQUIRED = {
    "id": str,
    "action": str,
    "step": int,
    "digest": str,
    "reason": str,
    "requested_by": str,
    "applied": bool,
}
_CHANGE = {**_CHANGE_REQUIRED, "witness": str, "trust_epoch": int}
_HEAD = ("version", "session_id", "world_ver", "pages", "cleared", "context_changes")
_HEAD_REQUIRED = frozenset(_HEAD[:5])
_BOUNDS = {
    "taint": (0, 255),
    "trust_epoch": (0, 2**64 - 1),
    "world_ver": (0, 2**64 - 1),
}
_INT64 = (-(2**63), 2**63 - 1)
_STRING_TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*")?')
_NAMES = {int: "an integer", str: "text", bool: "a boolean", float: "a number"}


class ManifestReader:
    """One reading of a `manifest.json`: the rows stream, the rest stands when they are through."""

    def __init__(self, stream: Stream, path: str = MANIFEST) -> None:
        self._window = TextWindow(stream, path)
        self._members: dict[str, Any] = {}
        self._head: Head | None = None

    @property
    def head(self) -> Head:
        """Version, session, marker, clearances and ledger; known once every row was taken."""
        if self._head is None:
            raise LookupError("the rows are not read to the end yet")
        return self._head

    def pages(self) -> Iterator[Page]:
        """The rows in order; reads the whole manifest.

        Raises:
            MalformedError: the manifest is not one, or holds what a strict reader refuses.
        """
        window = self._window
        for name in window.members():
            if name == "pages":
                yield from self._rows()
                self._members[name] = True
            else:
                self._members[name] = self._member(name)
        window.end()
        if missing := sorted(_HEAD_REQUIRED - self._members.keys()):
            window.fail("missing-member", f"the manifest has no {missing[0]}")
        self._head = Head(
            self._members["session_id"],
            self._members["world_ver"],
            self._members["cleared"],
            self._members.get("context_changes", ()),
        )

    def _rows(self) -> Iterator[Page]:
        window = self._window
        if window.peek() != "[":
            value, _ = window.value()
            window.fail("wrong-type", f"expected an array of pages, got {kind(value)}")
        for number, _ in enumerate(window.items()):
            row, raw = window.value()
            yield _page(window, row, raw, number)

    def _member(self, name: str) -> Any:
        window = self._window
        if name not in _HEAD:
            _refuse_name(window, name, _HEAD, "the manifest")
        match name:
            case "version":
                if (version := window.text(name)) != RECALL_FORMAT:
                    shown = repr(version[:40])
                    window.fail("unknown-version", f"expected {RECALL_FORMAT!r}, got {shown}")
                return version
            case "session_id":
                return window.text(name)
            case "world_ver":
                return _typed(window, name, window.value()[0], int, "the manifest")
            case "cleared":
                return tuple(_clearances(window))
            case _:
                return tuple(_changes(window))


def _clearances(window: TextWindow) -> Iterator[tuple[str, bool]]:
    if window.peek() != "{":
        value, _ = window.value()
        window.fail("wrong-type", f"expected an object of clearances, got {kind(value)}")
    for qid in window.members():
        value, _ = window.value()
        yield qid, _typed(window, "a clearance", value, bool, "the manifest")


def _changes(window: TextWindow) -> Iterator[Change]:
    if window.peek() != "[":
        value, _ = window.value()
        window.fail("wrong-type", f"expected an array of context changes, got {kind(value)}")
    for number, _ in enumerate(window.items()):
        row, raw = window.value()
        where = f"context change {number}"
        values = _checked(window, row, _CHANGE, _CHANGE_REQUIRED, where)
        yield Change(
            values["id"],
            values["step"],
            values["digest"],
            values["reason"],
            values["requested_by"],
            values["action"],
            values.get("witness", ""),
            values.get("trust_epoch", 0),
            values["applied"],
            _spelled(raw),
        )


def _page(window: TextWindow, row: Any, raw: str, number: int) -> Page:
    values = _checked(window, row, _PAGE, _REQUIRED, f"page {number}")
    get = values.get
    return Page(
        values["step"],
        values["role"],
        values["descriptor"],
        values["digest"],
        values["len"],
        values["taint"],
        values["quarantined"],
        get("qid", ""),
        get("reason", ""),
        get("durability", ""),
        get("valid_to", 0),
        get("witness", ""),
        get("trust_epoch", 0),
        str(get("utility", "")),
        get("syndrome", ""),
        written=_spelled(raw),
    )


def _checked(
    window: TextWindow, row: Any, known: dict[str, type], required: dict[str, type], where: str
) -> dict[str, Any]:
    """A row whose members are all known, there and of their type."""
    if type(row) is not dict:
        window.fail("wrong-type", f"expected an object for {where}, got {kind(row)}")
    values: dict[str, Any] = row
    for name, value in values.items():
        wanted = known.get(name)
        if wanted is None:
            _refuse_name(window, name, known, where)
        if wanted is str and type(value) is str and value.isascii():
            continue
        _typed(window, name, value, wanted, where)
    if not required.keys() <= values.keys():
        missing = next(name for name in required if name not in values)
        window.fail("missing-member", f"{where} has no {missing}")
    return values


def _typed(window: TextWindow, name: str, value: Any, wanted: type, where: str) -> Any:
    got: Any = value
    if wanted is float:
        if type(value) is not int and type(value) is not Written:
            window.fail("wrong-type", f"expected a number for {name} of {where}, got {kind(value)}")
    elif type(value) is not wanted:
        what = f"expected {_NAMES[wanted]} for {name} of {where}"
        window.fail("wrong-type", f"{what}, got {kind(value)}")
    elif wanted is str:
        window.checked(got)
    elif wanted is int:
        low, high = _BOUNDS.get(name, _INT64)
        if not low <= got <= high:
            window.fail("out-of-range", f"{name} of {where} is out of its range")
    return value


def _refuse_name(window: TextWindow, name: str, known: Any, where: str) -> NoReturn:
    if name.casefold() in known:
        window.fail("member-case", f"{where} spells {name.casefold()} in another case")
    window.fail("unknown-member", f"{where} has a member that the format does not know")


def _spelled(raw: str) -> tuple[tuple[str, str], ...]:
    """The members whose U+FFFD is written as an escape, with their token (SPEC 1.3)."""
    if "\\ufffd" not in raw:
        return ()
    pairs = ((m[1], m[2]) for m in _STRING_TOKEN.finditer(raw))
    return tuple((name, token) for name, token in pairs if token and "\\ufffd" in token)


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
                entry = self._entry()
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
