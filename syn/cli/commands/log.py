"""`syn log`."""

from typing import Any

from syn.cli.output import note, table
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer


def render(answer: Answer) -> None:
    """One decision per line, newest first."""
    data: Any = answer
    table(
        (
            item["id"][7:19],
            item["ts"][:19].replace("T", " "),
            item["type"],
            item.get("fact") or item["path"],
            item.get("via", ""),
            item.get("review", ""),
            item["actor"],
            item.get("reason", ""),
        )
        for item in data["items"]
    )
    if data["next"]:
        note(f"{len(data['items'])} of {data['total']} decisions; --cursor {data['next']} goes on")


app = read_command("log", render)
