"""The difference of two texts, for a terminal: lines, and inside changed lines, words.

What is invisible is made visible, so that a change of it shows: a carriage return, a zero-width
space, a no-break space. Without colour the changed words stand in `[-old-]` and `{+new+}`.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import Literal, TypeAlias

from syn.report.escape import printable

CONTEXT = 3
"""Unchanged lines shown around a change."""
MAX_LINES = 20_000
"""Lines of both texts after which the changed middle is shown whole, line by line unmatched."""
MAX_WORDS = 2_000
"""Words of two lines after which they are shown whole."""

Sign: TypeAlias = Literal[" ", "-", "+"]

_WORD = re.compile(r"\w+|\s+|[^\w\s]")
_NO_NEWLINE = "\\ no line end at the end of the text"


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a line."""

    text: str
    """As it is, not yet made printable."""
    changed: bool


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a difference."""

    sign: Sign
    spans: tuple[Span, ...]
    ended: bool = True
    """Whether the line has a line end; only the last of a text may have none."""


@dataclass(frozen=True, slots=True)
class Hunk:
    """Changed lines with what stands around them."""

    old_line: int
    """First line in the old text, from 1."""
    new_line: int
    lines: tuple[Line, ...]


def compare(old: str, new: str, *, context: int = CONTEXT) -> tuple[Hunk, ...]:
    """The changes from `old` to `new`; empty when they are equal.

    Lines end at LF only, so that a change of CRLF to LF is a change of every line it touches.
    """
    before, after = _lines(old), _lines(new)
    groups = _groups(_opcodes(before, after), context)
    return tuple(_hunk(before, after, group) for group in groups)


def render(old: str, new: str, *, color: bool, context: int = CONTEXT) -> str:
    """The changes as text that ends in LF; "" when there are none."""
    parts = []
    for hunk in compare(old, new, context=context):
        parts.append(_paint(f"@@ line {hunk.old_line} -> line {hunk.new_line} @@", "36", color))
        for line in hunk.lines:
            parts.append(_line(line, color))
            if not line.ended:
                parts.append(_NO_NEWLINE)
    return "".join(f"{part}\n" for part in parts)


_Opcode: TypeAlias = tuple[str, int, int, int, int]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    ended = [f"{line}\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def _opcodes(before: Sequence[str], after: Sequence[str]) -> list[_Opcode]:
    """Matching blocks: equal ends are set aside first, which leaves the matcher little to do."""
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old_end, new_end = len(before) - tail, len(after) - tail
    codes: list[_Opcode] = [("equal", 0, head, 0, head)] if head else []
    codes += _middle(before[head:old_end], after[head:new_end], head)
    if tail:
        codes.append(("equal", old_end, len(before), new_end, len(after)))
    return codes


def _middle(before: Sequence[str], after: Sequence[str], offset: int) -> list[_Opcode]:
    if not before and not after:
        return []
    if len(before) + len(after) > MAX_LINES:
        found: Sequence[_Opcode] = [("replace", 0, len(before), 0, len(after))]
    else:
        found = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    return [(tag, a + offset, b + offset, c + offset, d + offset) for tag, a, b, c, d in found]


def _common(before: Sequence[str], after: Sequence[str]) -> int:
    count = 0
    for one, other in zip(before, after, strict=False):
        if one != other:
            break
        count += 1
    return count


def _groups(codes: Sequence[_Opcode], context: int) -> Iterator[list[_Opcode]]:
    """Runs of changes with `context` equal lines around; long equal stretches part them."""
    group: list[_Opcode] = []
    for n, (tag, a, b, c, d) in enumerate(codes):
        if tag != "equal":
            group.append((tag, a, b, c, d))
            continue
        last = n == len(codes) - 1
        if group and (last or b - a > 2 * context):
            keep = min(context, b - a)
            yield [*group, (tag, a, a + keep, c, c + keep)]
            group = []
        if not last:
            skip = 0 if group else max(b - a - context, 0)
            group.append((tag, a + skip, b, c + skip, d))
    if group:
        yield group


def _hunk(before: Sequence[str], after: Sequence[str], group: Sequence[_Opcode]) -> Hunk:
    lines: list[Line] = []
    for tag, a, b, c, d in group:
        if tag == "equal":
            lines += [_whole(" ", text, changed=False) for text in before[a:b]]
        elif tag == "replace":
            lines += _replaced(before[a:b], after[c:d])
        else:
            lines += [_whole("-", text, changed=False) for text in before[a:b]]
            lines += [_whole("+", text, changed=False) for text in after[c:d]]
    return Hunk(group[0][1] + 1, group[0][3] + 1, tuple(lines))


def _replaced(before: Sequence[str], after: Sequence[str]) -> list[Line]:
    """Lines of a replaced block, paired in order; what has no partner is shown whole."""
    removed: list[Line] = []
    added: list[Line] = []
    for old, new in zip_longest(before, after):
        if old is None:
            added.append(_whole("+", new, changed=False))
        elif new is None:
            removed.append(_whole("-", old, changed=False))
        else:
            gone, come = _words(old, new)
            removed.append(gone)
            added.append(come)
    return removed + added


def _words(old: str, new: str) -> tuple[Line, Line]:
    before, after = _WORD.findall(old.rstrip("\n")), _WORD.findall(new.rstrip("\n"))
    if len(before) + len(after) > MAX_WORDS:
        return _whole("-", old, changed=False), _whole("+", new, changed=False)
    gone: list[Span] = []
    come: list[Span] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        changed = tag != "equal"
        gone += [Span("".join(before[a:b]), changed)] * (b > a)
        come += [Span("".join(after[c:d]), changed)] * (d > c)
    return (
        Line("-", tuple(gone), old.endswith("\n")),
        Line("+", tuple(come), new.endswith("\n")),
    )


def _whole(sign: Sign, text: str, *, changed: bool) -> Line:
    return Line(sign, (Span(text.removesuffix("\n"), changed),), text.endswith("\n"))


_MARKS: dict[Sign, tuple[str, str]] = {" ": ("", ""), "-": ("[-", "-]"), "+": ("{+", "+}")}
_COLOR: dict[Sign, str] = {" ": "", "-": "31", "+": "32"}


def _line(line: Line, color: bool) -> str:
    code = _COLOR[line.sign]
    partly = any(not span.changed for span in line.spans)
    parts = [_paint(f"{line.sign} ", code, color)]
    for span in line.spans:
        text = "\t".join(printable(part) for part in span.text.split("\t"))
        if span.changed and color:
            parts.append(_paint(text, f"{code};7", color))
        elif span.changed and partly:
            opening, closing = _MARKS[line.sign]
            parts.append(f"{opening}{text}{closing}")
        else:
            parts.append(_paint(text, code, color))
    return "".join(parts)


def _paint(text: str, code: str, color: bool) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if color and code and text else text
