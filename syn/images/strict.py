"""Strict JSON over a stream: what Go forgives is refused, and memory stays at one value.

Refused beside broken JSON: duplicate members, a byte order mark, bytes after the value, lone
surrogates, `NaN` and `Infinity`, invalid UTF-8. Nothing here knows what the members mean.
"""

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn, Protocol

from syn.images.malformed import MalformedError

CHUNK = 1 << 20
MAX_VALUE = 1 << 24
"""Characters of one value (a page row, a ledger row) that a reader is willing to hold."""

_SPACE = re.compile(r"[ \t\n\r]*")


class Stream(Protocol):
    """Bytes from somewhere: an open file, a member of an archive, a test's memory."""

    def read(self, size: int, /) -> bytes:
        """Up to `size` bytes; b"" at the end."""
        ...


class Written(str):
    """A number that is no integer token, as it is written."""

    __slots__ = ()


class TextWindow:
    """A moving window of text over a stream, from which JSON values are taken one by one."""

    def __init__(self, stream: Stream, path: str) -> None:
        self.path = path
        self._stream = stream
        self._decode = codecs.getincrementaldecoder("utf-8")("strict")
        self._text = ""
        self._at = 0
        self._lines = 1
        self._ended = False
        self._scan = json.JSONDecoder(
            object_pairs_hook=self._members,
            parse_float=Written,
            parse_constant=self._refuse_constant,
        ).raw_decode

    @property
    def line(self) -> int:
        """The line on which the window stands, from 1."""
        return self._lines + self._text.count("\n", 0, self._at)

    def fail(self, code: str, message: str) -> NoReturn:
        """Refuse the image, naming file and line."""
        raise MalformedError(code, f"{self.path}: {message}", self.path, self.line)

    def peek(self) -> str:
        """The next character after white space, or "" at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._fill():
                return ""

    def take(self, char: str) -> bool:
        """Whether the next character is `char`, which is then consumed."""
        if self.peek() != char:
            return False
        self._at += 1
        return True

    def expect(self, char: str) -> None:
        """Consume one punctuation character."""
        found = self.peek()
        if found != char:
            self.fail("not-json", f"expected {char!r}, got {found!r}" if found else _CUT)
        self._at += 1

    def value(self) -> tuple[Any, str]:
        """The next value and its exact text."""
        self.peek()
        while True:
            try:
                value, end = self._scan(self._text, self._at)
            except (ValueError, RecursionError):
                value, end = None, -1
            # A number is only known to be whole when something follows it.
            if 0 <= end < len(self._text) or (end >= 0 and self._ended):
                raw = self._text[self._at : end]
                self._at = end
                return value, raw
            if len(self._text) - self._at > MAX_VALUE:
                self.fail("not-json", f"broken JSON, or a value over {MAX_VALUE} characters")
            if not self._fill():
                self.fail("not-json", _CUT if not self._text[self._at :] else "broken JSON")

    def members(self) -> Iterator[str]:
        """The member names of the object at hand; the caller takes each value before going on."""
        self.expect("{")
        seen: set[str] = set()
        if self.take("}"):
            return
        while True:
            name = self.text("a member name")
            if name in seen:
                self.fail("duplicate-member", "the object names one member twice")
            seen.add(name)
            self.expect(":")
            yield name
            if self.take("}"):
                return
            self.expect(",")

    def items(self) -> Iterator[None]:
        """One step for each item of the array at hand; the caller takes the value."""
        self.expect("[")
        if self.take("]"):
            return
        while True:
            yield None
            if self.take("]"):
                return
            self.expect(",")

    def text(self, what: str) -> str:
        """The next value, which must be text."""
        value, _ = self.value()
        if type(value) is not str:
            self.fail("wrong-type", f"expected text for {what}, got {kind(value)}")
        return self.checked(value)

    def checked(self, text: str) -> str:
        """Text without lone surrogates, or a refusal."""
        if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
            self.fail("lone-surrogate", "text holds a lone surrogate, which is no Unicode scalar")
        return text

    def end(self) -> None:
        """Refuse anything but white space after the value."""
        if self.peek():
            self.fail("trailing-data", "bytes after the object")

    def _fill(self) -> bool:
        if self._ended:
            return False
        chunk = self._stream.read(CHUNK)
        self._ended = not chunk
        try:
            more = self._decode.decode(chunk, final=not chunk)
        except UnicodeDecodeError as error:
            message = f"{self.path}: expected UTF-8, got byte 0x{error.object[error.start]:02x}"
            raise MalformedError("not-utf8", message, self.path, self.line) from error
        if self._lines == 1 and self._at == 0 and not self._text and more.startswith("\ufeff"):
            self.fail("byte-order-mark", "a byte order mark before the object")
        self._lines += self._text.count("\n", 0, self._at)
        self._text = self._text[self._at :] + more
        self._at = 0
        return not self._ended or bool(more)

    def _members(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            self.fail("duplicate-member", "a row names one member twice")
        return result

    def _refuse_constant(self, name: str) -> NoReturn:
        self.fail("not-json", f"expected a JSON number, got {name}")


_CUT = "the text ends before the object does"


_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "a boolean",
    Written: "a number that is no integer",
    int: "an integer",
    str: "text",
    list: "an array",
}


def kind(value: object) -> str:
    """The JSON type of a value, for a message that must not quote it."""
    return _KINDS.get(type(value), "an object")
