"""JSON that other programs wrote, as front-matter values: numbers keep their written text.

Duplicate keys, lone surrogates and nesting without end are reasons, never exceptions of the reader.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from syn.model.payload import Lexical, Mapping, Value

MAX_DEPTH: Final = 12
"""Levels of one record; front matter itself holds 16."""
_SPACE = " \t\r\n"


class NotJsonError(Exception):
    """A text that is not JSON from some character on."""

    def __init__(self, offset: int, reason: str) -> None:
        super().__init__(reason)
        self.offset = offset
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Refused:
    """A value that is JSON and cannot be taken."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Found:
    """One value and the characters it stands in."""

    value: Value | Refused
    start: int
    end: int


class _Twice:
    """In the place of an object that has a key twice."""

    def __init__(self, key: str) -> None:
        self.key = key


def read_json(text: str, start: int = 0) -> Found:
    """The JSON value that begins at an offset.

    Raises:
        NotJsonError: there is none.
    """
    while text[start : start + 1] in _SPACE and start < len(text):
        start += 1
    try:
        raw, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise NotJsonError(error.pos, error.msg[:1].lower() + error.msg[1:]) from error
    except RecursionError as error:
        raise NotJsonError(start, "it nests too deep") from error
    return Found(_value(raw, 0), start, end)


def read_list(text: str, start: int) -> Iterator[Found]:
    """The items of the JSON list that begins at an offset, one by one.

    Raises:
        NotJsonError: it is no list from some character on.
    """
    at = _skip(text, start)
    if text[at : at + 1] != "[":
        raise NotJsonError(at, "expected a list")
    at = _skip(text, at + 1)
    if text[at : at + 1] == "]":
        return
    while True:
        found = read_json(text, at)
        yield found
        at = _skip(text, found.end)
        mark = text[at : at + 1]
        if mark == "]":
            return
        if mark != ",":
            raise NotJsonError(at, "expected a comma or the end of the list")
        at = _skip(text, at + 1)


def member_list(text: str, names: tuple[str, ...], *, alone: bool = True) -> int:
    """Where the list is: at the start, or the first of these members of one object.

    Args:
        text: JSON.
        names: of the members.
        alone: a list at the start counts.

    Raises:
        NotJsonError: there is none.
    """
    at = _skip(text, 0)
    if alone and text[at : at + 1] == "[":
        return at
    if text[at : at + 1] != "{":
        raise NotJsonError(at, "expected a list of memories")
    at = _skip(text, at + 1)
    while text[at : at + 1] == '"':
        key = read_json(text, at)
        at = _skip(text, key.end)
        if text[at : at + 1] != ":":
            raise NotJsonError(at, "expected a colon")
        at = _skip(text, at + 1)
        if key.value in names and text[at : at + 1] == "[":
            return at
        at = _skip(text, read_json(text, at).end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
    raise NotJsonError(at, f"expected a list under {', '.join(names)}")


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _value(raw: object, depth: int) -> Value | Refused:
    if depth > MAX_DEPTH:
        return Refused("too-deep", f"it nests deeper than {MAX_DEPTH} levels")
    match raw:
        case list():
            return _items(raw, depth)
        case _Twice(key=key):
            return Refused("duplicate-key", f"the key {key!r:.60} stands twice")
        case tuple():
            return _members(raw, depth)
        case _:
            return _scalar(raw)


def _scalar(raw: object) -> Value | Refused:
    match raw:
        case str():
            if any("\ud800" <= char <= "\udfff" for char in raw):
                return Refused("lone-surrogate", "a text holds half of a character")
            return raw
        case Lexical():
            return raw
        case bool():
            return Lexical("bool", "true" if raw else "false")
        case _:
            return Lexical("null", "null")


def _items(raw: list[object], depth: int) -> Value | Refused:
    found: list[Value] = []
    for item in raw:
        value = _value(item, depth + 1)
        if isinstance(value, Refused):
            return value
        found.append(value)
    return tuple(found)


def _members(raw: tuple[tuple[str, object], ...], depth: int) -> Value | Refused:
    found: list[tuple[str, Value]] = []
    for key, item in raw:
        value = _value(item, depth + 1)
        name = _value(key, depth)
        if isinstance(value, Refused):
            return value
        if isinstance(name, Refused):
            return name
        found.append((key, value))
    return Mapping(tuple(found))


def _pairs(pairs: list[tuple[str, object]]) -> object:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            return _Twice(key)
        seen.add(key)
    return tuple(pairs)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_int=lambda text: Lexical("int", text),
    parse_float=lambda text: Lexical("float", text),
    parse_constant=lambda text: text,
)
