"""What is looked for in front matter, and what it says; apart from the reader that needs YAML."""

from dataclasses import dataclass

from syn.model.payload import Mapping


@dataclass(frozen=True, slots=True)
class Watch:
    """Top-level keys whose scalars are noted with their lines."""

    values: frozenset[str] = frozenset()
    """All of them: relation fields."""
    comments: frozenset[str] = frozenset()
    """Those that a comment cuts: reserved keys."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """One scalar that a later step looks at: under a watched key, or with a link in it."""

    key: str
    """The top-level key it stands under."""
    text: str
    """What it says; nothing for a null."""
    line: int
    """Line of the file on which it starts."""
    last_line: int
    cut: bool
    """It is plain and a comment follows it on its line."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What front matter says, and where."""

    fields: Mapping
    key_lines: tuple[tuple[str, int], ...] = ()
    """Top-level keys with their lines in the file."""
    scalars: tuple[Scalar, ...] = ()
    odd_keys: tuple[tuple[str, int], ...] = ()
    """Keys at any depth that are not ASCII, with their lines, for the look-alike check."""
