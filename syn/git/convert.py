"""What git's built-in conversions make of a work-tree file when it is added: line ends and `$Id$`.

After `convert.c` of git and gitattributes(5): attributes `text`, `crlf`, `eol`, `ident` and the
settings `core.autocrlf`. Programs (`filter`) and encodings (`working-tree-encoding`) are not
applied here; a path that has one is told apart by `Conversion.opaque` (design 2, ADR 0008).
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

AttributeValue: TypeAlias = str | bool | None
"""A string, True (`text`), False (`-text`), None (unspecified)."""
LineEnds: TypeAlias = Literal["keep", "text", "auto"]

_IDENT = re.compile(rb"\$Id:[^$\n]*\$")
_CONTROLS = bytes(c for c in range(32) if c not in b"\b\t\n\r\x1b\x0c") + b"\x7f"


@dataclass(frozen=True, slots=True)
class Conversion:
    """What git would do to one path's bytes on their way into the repository."""

    line_ends: LineEnds = "keep"
    """`text`: every CRLF becomes LF; `auto`: only where the content is text."""
    ident: bool = False
    opaque: str = ""
    """`filter` or `working-tree-encoding`: only git itself, or a program, knows the blob."""

    @property
    def keeps_bytes(self) -> bool:
        """Whether the blob is the file, byte for byte."""
        return self.line_ends == "keep" and not self.ident and not self.opaque


KEEP = Conversion()


def conversion(attributes: dict[str, AttributeValue], autocrlf: str) -> Conversion:
    """The conversion for the attributes of a path; `autocrlf` is the setting's text, lower case."""
    return Conversion(
        _line_ends(attributes, autocrlf), attributes.get("ident") is True, _opaque(attributes)
    )


def to_git(data: bytes, how: Conversion, indexed: bytes | None = None) -> bytes:
    """The bytes git would store; `indexed` is the blob that is staged for the path, if any.

    With `auto`, a file whose staged blob already holds CRLF keeps its line ends, as in git.
    """
    if how.line_ends != "keep" and b"\r\n" in data and _may_strip(data, how.line_ends, indexed):
        data = data.replace(b"\r\n", b"\n")
    if how.ident and b"$Id:" in data:
        data = _IDENT.sub(b"$Id$", data)
    return data


def looks_binary(data: bytes) -> bool:
    """Git's own guess: a lone CR, a NUL, or more than one control character in 128."""
    if b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return True
    controls = len(data) - len(data.translate(None, _CONTROLS))
    if data.endswith(b"\x1a"):
        controls -= 1
    printable = len(data) - controls - data.count(b"\n") - data.count(b"\r")
    return printable >> 7 < controls


def _may_strip(data: bytes, line_ends: LineEnds, indexed: bytes | None) -> bool:
    if line_ends == "text":
        return True
    if looks_binary(data):
        return False
    return indexed is None or b"\r\n" not in indexed or looks_binary(indexed)


def _line_ends(attributes: dict[str, AttributeValue], autocrlf: str) -> LineEnds:
    action = _text_action(attributes.get("text"))
    if action is None:
        action = _text_action(attributes.get("crlf"))
    if action == "keep" or action == "auto":  # noqa: PLR1714 - a set would not narrow the type
        return action
    if attributes.get("eol") in {"lf", "crlf"}:
        return "text"
    if action is None:
        return "auto" if autocrlf in {"true", "input", "yes", "on", "1"} else "keep"
    return action


def _text_action(value: AttributeValue) -> LineEnds | None:
    match value:
        case True | "input":
            return "text"
        case False:
            return "keep"
        case "auto":
            return "auto"
        case _:
            return None


def _opaque(attributes: dict[str, AttributeValue]) -> str:
    for name in ("filter", "working-tree-encoding"):
        value = attributes.get(name)
        if isinstance(value, str) and value and value.upper() not in {"UTF-8", "UTF8"}:
            return name
    return ""
