"""Writing to the terminal: JSON, tables, progress. Text from facts is escaped on its way out."""

import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TextIO

from syn.model.finding import Json
from syn.report import escape


def print_json(value: Json) -> None:
    """One JSON object on stdout, one line, safe on a terminal."""
    sys.stdout.write(escape.json_text(value) + "\n")


def out(text: str = "") -> None:
    """A line of a command's result, on stdout."""
    _write_line(sys.stdout, escape.printable(text, data=True))


def block(text: str) -> None:
    """A text of several lines on stdout."""
    sys.stdout.write(escape.block(text).rstrip("\n") + "\n")


def note(text: str) -> None:
    """A line of talk, on stderr."""
    _write_line(sys.stderr, escape.printable(text))


def _write_line(stream: TextIO, text: str) -> None:
    """One line; on a terminal that is too narrow for it, several with whole words."""
    width, columns = _width([[text]]), _columns(stream)
    bare = text.lstrip(" ")
    indent = text[: len(text) - len(bare)]
    fits = width(text) <= columns
    lines = (
        [text] if fits else [indent + line for line in flow([bare], columns - len(indent), width)]
    )
    stream.write("".join(f"{line}\n" for line in lines))


def _columns(stream: TextIO) -> int:
    """How wide the terminal is that a stream goes to; a pipe is as wide as it needs to be."""
    return shutil.get_terminal_size().columns if stream.isatty() else sys.maxsize


def count(number: int, one: str, many: str = "") -> str:
    """`1 fact`, `2 facts`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def place_of(item: Mapping[str, Any]) -> str:
    """`path:line` of a problem, as compilers print it; the path alone where there is no line."""
    return f"{item['path']}:{item['line']}" if item["line"] else str(item["path"])


def table(rows: Iterable[Sequence[str]]) -> None:
    """Aligned columns on stdout; cells come from facts and are escaped.

    On a terminal that is too narrow for them, each row flows over lines of its own. In a pipe a row
    is always one line.
    """
    cells = [[escape.printable(cell, data=True) for cell in row] for row in rows]
    if not cells:
        return
    width = _width(cells)
    widths = [max(width(row[i]) for row in cells) for i in range(len(cells[0]))]
    columns = _columns(sys.stdout)
    if sum(widths) + 2 * (len(widths) - 1) > columns:
        lines = [line for row in cells for line in flow(row, columns, width)]
    else:
        lines = [
            "  ".join(c + " " * (w - width(c)) for c, w in zip(row, widths, strict=True))
            for row in cells
        ]
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in lines))


def flow(row: Sequence[str], columns: int, width: Callable[[str], int] = len) -> Iterator[str]:
    """A row over as many lines as it needs, those after the first indented.

    A word is never cut, however long: an id or a path stays one that can be copied.
    """
    line, room = "", columns
    for cell in row:
        for place, word in enumerate(cell.split(" ")):
            gap = ("  " if place == 0 else " ") if line.strip() else ""
            if line.strip() and width(gap) + width(word) > room:
                yield line.rstrip()
                line, gap, room = "  ", "", columns - 2
            line += gap + word
            room -= width(gap) + width(word)
    yield line


def _width(cells: list[list[str]]) -> Callable[[str], int]:
    """How many columns a text takes; Rich's tables are loaded only for text that needs them."""
    if all(cell.isascii() for row in cells for cell in row):
        return len
    from rich.cells import cell_len

    return cell_len


def on_terminal() -> bool:
    """Whether a person can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()
