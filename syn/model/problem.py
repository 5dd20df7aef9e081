"""What is wrong with one file, as a value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """A fault in a user's file: a problem or a warning, by the list it stands in."""

    path: str
    """Path from the root, `/`-separated, unprintable bytes escaped (`display_path`)."""
    line: int
    """Line in the file, from 1; 0 when the fault has no line (a bad name, a twin)."""
    code: str
    """Stable, kebab-case: `duplicate-key`, `not-utf8`, `unquoted-link`."""
    message: str
    """Lower case, names its subject, "expected X, got Y"; never holds more than a short quote."""
    remedy: str
    """What the person can do."""


def display_path(path: bytes) -> str:
    r"""A git path as text: UTF-8 where it is, `\xNN` for every byte that is not printable UTF-8."""
    text = path.decode("utf-8", "backslashreplace")
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
