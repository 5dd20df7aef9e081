"""Every command of the program, as the program itself builds them."""

import re
from collections.abc import Iterator
from typing import Any

from syn.cli.app import build

EXAMPLE = re.compile(r"^\s*Example: (.+)$", re.MULTILINE)


def walk() -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group with the words that call it, `syn` first; sorted by those words."""
    yield from _below(("syn",), build())


def _below(words: tuple[str, ...], command: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    yield words, command
    inner = getattr(command, "commands", {})
    for name in sorted(inner):
        yield from _below((*words, name), inner.get(name))
