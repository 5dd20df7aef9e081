"""Attribute files (gitattributes(5)): parsed and matched here.

libgit2 looks attributes up one at a time and through git's index, whose objects it reads itself; it
neither reads every index nor comes back from every damaged object (ADR 0007, 0008).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from syn.git.convert import AttributeValue
from syn.git.wildmatch import compile_pattern

_BLANK: Final = b" \t\r\n"
_LONGEST: Final = 2048
_NAME: Final = re.compile(rb"[A-Za-z0-9_.][A-Za-z0-9_.-]*\Z")
_MACRO: Final = b"[attr]"
_ESCAPES: Final = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
}

States = tuple[tuple[str, AttributeValue], ...]
BINARY: Final[Mapping[str, States]] = {
    "binary": (("diff", False), ("merge", False), ("text", False))
}


@dataclass(frozen=True, slots=True)
class Rule:
    """One line: a pattern and what it sets."""

    pattern: re.Pattern[bytes]
    by_name: bool
    """Matches the last component only: the pattern holds no slash."""
    states: States
    """In the order of the line; None is `!attr`: unspecified, whatever other lines say."""


@dataclass(frozen=True, slots=True)
class RuleFile:
    """One attribute file."""

    folder: bytes
    """The folder it stands in, with a slash; b"" at the root and outside of the work tree."""
    rules: tuple[Rule, ...]
    macros: Mapping[str, States]


def parse_rules(
    data: bytes, folder: bytes = b"", *, macros: bool = True, fold_case: bool = False
) -> RuleFile:
    """An attribute file; lines git would not understand are passed over, as git does.

    Args:
        data: the file's bytes.
        folder: where it stands, with a final slash; b"" for the root.
        macros: whether `[attr]` lines count, as they do at the root and outside.
        fold_case: `core.ignoreCase`.
    """
    rules: list[Rule] = []
    defined: dict[str, States] = {}
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        text = line.lstrip(_BLANK)
        if not text or text.startswith(b"#") or len(line) >= _LONGEST:
            continue
        pattern, rest = _pattern(text)
        states = _states(rest)
        if states is None:
            continue
        if pattern.startswith(_MACRO) and not text.startswith(b'"'):
            name = pattern.removeprefix(_MACRO)
            if macros and _NAME.match(name):
                defined[name.decode()] = states
        elif not pattern.startswith(b"!") and not pattern.endswith(b"/"):
            # A negative pattern is forbidden, and one for folders matches no file.
            by_name = b"/" not in pattern
            compiled = compile_pattern(pattern.removeprefix(b"/"), fold_case=fold_case)
            rules.append(Rule(compiled, by_name, states))
    return RuleFile(folder, tuple(rules), defined)


def attributes_of(path: bytes, files: Iterable[RuleFile]) -> dict[str, AttributeValue]:
    """What the files say of a path; the first of them counts most, and its last line."""
    ordered = list(files)
    macros: dict[str, States] = dict(BINARY)
    for file in reversed(ordered):
        macros.update(file.macros)
    found: dict[str, AttributeValue] = {}
    for file in ordered:
        below = path.removeprefix(file.folder)
        name = below.rpartition(b"/")[2]
        for rule in reversed(file.rules):
            if rule.pattern.fullmatch(name if rule.by_name else below):
                _fill(found, rule.states, macros)
    return found


def _fill(found: dict[str, AttributeValue], states: States, macros: Mapping[str, States]) -> None:
    for name, value in reversed(states):
        if name not in found:
            found[name] = value
            if value is True and name in macros:
                _fill(found, macros[name], macros)


def _pattern(text: bytes) -> tuple[bytes, bytes]:
    if text.startswith(b'"'):
        quoted = re.match(rb'"((?:[^"\\]|\\.)*)"', text, re.DOTALL)
        if quoted is not None:
            return _unquote(quoted[1]), text[quoted.end() :]
    pattern, *rest = text.split(None, 1)
    return pattern, rest[0] if rest else b""


def _unquote(text: bytes) -> bytes:
    def plain(match: "re.Match[bytes]") -> bytes:
        digits: bytes = match[1]
        if digits.isdigit():
            return bytes([int(digits, 8) & 0xFF])
        return _ESCAPES.get(digits, digits)

    return re.sub(rb"\\([0-3][0-7]{2}|.)", plain, text, flags=re.DOTALL)


def _states(text: bytes) -> States | None:
    found: list[tuple[str, AttributeValue]] = []
    for word in text.split():
        name, equals, value = word.partition(b"=")
        if word[:1] in {b"-", b"!"}:
            name = name[1:]
        if not _NAME.match(name):
            return None  # git drops the whole line
        if word[:1] == b"-":
            found.append((name.decode(), False))
        elif word[:1] == b"!":
            found.append((name.decode(), None))
        else:
            found.append((name.decode(), value.decode("utf-8", "replace") if equals else True))
    return tuple(found)
