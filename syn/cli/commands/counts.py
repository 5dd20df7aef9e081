"""`syn counts`."""

from typing import Any

from syn.cli.output import out
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer


def render(answer: Answer) -> None:
    """One number per line; groups under their name."""
    data: Any = answer
    for name, value in data.items():
        if isinstance(value, dict):
            out(f"{name}")
            for key, number in sorted(value.items()):
                out(f"  {number:>8,}  {key or '(none)'}")
        else:
            out(f"{value:>10,}  {name}")


app = read_command("counts", render)
