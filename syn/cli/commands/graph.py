"""`syn graph`."""

from typing import Any

from syn.cli.output import note, out, table
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer


def render(answer: Answer) -> None:
    """Every tie on a line; facts that are not handed out, and links that lead nowhere, under it."""
    data: Any = answer
    table((edge["from"], f"-{edge['kind']}->", edge["to"]) for edge in data["edges"])
    for item in data["items"]:
        if "withheld" in item:
            note(f"withheld: {item['id']} ({item['path']}): {item['reason']}; {item['remedy']}")
    for link in data["dangling"]:
        note(f"{link['path']}:{link['line']}: {link['target']} is {link['outcome']}")
    if not data["edges"]:
        out("no ties")
    if data.get("truncated"):
        note("there are more; --limit shows them")


app = read_command("graph", render)
