"""`syn show`."""

from typing import Any

from syn.cli.output import block, note, out
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer

_LINES = (
    "id",
    "path",
    "type",
    "status",
    "subject",
    "field",
    "value",
    "valid_from",
    "valid_to",
    "tags",
    "supersedes",
    "superseded_by",
    "record",
    "taint",
)


def render(answer: Answer) -> None:
    """The fact as text, or why it is not handed out (exit status 1)."""
    data: Any = answer
    if "withheld" in data:
        note(f"syn: {data['id']} ({data['path']}) is withheld: {data['reason']}")
        note(f"     {data['remedy']}")
        return
    out(f"{data['title']}")
    shown = [(name.replace("_", " "), data[name]) for name in _LINES if data.get(name)]
    width = max(len(label) for label, _ in shown)
    for label, value in shown:
        out(f"  {label:<{width}}  {', '.join(value) if isinstance(value, list) else value}")
    out()
    block(data["body"])
    if data.get("truncated"):
        note(f"{data['body_length']:,} characters in all; --start {data['next']} goes on")


app = read_command("show", render)
