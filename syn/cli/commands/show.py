"""`syn show`."""

from typing import Any

from syn.cli.output import block, note, out
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer

_LINES = (
    ("type", "type"),
    ("status", "status"),
    ("subject", "subject"),
    ("field", "field"),
    ("value", "value"),
    ("valid_from", "valid from"),
    ("valid_to", "valid to"),
)


def render(answer: Answer) -> None:
    """The fact as text, or why it is not handed out (exit status 1)."""
    data: Any = answer
    if "withheld" in data:
        note(f"syn: {data['id']} ({data['path']}) is withheld: {data['reason']}")
        note(f"     {data['remedy']}")
        return
    out(f"{data['title']}")
    out(f"  id          {data['id']}")
    out(f"  path        {data['path']}")
    for key, label in _LINES:
        if data.get(key):
            out(f"  {label:<10}  {data[key]}")
    for key in ("tags", "supersedes", "superseded_by"):
        if data.get(key):
            out(f"  {key.replace('_', ' '):<13} {', '.join(data[key])}")
    out(f"  record      {data['record']}")
    if data.get("taint"):
        out(f"  taint       {data['taint']}")
    out()
    block(data["body"])
    if data.get("truncated"):
        note(f"{data['body_length']:,} characters in all; --start {data['next']} goes on")


app = read_command("show", render)
