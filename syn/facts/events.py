"""The YAML event stream under the strict reader: libyaml where PyYAML has it, else pure Python.

Both read the same text the same way (ADR 0003): only LF and CRLF are line ends, so the
characters that YAML 1.1 also breaks lines at (NEL, LS, PS) and the byte order mark are replaced
by stand-ins of the same length before, and put back after.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol, cast

import yaml

from syn.facts.pure_yaml import PureParser

_OPEN_ENDED = ("found unexpected end", "found unexpected document", "could not find")
"""Faults that show only long after the line where they start."""
_SPECIAL = re.compile("[\x85\u2028\u2029\ufeff]")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_STAND_IN_RANGES = (range(0xE000, 0xF900), range(0xF0000, 0xFFFFE), range(0x100000, 0x10FFFE))


@dataclass(frozen=True, slots=True)
class Prepared:
    """Front matter made safe for a YAML 1.1 scanner; same length, same lines."""

    text: str
    originals: dict[int, str]
    """Stand-in code point → the character it stands for; empty for nearly every file."""

    def restore(self, value: str) -> str:
        """Put the original characters back into a value."""
        return value.translate(self.originals) if self.originals else value


def prepare(front: str) -> Prepared:
    """Replace the characters that only YAML 1.1 takes as line breaks or as a mark."""
    found = sorted(set(_SPECIAL.findall(front)))
    if not found:
        return Prepared(front, {})
    free = _unused(front)
    stand_ins = {original: next(free) for original in found}
    text = front.translate({ord(original): code for original, code in stand_ins.items()})
    return Prepared(text, {code: original for original, code in stand_ins.items()})


def _unused(front: str) -> Iterator[int]:
    """Private code points that stand in the text neither as they are nor as an escape.

    Front matter is capped at 256 KiB, which cannot hold all of them.
    """
    used = {ord(char) for char in set(front)}
    used |= {int(short or long, 16) for short, long in _ESCAPE.findall(front)}
    return (code for codes in _STAND_IN_RANGES for code in codes if code not in used)


class Mark(Protocol):
    """A place in the text; both numbers count from 0."""

    line: int
    index: int
    """In characters."""


class Event(Protocol):
    """What the events of both scanners carry; each kind has some of it."""

    start_mark: Mark
    end_mark: Mark
    anchor: str | None
    tag: str | None
    value: str
    style: str | None
    """`'`, `"`, `|`, `>`, or nothing for a plain scalar."""
    explicit: bool
    """The document starts with `---`."""
    flow_style: bool | None
    """The collection is written in brackets or braces."""


def next_event(text: str, *, pure: bool = False) -> Callable[[], Event | None]:
    """A function that gives the next event of a prepared text, and None after the last.

    It raises `yaml.MarkedYAMLError` where the text is not YAML; the marks count from 0.
    """
    if pure or not yaml.__with_libyaml__:
        return cast("Callable[[], Event | None]", PureParser(text).get_event)
    # the stub does not export what the module does
    from yaml.cyaml import CParser  # type: ignore[attr-defined]

    return cast("Callable[[], Event | None]", CParser(text).get_event)


def fault_line(error: yaml.MarkedYAMLError) -> int:
    """The line, from 0, that a person has to look at; the same for both scanners."""
    mark = error.problem_mark
    start = error.context_mark
    if start is not None and (error.problem or "").startswith(_OPEN_ENDED):
        return int(start.line)
    return int(mark.line) if mark is not None else 0
