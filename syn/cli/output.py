"""Writing to the terminal: JSON, tables, progress. Text from facts is escaped on its way out."""

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from syn.model.finding import Json
from syn.report import escape


def print_json(value: Json) -> None:
    """One JSON object on stdout, one line, safe on a terminal."""
    sys.stdout.write(escape.json_text(value) + "\n")


def out(text: str = "") -> None:
    """A line of a command's result, on stdout."""
    sys.stdout.write(escape.printable(text, data=True) + "\n")


def block(text: str) -> None:
    """A text of several lines on stdout."""
    sys.stdout.write(escape.block(text).rstrip("\n") + "\n")


def note(text: str) -> None:
    """A line of talk, on stderr."""
    sys.stderr.write(escape.printable(text) + "\n")


def count(number: int, one: str, many: str = "") -> str:
    """`1 fact`, `2 facts`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def place_of(item: Mapping[str, Any]) -> str:
    """`path:line` of a problem, as compilers print it; the path alone where there is no line."""
    return f"{item['path']}:{item['line']}" if item["line"] else str(item["path"])


def table(rows: Iterable[Sequence[str]]) -> None:
    """Aligned columns on stdout; cells come from facts and are escaped."""
    cells = [[escape.printable(cell, data=True) for cell in row] for row in rows]
    if not cells:
        return
    width = _width(cells)
    widths = [max(width(row[i]) for row in cells) for i in range(len(cells[0]))]
    for row in cells:
        line = "  ".join(c + " " * (w - width(c)) for c, w in zip(row, widths, strict=True))
        sys.stdout.write(line.rstrip() + "\n")


def _width(cells: list[list[str]]) -> Callable[[str], int]:
    """How many columns a text takes; Rich's tables are loaded only for text that needs them."""
    if all(cell.isascii() for row in cells for cell in row):
        return len
    from rich.cells import cell_len

    return cell_len


def on_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()
