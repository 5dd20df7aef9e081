"""Lines in the shape of OpenSSH's allowed-signers file (ssh-keygen(1), "ALLOWED SIGNERS").

`principals [options] key-type base64-key [comment]`: principals and option values may stand in
double quotes. What the options mean is the caller's: trust files take OpenSSH's, the policy its
own.
"""

import re
from dataclasses import dataclass

from syn.errors import CannotError
from syn.keys.public import KEY_TYPE, OTHER_TYPES

KEY_TYPES = OTHER_TYPES | {KEY_TYPE}
_WORD = re.compile(r'(?:"[^"]*"|[^\s"])+')
_OPTION = re.compile(r'([A-Za-z][A-Za-z-]*)(?:="([^"]*)")?(?:,|\Z)')
_QUOTED = re.compile(r'"([^"]*)"\Z')


class SignerLineError(CannotError):
    """A line that has another shape (`signers-form`)."""


@dataclass(frozen=True, slots=True)
class SignerLine:
    """One line, taken apart."""

    principals: str
    """As written, without quotes; may be a pattern list."""
    options: tuple[tuple[str, str | None], ...]
    """Pairs (lower-case name, value or None), in order; a name stands at most once."""
    key_type: str
    encoded: str
    """The key's Base64."""
    comment: str
    """Runs of blanks are one space."""


def parse(line: str) -> SignerLine:
    """Take one line apart; the line is not blank and no comment.

    Raises:
        SignerLineError: it has another shape.
    """
    principals, rest = _word(line)
    first, tail = _word(rest)
    options: tuple[tuple[str, str | None], ...] = ()
    if first not in KEY_TYPES:
        options = _options(first)
        first, tail = _word(tail)
    if first not in KEY_TYPES:
        raise _form(f"expected a key type such as {KEY_TYPE}, got {first[:40]!r}")
    encoded, comment = _word(tail)
    quoted = _QUOTED.match(principals)
    name = quoted.group(1) if quoted else principals
    if not name or '"' in name:
        raise _form("expected a name before the key")
    return SignerLine(name, options, first, encoded, " ".join(comment.split()))


def _word(text: str) -> tuple[str, str]:
    text = text.lstrip(" \t")
    match = _WORD.match(text)
    if not match:
        raise _form("the line ends early or has an open quote")
    end = match.end()
    if end < len(text) and text[end] not in " \t":
        raise _form("the line has an open quote")
    return match.group(), text[end:]


def _options(word: str) -> tuple[tuple[str, str | None], ...]:
    result: dict[str, str | None] = {}
    position = 0
    while position < len(word):
        match = _OPTION.match(word, position)
        if not match or (match.end() == len(word) and word.endswith(",")):
            raise _form(f'expected options like name="value", got {word[position:][:40]!r}')
        name = match.group(1).lower()
        if name in result:
            raise _form(f"the option {name} stands twice")
        result[name] = match.group(2)
        position = match.end()
    return tuple(result.items())


def _form(message: str) -> SignerLineError:
    return SignerLineError("signers-form", message)
