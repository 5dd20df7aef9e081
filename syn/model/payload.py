"""What a fact says: the typed tree of its front matter (design 3.4)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

ScalarType: TypeAlias = Literal["int", "float", "bool", "null"]


@dataclass(frozen=True, slots=True)
class Lexical:
    """A plain scalar that YAML 1.2 core does not resolve to text, kept as it is written."""

    type: ScalarType
    text: str
    """The written text: `1.10`, `007`, `~`; never normalised."""


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping in source order; keys are the keys' written text and are unique."""

    items: tuple[tuple[str, "Value"], ...] = ()

    def get(self, key: str) -> "Value | None":
        """The value of `key`, or None when the key is absent (a written null is a `Lexical`)."""
        return next((value for name, value in self.items if name == key), None)

    def __iter__(self) -> Iterator[str]:
        """The keys, in source order."""
        return (name for name, _ in self.items)


Value: TypeAlias = str | Lexical | Mapping | tuple["Value", ...]


def scalar_text(value: Value | None) -> str | None:
    """The written text of a scalar; None for null, a collection or an absent value."""
    match value:
        case str():
            return value
        case Lexical(type="null"):
            return None
        case Lexical(text=text):
            return text
        case _:
            return None
