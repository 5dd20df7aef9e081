"""Writing to the terminal: JSON, tables, progress. Text from facts is escaped on its way out."""

import sys
from collections.abc import Iterable, Sequence

from syn.canon import json as canonical
from syn.model.finding import Json
from syn.report.escape import printable


def print_json(value: Json) -> None:
    """One JSON object on stdout, keys sorted, one line, LF."""
    sys.stdout.write(canonical.encode(value).decode() + "\n")


def out(text: str = "") -> None:
    """A line of a command's result, on stdout."""
    sys.stdout.write(printable(text) + "\n")


def note(text: str) -> None:
    """A line of talk, on stderr."""
    sys.stderr.write(printable(text) + "\n")


def table(rows: Iterable[Sequence[str]]) -> None:
    """Aligned columns on stdout; cells come from facts and are escaped."""
    cells = [[printable(cell) for cell in row] for row in rows]
    if not cells:
        return
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")


def on_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()
