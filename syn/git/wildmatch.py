"""Git's path patterns as regular expressions (`wildmatch.c`; gitignore(5), "PATTERN FORMAT")."""

import re
from typing import Final

_NEVER: Final = re.compile(rb"(?!)")
_CLASSES: Final = {
    b"alnum": rb"0-9A-Za-z",
    b"alpha": rb"A-Za-z",
    b"blank": rb" \t",
    b"cntrl": rb"\x00-\x1f\x7f",
    b"digit": rb"0-9",
    b"graph": rb"\x21-\x7e",
    b"lower": rb"a-z",
    b"print": rb"\x20-\x7e",
    b"punct": rb"!-/:-@\[-`{-~",
    b"space": rb"\t\n\x0b\x0c\r ",
    b"upper": rb"A-Z",
    b"xdigit": rb"0-9A-Fa-f",
}


class _UnfinishedError(ValueError):
    """A pattern that ends inside a bracket or an escape: it matches nothing."""


def compile_pattern(pattern: bytes, *, fold_case: bool = False) -> re.Pattern[bytes]:
    """A pattern as a regular expression for `fullmatch`.

    `*` and `?` do not match a slash; `**` does where it is a whole component. A pattern that git
    cannot finish matches nothing, as in git.
    """
    try:
        text = _translate(pattern)
    except _UnfinishedError:
        return _NEVER
    return re.compile(text, re.DOTALL | (re.IGNORECASE if fold_case else 0))


def _translate(pattern: bytes) -> bytes:
    parts: list[bytes] = []
    at = 0
    while at < len(pattern):
        char = pattern[at : at + 1]
        if char == b"*":
            part, at = _stars(pattern, at)
        elif char == b"[":
            part, at = _bracket(pattern, at + 1)
        elif char == b"?":
            part, at = rb"[^/]", at + 1
        elif char == b"\\":
            if at + 1 == len(pattern):
                raise _UnfinishedError
            part, at = re.escape(pattern[at + 1 : at + 2]), at + 2
        else:
            part, at = re.escape(char), at + 1
        parts.append(part)
    return b"".join(parts)


def _stars(pattern: bytes, at: int) -> tuple[bytes, int]:
    end = at
    while pattern[end : end + 1] == b"*":
        end += 1
    starts = at == 0 or pattern[at - 1 : at] == b"/"
    rest = pattern[end:]
    if end - at == 1 or not starts or not (rest == b"" or rest.startswith((b"/", rb"\/"))):
        return rb"[^/]*", end
    if rest.startswith(b"/"):
        # `**/` also matches no folder at all.
        return rb"(?:.*/)?", end + 1
    return rb".*", end


def _bracket(pattern: bytes, at: int) -> tuple[bytes, int]:
    negated = pattern[at : at + 1] in {b"!", b"^"}
    at += negated
    members: list[bytes] = []
    first = True
    while first or pattern[at : at + 1] != b"]":
        first = False
        name = re.compile(rb"\[:([^\]]*?):\]").match(pattern, at)
        if name is not None:
            if name[1] not in _CLASSES:
                raise _UnfinishedError
            members.append(_CLASSES[name[1]])
            at = name.end()
            continue
        low, at = _member(pattern, at)
        if pattern[at : at + 1] == b"-" and pattern[at + 1 : at + 2] not in {b"]", b""}:
            high, at = _member(pattern, at + 1)
            members += [re.escape(low) + b"-" + re.escape(high)] if low <= high else []
        else:
            members.append(re.escape(low))
    if not members:
        return (rb"[^/]" if negated else rb"(?!)"), at + 1
    chars = b"".join(members)
    # A bracket never matches a slash, whatever it lists.
    return rb"(?!/)[" + (b"^" if negated else b"") + chars + b"]", at + 1


def _member(pattern: bytes, at: int) -> tuple[bytes, int]:
    if pattern[at : at + 1] == b"\\":
        at += 1
    char = pattern[at : at + 1]
    if not char:
        raise _UnfinishedError
    return char, at + 1
