"""`syn log`."""

from typing import Any

from syn.cli.output import out, table
from syn.cli.reading import read_command
from syn.services.answers import Answer


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
    if data["total"] > len(data["items"]):
        out(f"{len(data['items'])} of {data['total']} decisions; --limit shows more")


app = read_command("log", render)
