"""Where a Markdown body can be cut so that its pieces hold the same blocks alone (ADR 0038).

A line that begins at column 0 after a blank line ends every list item, quotation, table, paragraph
and HTML block of kind 6 or 7 (CommonMark 0.31.2, 4.6, 5.1, 5.2). Only a fence or an HTML block of
kinds 1 to 5 that is open at the top level reaches over it. So a body is cut before such a line,
unless one of those is, or may be, open. Where it begins the next item of a list, two lists hold the
same as one. This is for bodies without reference definitions, since those count everywhere.
"""

import re
from collections.abc import Callable, Iterator

_CUT = re.compile(r"\n[ \t]*\n(?=[^ \t\n])")
"""A blank line before a line that begins at column 0."""
_CODE_OR_HTML = re.compile(r" {0,3}(?:```|~~~|<)")
_LINE_OF_CODE_OR_HTML = re.compile(r"\n {0,3}(?:```|~~~|<)")
"""A literal first makes the search several times as fast as `^`."""
_MARKER = re.compile(r"^ {0,3}(?:[-+*]|[0-9]{1,9}[.)])(?:[ \t]|$)", re.MULTILINE)
"""What opens a list item, or may."""
_FENCE = re.compile(r"( {0,3})(?:(`{3,})[^`]*|(~{3,}).*)\Z")
_HTML = (
    (re.compile(r" {0,3}<(?:script|pre|style|textarea)(?=\s|>|\Z)", re.IGNORECASE),
     re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)),
    (re.compile(r" {0,3}<!--"), re.compile("-->")),
    (re.compile(r" {0,3}<\?"), re.compile(r"\?>")),
    (re.compile(r" {0,3}<![A-Za-z]"), re.compile(">")),
    (re.compile(r" {0,3}<!\[CDATA\["), re.compile(r"\]\]>")),
)  # fmt: skip
"""HTML blocks of kinds 1 to 5: how one begins and what ends it."""


_DEFINITION = re.compile(
    r"^[ \t]*+(?:(?:>|(?:[-+*]|[0-9]{1,9}[.)])[ \t])[ \t]*)*+\[(?:[^\[\]\\]|\\.)*+\]:",
    re.MULTILINE | re.DOTALL,
)
"""The label of a reference definition: first on its line but for containers, without brackets."""


class _UnsureError(Exception):
    """What the lines are depends on a container; it never leaves this module."""


def pieces(body: str, is_closed: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Start and end of each piece, in order; together they are the body.

    Args:
        body: without reference definitions (`may_define`) and without CR.
        is_closed: asked of lines that cannot be told without a parser: whether a paragraph may
            begin after them.
    """
    start, closer = 0, None
    lines = f"\n{body}"  # so that each line follows an LF
    special = _LINE_OF_CODE_OR_HTML.search(lines) is not None
    for block, end in _blocks(body):
        if closer is None and not (special and _LINE_OF_CODE_OR_HTML.search(lines, block, end + 1)):
            yield start, end
            start = end
            continue
        try:
            closer = _open_after(body, block, end, closer)
        except _UnsureError:
            if end == len(body) or not is_closed(body[start:end]):
                break
            closer = None
        if closer is None:
            yield start, end
            start = end
    if start < len(body):
        yield start, len(body)


def may_define(body: str) -> bool:
    """Whether a body may hold a reference definition (CommonMark 4.7)."""
    return "]:" in body and _DEFINITION.search(body) is not None


def _blocks(body: str) -> Iterator[tuple[int, int]]:
    start = 0
    for cut in _CUT.finditer(body):
        yield start, cut.end()
        start = cut.end()
    if start < len(body):
        yield start, len(body)


def _open_after(
    body: str, start: int, end: int, closer: "re.Pattern[str] | None"
) -> "re.Pattern[str] | None":
    """What ends the top-level fence or HTML block that is still open after some lines, or None.

    The first of the lines, those from `start` to `end`, begins at column 0 after a blank one.
    `closer` is the same for the lines before.

    Raises:
        _UnsureError: a line may stand in a list item or in other HTML.
    """
    html, listed = False, _MARKER.search(body, start, end) is not None
    for line in body[start:end].split("\n"):
        if closer is not None:
            closer = None if closer.search(line) else closer
            continue
        html = html and bool(line.strip(" \t"))
        if _CODE_OR_HTML.match(line) is None:
            continue
        opened = _opened(line)
        if opened is None:
            html = html or line.lstrip(" ").startswith("<")
        elif html or (listed and line[0] == " "):
            raise _UnsureError
        else:
            closer = opened[0]
    return closer


def _opened(line: str) -> "tuple[re.Pattern[str] | None] | None":
    """What ends the fence or HTML block of kinds 1 to 5 that a line opens; None when it opens none.

    In the tuple None stands for one that ends on its line.
    """
    if (fence := _FENCE.match(line)) is not None:
        marks = fence[2] or fence[3]
        return (re.compile(rf"\A {{0,3}}{marks[0]}{{{len(marks)},}}[ \t]*\Z"),)
    for begins, ends in _HTML:
        if begins.match(line):
            return (None if ends.search(line) else ends,)
    return None
