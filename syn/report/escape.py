r"""Text from facts, made safe to show (design 14, docs/formats/report.md "Text that is shown").

A fact's text may hold bytes that drive a terminal, reorder a line or hide inside it. `printable`
replaces each of them by a visible escape: `\x1b`, `\u202e`, `\U000e0041`. The result is for eyes:
a backslash of the text itself is left alone, so it cannot be turned back. The exact text stands in
the JSON forms.

Two rules for two purposes. Where text *identifies* something (an id, a path, a finding, a diff, a
question) every invisible character is escaped, joiners and look-alike spaces too. Where text is
only *read* (`data=True`: a title in a list, a body) what ordinary writing needs is kept: joiners
inside Persian, Indic and emoji text, emoji and ideographic variation selectors, and the spaces of
French and Chinese. Direction controls, tag characters and everything that drives a terminal are
escaped under both.
"""

import re
from collections.abc import Iterator

from syn.canon.json import render

_CONTROLS = r"\x00-\x1f\x7f-\x9f"
_DIRECTION = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2028\u2029\u2060-\u2065"
    r"\u206a-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e00ff\U000e01f0-\U000e0fff"
)
"""Default-ignorable code points of Unicode 16 and what else draws nothing, tags included."""
_NOT_CHARACTERS = r"\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff" + "".join(
    f"\\U{plane:04x}fffe\\U{plane:04x}ffff" for plane in range(1, 17)
)
_JOINERS = r"\u200c\u200d"
_SELECTORS = r"\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SPACES = r"\u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000"

_ALWAYS = _CONTROLS + _DIRECTION + _INVISIBLE + _NOT_CHARACTERS
_STRICT = re.compile(f"[{_ALWAYS}{_JOINERS}{_SELECTORS}{_SPACES}]")
_CURSIVE = (
    r"\u0600-\u08ff\u0900-\u0dff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u1800-\u18af\ufb50-\ufdcf"
    r"\ufdf0-\ufdff\ufe70-\ufefc"
)
"""Scripts in which a joiner between two letters changes how they are written."""
_PICTURE = r"\u203c-\u3299\U0001f000-\U0001faff"
_IDEOGRAPH = r"\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_DATA = re.compile(
    f"[{_ALWAYS}]"
    rf"|(?<![{_CURSIVE}{_PICTURE}\ufe0f])[{_JOINERS}]"
    rf"|[{_JOINERS}](?![{_CURSIVE}{_PICTURE}])"
    rf"|(?<![{_PICTURE}#*0-9\xa9\xae])[\ufe0e\ufe0f]"
    rf"|(?<![{_IDEOGRAPH}])[\U000e0100-\U000e01ef]"
    r"|[\ufe00-\ufe0d]"
)
_SUSPECT = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
    f"{_DIRECTION}{_INVISIBLE}{_NOT_CHARACTERS}{_JOINERS}{_SELECTORS}]"
    r"|\r(?!\n)"
)
"""Everything `_DATA` could find in a text of several lines: a search that is fast in plain text."""
_SURROGATE = re.compile(r"[\ud800-\udfff]")


def printable(text: str, *, data: bool = False) -> str:
    """One line of text for a terminal or a page; line breaks and tabs are escaped too.

    Args:
        text: any text, lone surrogates included.
        data: keep the invisible characters that ordinary writing needs (see the module).
    """
    if text.isascii() and text.isprintable():
        return text
    if not data:
        return _STRICT.sub(_visible, text)
    # The strict rule escapes all that the other does, and its search costs a third.
    return _DATA.sub(_visible, text) if _STRICT.search(text) else text


def block(text: str, *, data: bool = True) -> str:
    """Several lines for a terminal: LF and tabs are kept, CRLF is shown as LF, the rest escaped."""
    lines = text.replace("\r\n", "\n").split("\n")
    return "\n".join("\t".join(printable(p, data=data) for p in line.split("\t")) for line in lines)


def hidden(text: str) -> Iterator[tuple[int, str]]:
    """Every character that `block` escapes in a text that is read: its offset, and itself.

    Line ends (LF, CRLF) and tabs are what they seem; so is what ordinary writing needs.
    """
    if not _SUSPECT.search(text):
        return
    for found in _DATA.finditer(text):
        char = found[0]
        crlf = char == "\r" and text[found.end() : found.end() + 1] == "\n"
        if char not in "\n\t" and not crlf:
            yield found.start(), char


def encodable(text: str) -> str:
    r"""The text with every lone surrogate as `\udXXX`, so that it can be encoded and signed."""
    return _SURROGATE.sub(_visible, text)


def clip(text: str, limit: int) -> str:
    """At most `limit` characters; what is cut is counted, never dropped silently."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… ({len(text) - limit} more characters)"


def json_text(value: object) -> str:
    r"""A value as one line of JSON that a terminal can be given.

    The same value as its canonical form and the same spelling but for characters that are invisible
    or drive a terminal, which are written `\uXXXX`; keys may be any text. Text with a lone
    surrogate must have gone through `encodable`.

    Raises:
        CanonError: the value has no canonical form, keys apart.
    """
    return _STRICT.sub(_json_escape, render(value))


def _visible(match: re.Match[str]) -> str:
    code = ord(match[0])
    match code:
        case 0x09:
            return "\\t"
        case 0x0A:
            return "\\n"
        case 0x0D:
            return "\\r"
        case _ if code <= 0xFF:  # noqa: PLR2004 - the widest code of the two-digit escape
            return f"\\x{code:02x}"
        case _ if code <= 0xFFFF:  # noqa: PLR2004 - the basic plane
            return f"\\u{code:04x}"
        case _:
            return f"\\U{code:08x}"


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
