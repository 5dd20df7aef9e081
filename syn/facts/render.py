"""Writing values so that every YAML reader reads the same (design 3.4).

Text is left plain only when it is letters, digits and a few marks and no word that YAML 1.1 or
1.2 takes for something else; all other text stands in double quotes on one line. A number, a
boolean or a null is written as it was read.
"""

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from syn.model.payload import Lexical, Mapping, Value

FieldValue: TypeAlias = Value
Quotes: TypeAlias = Literal["", "'", '"']

_PLAIN_TEXT = re.compile(r"[A-Za-z](?:[A-Za-z0-9_./ -]*[A-Za-z0-9])?")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_WORDS = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"))
_ESCAPED = re.compile('[\\\\"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]')
_NOT_SINGLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_SHORT = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def render(fields: Sequence[tuple[str, FieldValue]], body: str) -> bytes:
    """A new fact's file: front matter, one key a line in the given order, then the body."""
    lines = [line for key, value in fields for line in render_entry(key, value)]
    front = "".join(f"{line}\n" for line in lines)
    return f"---\n{front}---\n{body}".encode()


def render_entry(key: str, value: FieldValue) -> list[str]:
    """The lines of one key and its value; lists and mappings one item a line."""
    name = render_key(key)
    match value:
        case Mapping(items=items) if items:
            inner = [line for key, value in items for line in render_entry(key, value)]
            return [f"{name}:", *(f"  {line}" for line in inner)]
        case tuple() if value:
            return [f"{name}:", *(f"  {line}" for item in value for line in render_item(item))]
        case _:
            return [f"{name}: {render_inline(value)}".rstrip(" ")]


def render_item(item: FieldValue) -> list[str]:
    """The line of one item of a block list; collections inside a list are written inline."""
    return [f"- {render_inline(item)}".rstrip(" ")]


def render_key(key: str) -> str:
    """A key, quoted unless it is a name that no reader resolves."""
    if _PLAIN_KEY.fullmatch(key) and key.lower() not in _WORDS:
        return key
    return double_quoted(key)


def render_inline(value: FieldValue, quotes: Quotes = "") -> str:
    """A value on one line; `quotes` is the style that text had before and keeps if it can."""
    match value:
        case str():
            return render_text(value, quotes)
        case Lexical(text=text):
            return text
        case Mapping(items=items):
            inner = (f"{render_key(key)}: {render_inline(item)}" for key, item in items)
            return f"{{{', '.join(inner)}}}"
        case _:
            return f"[{', '.join(_item(item) for item in value)}]"


def render_text(text: str, quotes: Quotes = "") -> str:
    """Text in the quotes it had, or plain where that is safe, or in double quotes."""
    if quotes == "'" and not _NOT_SINGLE.search(text):
        return "'" + text.replace("'", "''") + "'"
    if quotes == "" and _PLAIN_TEXT.fullmatch(text) and text.lower() not in _WORDS:
        return text
    return double_quoted(text)


def double_quoted(text: str) -> str:
    """Text in double quotes, with the escapes that YAML 1.1 and 1.2 share."""
    return '"' + _ESCAPED.sub(_escape, text) + '"'


def _item(value: FieldValue) -> str:
    """An item of a flow list, where an empty null cannot be written: the nearest that can."""
    if isinstance(value, Lexical) and not value.text:
        return "~"
    return render_inline(value)


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}"  # noqa: PLR2004 - one byte
