"""Finding the front matter: what opens it, what closes it, and what only looks like it."""

import re
from dataclasses import dataclass

from syn.facts.collector import Collector, quote

FRONT_LINE = 2
"""Line of the file on which front matter starts."""

_OPEN = re.compile(r"---[ \t]*(?:\r?\n|\Z)")
_CLOSE = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_OTHER_FENCE = re.compile(r"(\+\+\+|;;;|---(?:yaml|yml|toml|json))[ \t]*\r?\n")
_SMART_DASHES = re.compile(
    r"(?P<dashes>[-\u2010-\u2015\u2212\ufe58\ufe63\uff0d]{1,6})[ \t]*\r?\n"
    r"[A-Za-z_][\w .-]*:[ \t\r\n]"
    r"(?s:.*?)^(?P=dashes)[ \t]*\r?$",
    re.MULTILINE,
)
"""Front matter whose dashes an editor turned into longer ones."""
_JSON_OBJECT = re.compile(r"\{[ \t]*\r?\n[ \t]*\"[^\"\n]*\"[ \t]*:")
_LATE_OPEN = re.compile(
    r"---(?P<comment>[ \t]+#[^\n]*)?[ \t]*\r?\n(?:[ \t]*#[^\n]*\n)*+"
    r"[ \t]*(?!-)[^\s#:][^\n:]*:(?=[ \t\r\n])"
)
_NEAR_CLOSE = re.compile(
    r"^(\.\.\.|-{4,}|\+\+\+|[ \t]+---|[\u2013\u2014]+)[ \t]*\r?$", re.MULTILINE
)
_DOTS = re.compile(r"^\.\.\.(?=\s|$)", re.MULTILINE)
_BEFORE = re.compile(
    r"(?:[\ufeff\u200b\u2060\u00a0\x0c\u2028\u2029\x85 \t\r\n]+|<!--.*?-->)*", re.DOTALL
)
"""What keeps front matter from being first without being seen as text."""
_USE_DASHES = "open and close front matter with a line that is exactly ---"


@dataclass(frozen=True, slots=True)
class Parts:
    """A file's text, split at its front matter."""

    front: str | None
    """The text between the two delimiter lines; None when there is no front matter."""
    body: str
    body_line: int
    """Line of the file on which the body starts, from 1."""


def split(text: str, collector: Collector) -> Parts | None:
    """Split a text without its byte order mark; None, with a problem, when that is unsafe."""
    opening = _OPEN.match(text)
    if opening is None:
        return None if _looks_like_front_matter(text, collector) else Parts(None, text, 1)
    closing = _CLOSE.search(text, opening.end())
    if closing is None:
        _report_unclosed(text, opening.end(), collector)
        return None
    front = text[opening.end() : closing.start()]
    _report_dots(front, collector)
    start = closing.end()
    if text.startswith("\n", start):
        start += 1
    return Parts(front, text[start:], 1 + text.count("\n", 0, start))


def near_close(front: str) -> tuple[int, str] | None:
    """The first line that was meant to close front matter: its file line and its text."""
    found = _NEAR_CLOSE.search(front)
    if found is None:
        return None
    return FRONT_LINE + front.count("\n", 0, found.start()), found[1].strip()


def _report_unclosed(text: str, start: int, collector: Collector) -> None:
    near = near_close(text[start:])
    hint = f"; line {near[0]} is {quote(near[1])}" if near else ""
    collector.problem(
        near[0] if near else 1,
        "unclosed-front-matter",
        f"expected a line that is exactly --- to close the front matter, got none{hint}",
        _USE_DASHES,
    )


def _report_dots(front: str, collector: Collector) -> None:
    if (found := _DOTS.search(front)) is not None:
        collector.problem(
            FRONT_LINE + front.count("\n", 0, found.start()),
            "dots-delimiter",
            "expected one document closed by ---, got ... inside the front matter",
            _USE_DASHES,
        )


def _looks_like_front_matter(text: str, collector: Collector) -> bool:
    """Whether a file without front matter was meant to have some; reports it."""
    if "\r" in text and (text.startswith("---\r") or "\n" not in text):
        collector.problem(
            1,
            "cr-line-ends",
            "expected LF or CRLF line ends, got CR alone",
            "convert the line ends to LF",
        )
    elif (other := _OTHER_FENCE.match(text)) is not None:
        collector.problem(
            1,
            "other-front-matter",
            f"expected --- on the first line, got {other[1]}",
            "convert the front matter to YAML between lines of ---",
        )
    elif (smart := _SMART_DASHES.match(text)) is not None and not smart["dashes"].isascii():
        collector.problem(
            1,
            "other-front-matter",
            f"expected --- on the first line, got {smart['dashes']}, which are other dashes",
            _USE_DASHES,
        )
    elif _JSON_OBJECT.match(text):
        collector.problem(
            1,
            "other-front-matter",
            "expected --- on the first line, got a JSON object",
            "convert the front matter to YAML between lines of ---",
        )
    elif (line := _late_opening(text)) is not None:
        collector.problem(
            line,
            "late-front-matter",
            "the first line of the file is not exactly ---, so this is no front matter",
            "remove what stands before or beside the first ---",
        )
    else:
        return False
    return True


def _late_opening(text: str) -> int | None:
    """The line of front matter that blanks, comments or invisible characters keep from counting."""
    before = _BEFORE.match(text)
    start = before.end() if before is not None else 0
    opening = _LATE_OPEN.match(text, start)
    if opening is None or not (start or opening["comment"]):
        return None
    if not _CLOSE.search(text, opening.end()):
        return None
    return 1 + text.count("\n", 0, start)
