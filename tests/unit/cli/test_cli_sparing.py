"""Values that are right already are not coerced, and the others as Typer does it."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command

from syn.cli.sparing import spare_group

app = typer.Typer(add_completion=False)


@app.command("see")
def see(
    words: Annotated[list[str], typer.Argument()],
    name: str = "x",
    count: int = 3,
    few: Annotated[int, typer.Option(min=1, max=5)] = 2,
    tags: Annotated[list[str] | None, typer.Option("--tag")] = None,
) -> None:
    seen.append((words, name, count, few, tags))


@app.command("look")
def look(
    places: list[Path],
    place: Path = Path("here"),
    there: Annotated[Path | None, typer.Option(exists=True)] = None,
) -> None:
    seen.append((places, place, there))


@app.command()
def other() -> None:
    pass


seen: list[tuple[Any, ...]] = []

LINES = [
    ["see", "a"],
    ["see", "a", "b", "--name", "7", "--count", "7", "--tag", "t", "--tag", "u"],
    ["see", "a", "--few", "5"],
    ["look", "a", "--place", "a/../b"],
    ["look", "a", "--there", "/no/such/place"],
    ["look", "a", "--there", "/"],
    ["look", "a", "b//c"],
    ["look"],
    ["see", "a", "--few", "6"],
    ["see", "a", "--count", "many"],
    ["see"],
]


def outcome(command: Any, line: list[str]) -> object:
    seen.clear()
    try:
        command.main(args=line, standalone_mode=False)
    except Exception as error:  # noqa: BLE001 - whatever it is, both must raise it
        return type(error).__name__, str(error)
    return list(seen)


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_sparing_changes_no_value_and_no_error(line: list[str]) -> None:
    assert outcome(spare_group(get_command(app)), line) == outcome(get_command(app), line)


def test_a_plain_command_does_not_load_pydantic() -> None:
    code = (
        "import sys; from syn.cli.app import build; "
        "command = build(); context = command.make_context('syn', ['-C', '.', 'show', 'x']); "
        "inner = command.get_command(context, 'show'); "
        "inner.make_context('show', ['x'], parent=context); "
        "print('pydantic' in sys.modules, 'markdown_it' in sys.modules, "
        "'cryptography.hazmat' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "False False False\n"
