"""`syn health`."""

from typing import Any

from syn.cli.output import out
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer


def render(answer: Answer) -> None:
    """One concern on a line, its remedy under it."""
    data: Any = answer
    for item in data["items"]:
        out(f"{item['severity']}: {item['message']} [{item['code']}]")
        if item["remedy"]:
            out(f"    {item['remedy']}")
    if not data["items"]:
        out("nothing needs attention")


app = read_command("health", render)
