"""Front matter of plain lines, read without YAML's own scanner: several times as fast (ADR 0003).

Most front matter is keys with a word, a number, a date or a short list after them, nested or not.
What this module reads, the strict reader (`front_matter`) reads the same way; the tests hold one
against the other. Whatever is not plain to the last character (block text, anchors, tabs, escapes,
several lines to one value, two equal keys …) is left to the strict reader.
"""

import re
from collections.abc import Sequence
from typing import TypeAlias

from syn.facts.front_values import FrontMatter, Scalar, Watch
from syn.facts.scalars import resolve
from syn.facts.split import FRONT_LINE
from syn.model.payload import Lexical, Mapping, Value

_SIZE = 32_000
"""Characters; so there are never too many nodes, and no key is too long for a scanner."""
_DEPTH = 8
_ITEM = r"(?:[A-Za-z0-9_][A-Za-z0-9_./]*(?:[ -][A-Za-z0-9_./]+)*|\"[^\"\\\n]*\"|'[^'\n]*')"
_LINES = re.compile(
    r"^(?: *(?:#[^\n]*)?|( *)(- +)?(?:([A-Za-z_][A-Za-z0-9_-]*):(?=[ \n]))? *(?:"
    r"([^ \n:#,\[\]{}&*!|>'\"%@`?\-](?:[^\n:#]|:(?=[^ \n])|(?<=[^ ])#)*)"
    r"|(\"[^\"\\\n]*\"|'[^'\n]*')"
    rf"|(\[(?:{_ITEM}(?:, ?{_ITEM})*)?\]))?"
    r"( +#[^\n]*)? *)\n",
    re.MULTILINE,
)
_ITEMS = re.compile(_ITEM)
_SPECIAL = re.compile("[\x7f-\xa0\u2028\u2029\ufeff]")

_Line: TypeAlias = tuple[str, str, str, str, str, str, str]
"""Indentation, dash with blanks, key, plain value, quoted value, list in brackets, comment."""
_NOTHING: _Line = ("", "", "", "", "", "", "")
"""A blank line or a comment."""


class _NotPlainError(Exception):
    """The strict reader has to decide; it never leaves this module."""


def read(front: str, watch: Watch) -> FrontMatter | None:
    """Read front matter that is plain; None when the strict reader has to.

    Args:
        front: the text between the delimiter lines.
        watch: top-level keys whose scalars are noted with their lines.
    """
    if len(front) > _SIZE or "\t" in front or "\r" in front or front[-1:] != "\n":
        return None
    if not front.isascii() and _SPECIAL.search(front):
        return None
    lines: list[_Line] = _LINES.findall(front)
    numbers: Sequence[int] = range(FRONT_LINE, FRONT_LINE + len(lines))
    # As many matches as lines: every line is plain.
    whole = len(lines) == front.count("\n")
    if not all(map(any, lines)):
        numbers = [n for n, line in zip(numbers, lines, strict=True) if any(line)]
        lines = [line for line in lines if any(line)]
    if not whole or not lines or lines[0][:2] != ("", ""):
        return None
    reader = _Reader(lines, numbers, watch)
    try:
        top = reader.mapping(0)
    except _NotPlainError:
        return None
    whole = reader.at == len(lines)
    return FrontMatter(top, tuple(reader.key_lines), tuple(reader.scalars)) if whole else None


class _Reader:
    """The lines, how far they are read, and what a later step looks at."""

    def __init__(self, lines: list[_Line], numbers: Sequence[int], watch: Watch) -> None:
        self.lines = [*lines, _NOTHING]
        self.numbers = numbers
        self.watched = watch.values
        self.cuttable = watch.values | watch.comments
        self.at = 0
        self.depth = 0
        self.top_key = ""
        self.key_lines: list[tuple[str, int]] = []
        self.scalars: list[Scalar] = []

    def mapping(self, indent: int) -> Mapping:
        """Keys at one indentation; the first may stand behind the dash of an item."""
        found: dict[str, Value] = {}
        lines, top = self.lines, not self.depth
        self.depth += 1
        if self.depth > _DEPTH:
            raise _NotPlainError
        while True:
            key = lines[self.at][2]
            if not key or key in found:
                raise _NotPlainError
            if top:
                self.top_key = key
                self.key_lines.append((key, self.numbers[self.at]))
            found[key] = self._value(indent)
            blanks, dash, key, *_ = lines[self.at]
            if dash or len(blanks) != indent or not key:
                break
        self.depth -= 1
        return Mapping(tuple(found.items()))

    def _value(self, indent: int) -> Value:
        """What stands behind a key, or below it."""
        _, _, _, plain, quoted, flow, comment = self.lines[self.at]
        if plain or quoted or flow:
            return self._scalar(indent)
        # The strict reader knows where an empty value stands, and what a comment cuts.
        if comment and self.top_key in self.cuttable:
            raise _NotPlainError
        self.at += 1
        blanks, dash, key, *_ = self.lines[self.at]
        if dash and len(blanks) >= indent:
            return self._sequence(len(blanks))
        if key and len(blanks) > indent:
            return self.mapping(len(blanks))
        if self.top_key in self.watched or len(blanks) > indent:
            raise _NotPlainError
        return _NULL

    def _sequence(self, indent: int) -> Value:
        found: list[Value] = []
        self.depth += 1
        while True:
            blanks, dash, key, plain, quoted, flow, _ = self.lines[self.at]
            if not dash or len(blanks) != indent:
                break
            if key:
                found.append(self.mapping(indent + len(dash)))
            elif plain or quoted or flow:
                found.append(self._scalar(indent))
            else:
                raise _NotPlainError
        self.depth -= 1
        return tuple(found)

    def _scalar(self, indent: int) -> Value:
        """The value on this line, which must not go on in the next one."""
        _, _, _, plain, quoted, flow, comment = self.lines[self.at]
        if comment and (self.top_key in self.cuttable or "[[" in plain):
            raise _NotPlainError
        value: Value
        if plain:
            value = resolve(plain.rstrip(" "))
        elif quoted:
            value = quoted[1:-1]
        else:
            value = tuple(map(_item, _ITEMS.findall(flow)))
        if "[[" in plain or "[[" in quoted or "[[" in flow or self.top_key in self.watched:
            self._note(value)
        self.at += 1
        if len(self.lines[self.at][0]) > indent:
            raise _NotPlainError
        return value

    def _note(self, value: Value) -> None:
        line = self.numbers[self.at]
        for item in value if isinstance(value, tuple) else (value,):
            text = item.text if isinstance(item, Lexical) else str(item)
            if isinstance(item, Lexical) and item.type == "null":
                text = ""
            if "[[" in text or self.top_key in self.watched:
                self.scalars.append(Scalar(self.top_key, text, line, line, cut=False))


_NULL = resolve("")


def _item(text: str) -> Value:
    return text[1:-1] if text[0] in "\"'" else resolve(text)
