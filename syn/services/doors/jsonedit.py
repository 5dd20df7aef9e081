"""Changing one member of somebody else's JSON file: every other byte stays as it is.

Clients' configuration files are JSON with comments and trailing commas as often as not, so the
text is edited, not parsed and written again. The result is read again and compared before it is
given out: only the named member may differ.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

from syn.errors import RefusedError

_SPACE = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_COMMA = re.compile(_SPACE.pattern + ",", re.DOTALL)
_TAIL = re.compile(r"[ \t]*(?://[^\n\r]*|/\*[^\n]*?\*/)")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_ATOM = re.compile(r"[^\s,\]}\[{:\"/]+")
MAX_DEPTH = 64


class JsonEditError(RefusedError):
    """A file that is no JSON, or has something else where an object is needed."""

    def __init__(self, message: str) -> None:
        super().__init__("not-json", message, "mend the file, or add the server by hand")


@dataclass(frozen=True, slots=True)
class _Member:
    key: str
    start: int
    """Of the key's opening quote."""
    value: int
    """Of the value's first character."""
    end: int
    """After the value's last character."""


@dataclass(frozen=True, slots=True)
class _Object:
    start: int
    """Of the opening brace."""
    end: int
    """Of the closing brace."""
    members: tuple[_Member, ...]


def read(text: str) -> Any:
    """The value of a JSON text with comments and trailing commas; {} of an empty one.

    Raises:
        JsonEditError: it is none.
    """
    if not text.strip():
        return {}
    try:
        return json.loads(_plain(text))
    except (ValueError, RecursionError) as error:
        raise JsonEditError(f"expected JSON: {error}") from error


def set_member(text: str, path: tuple[str, ...], value: Any) -> str:
    """The text with one member set; objects on the way are made where they are missing.

    Raises:
        JsonEditError: the text is no JSON object, or a step of the path is something else.
    """
    before = read(text)
    if not text.strip():
        text = "{}\n"
    edited = _set(text, path, value)
    wanted = _with(before, path, value)
    if read(edited) != wanted:
        raise JsonEditError("the file cannot be edited safely")
    return edited


def remove_member(text: str, path: tuple[str, ...]) -> str:
    """The text without one member; unchanged when it is not there.

    Raises:
        JsonEditError: as `set_member`.
    """
    found = _root(text) if text.strip() else None
    for key in path[:-1]:
        member = _member(found, key)
        found = _object(text, member.value) if member else None
    member = _member(found, path[-1])
    if found is None or member is None:
        return text
    edited = _cut(text, found, member)
    wanted = read(text)
    inner = wanted
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    if read(edited) != wanted:
        raise JsonEditError("the file cannot be edited safely")
    return edited


def member_at(text: str, path: tuple[str, ...]) -> Any:
    """The value of one member, or None."""
    value = read(text)
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _with(value: Any, path: tuple[str, ...], new: Any) -> Any:
    if not path:
        return new
    if not isinstance(value, dict):
        raise JsonEditError(f"expected an object around {path[0]!r}")
    return {**value, path[0]: _with(value.get(path[0], {}), path[1:], new)}


def _set(text: str, path: tuple[str, ...], value: Any) -> str:
    found = _root(text)
    for depth, key in enumerate(path):
        member = _member(found, key)
        if member is None:
            for outer in reversed(path[depth + 1 :]):
                value = {outer: value}
            return _insert(text, found, key, value)
        if depth + 1 == len(path):
            shown = _render(value, _indent_of(text, member.start), _unit(text))
            return text[: member.value] + shown + text[member.end :]
        found = _object(text, member.value)
    raise AssertionError("a path has a last step")


def _insert(text: str, found: _Object, key: str, value: Any) -> str:
    """With a new last member, on a line of its own."""
    unit, newline = _unit(text), "\r\n" if "\r\n" in text else "\n"
    outer = _indent_of(text, found.start)
    inner = _indent_of(text, found.members[-1].start) if found.members else outer + unit
    line = f"{newline}{inner}{_render(key, '', unit)}: {_render(value, inner, unit)}"
    if not found.members:
        rest = text[found.start + 1 : found.end].rstrip()
        return f"{text[: found.start + 1]}{rest}{line}{newline}{outer}{text[found.end :]}"
    last = found.members[-1].end
    comma = _COMMA.match(text, last)
    if comma is not None:
        at = _end_of_line(text, comma.end())
        return f"{text[:at]}{line},{text[at:]}"
    at = _end_of_line(text, last)
    return f"{text[:last]},{text[last:at]}{line}{text[at:]}"


def _end_of_line(text: str, at: int) -> int:
    """Past a comment that stands behind a value on its line."""
    found = _TAIL.match(text, at)
    return found.end() if found else at


def _cut(text: str, found: _Object, member: _Member) -> str:
    """Without the member, its comma, and the line it stood on; comments of others stay."""
    at = found.members.index(member)
    after = _COMMA.match(text, member.end)
    if after is not None:
        rest = text[after.end() :]
        alone = rest.lstrip(" \t").startswith(("\n", "\r"))
        return (text[: member.start].rstrip() if alone else text[: member.start]) + rest
    before = text[: member.start].rstrip()
    if at > 0:
        previous = found.members[at - 1].end
        comma = _COMMA.match(text, previous)
        assert comma is not None  # noqa: S101 - two members have a comma between them
        before = before[: comma.end() - 1] + before[comma.end() :]
    return before + text[member.end :]


def _render(value: Any, indent: str, unit: str) -> str:
    shown = json.dumps(value, ensure_ascii=False, indent=unit)  # noqa: TID251 - another's file
    return shown.replace("\n", "\n" + indent)


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)\"", text)
    return found[1] if found else "  "


def _indent_of(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


# Reading: just enough to know where each member of an object stands.


def _root(text: str) -> _Object:
    read(text)
    return _object(text, _skip(text, 1 if text.startswith("\ufeff") else 0))


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _object(text: str, at: int) -> _Object:
    if text[at : at + 1] != "{":
        raise JsonEditError("expected an object")
    members = []
    place = _skip(text, at + 1)
    while text[place] != "}":
        key = _STRING.match(text, place)
        if key is None:
            raise JsonEditError("expected a member")
        colon = _skip(text, key.end())
        value = _skip(text, colon + 1)
        end = _after(text, value, 0)
        members.append(_Member(json.loads(key[0]), key.start(), value, end))
        place = _skip(text, end)
        if text[place] == ",":
            place = _skip(text, place + 1)
    return _Object(at, place, tuple(members))


def _after(text: str, at: int, depth: int) -> int:
    """Where a value ends; the text was read once, so it is sound."""
    if depth > MAX_DEPTH:
        raise JsonEditError("the file nests too deeply")
    if text[at] == '"':
        found = _STRING.match(text, at)
        return found.end() if found else at
    if text[at] not in "{[":
        found = _ATOM.match(text, at)
        return found.end() if found else at
    place = _skip(text, at + 1)
    while text[place] not in "}]":
        place = at_end = _after(text, place, depth + 1)
        place = _skip(text, place)
        if text[place] in ",:":
            place = _skip(text, place + 1)
        elif place == at_end and text[place] not in "}]":
            raise JsonEditError("expected a comma")
    return place + 1


def _member(found: _Object | None, key: str) -> _Member | None:
    """The member that counts: the last one of its name."""
    members = found.members if found else ()
    return next((m for m in reversed(members) if m.key == key), None)


def _plain(text: str) -> str:
    """The text without comments and trailing commas, strings left alone."""
    token = re.compile(
        _STRING.pattern + r"|//[^\n]*|/\*.*?\*/|,(?=" + _SPACE.pattern + r"[}\]])", re.DOTALL
    )
    return token.sub(lambda m: m[0] if m[0].startswith('"') else " ", text.removeprefix("\ufeff"))
