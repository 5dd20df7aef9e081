"""Descriptors: the one line of a page that an index shows (docs/formats/image.md)."""

import re

from syn.images.table import Page

LINE_LIMIT = 120
"""Bytes of the first line that a descriptor keeps, even when the cut is inside a character."""

SEAL_DETAILS = ("refuted witness", "tightened re-screen", "metadata tamper")
"""What the reference program puts between reason and size when a scrub or dream seals a page."""

_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""What Go's `strings.TrimSpace` trims; Python's own idea of white space is wider."""
_ASCII_SPACE = b"\t\n\v\f\r "
_ASCII_SPACES = tuple(bytes([space]) for space in _ASCII_SPACE)
_PLAIN_START = re.compile(rb"([!-~][ -~]{%d})[!-~]" % (LINE_LIMIT - 1))
"""A line that begins with a visible ASCII character and has one beyond the cut: what comes after
can neither be trimmed into the cut nor change a byte before it."""
_PLAIN_LINE = re.compile(rb"([!-~](?:[ -~]*[!-~])?)\s*\n")
"""A line of visible ASCII that ends before the cut."""
_ESCAPED = re.compile("[\udc80-\udcff]")
_REASON = re.compile(r"[A-Z][A-Z0-9_]{0,63}\Z")
_SEAL_ID = re.compile(r"q[1-9][0-9]{0,17}\Z")


def first_line(body: bytes | memoryview) -> str:
    r"""The first non-blank line of a body, trimmed and cut at 120 bytes.

    Invalid UTF-8, and the rest of a character that the cut splits, become one U+FFFD a byte.
    """
    if (plain := _PLAIN_START.match(body) or _PLAIN_LINE.match(body, 0, LINE_LIMIT)) is not None:
        return plain[1].decode("ascii")
    body = bytes(body)
    if body[:1] in _ASCII_SPACES:
        body = body.lstrip(_ASCII_SPACE)
    end = body.find(b"\n")
    line = body if end < 0 else body[:end]
    if line.isascii():
        return line.rstrip(_ASCII_SPACE)[:LINE_LIMIT].decode("ascii")
    return _first_line_of_text(body)


def _first_line_of_text(body: bytes) -> str:
    text = body.decode("utf-8", "surrogateescape").lstrip(_SPACE)
    line = text.split("\n", 1)[0].rstrip(_SPACE)
    cut = line.encode("utf-8", "surrogateescape")[:LINE_LIMIT]
    return _ESCAPED.sub("\ufffd", cut.decode("utf-8", "surrogateescape"))


def benign_descriptor(role: str, line: str) -> str:
    """The descriptor of an unsealed page whose body starts with `line`."""
    return f"{role}: {line}" if line else role


def sealed_descriptor(role: str, reason: str, length: int, detail: str = "") -> str:
    """The descriptor of a sealed page: metadata only, never a byte of the body."""
    middle = f"{reason}, {detail}" if detail else reason
    return f"{role}: [sealed: {middle}, {length} bytes]"


def is_sealed_form(page: Page, lengths: tuple[int, ...]) -> bool:
    """Whether a sealed page's descriptor is the metadata-only form, with one of the lengths."""
    return any(
        page.descriptor == sealed_descriptor(page.role, page.reason, length, detail)
        for length in lengths
        for detail in ("", *SEAL_DETAILS)
    )


def has_seal_detail(page: Page) -> bool:
    """Whether the descriptor says that a scrub or dream sealed the page, not the recorder."""
    return page.descriptor in {
        sealed_descriptor(page.role, page.reason, page.length, detail) for detail in SEAL_DETAILS
    }


def is_reason(text: str) -> bool:
    """Whether a seal reason is a plain code; anything else could carry text out of the body."""
    return _REASON.match(text) is not None


def is_seal_id(text: str) -> bool:
    """Whether the text is a seal id: `q1`, `q2`, ..."""
    return _SEAL_ID.match(text) is not None
