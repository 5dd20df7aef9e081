"""`syn diff`."""

from typing import Any

from syn.cli.changes import render_fields
from syn.cli.output import note, out
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer
from syn.services.recall.fielddiff import FieldChange


def render(answer: Answer) -> None:
    """Each fact that differs, and its fields before and after."""
    data: Any = answer
    for item in data["items"]:
        moved = f"{item['was']} -> " if "was" in item else ""
        out(f"{item['change']}  {item['id']}  {moved}{item['path']}")
        if "withheld" in item:
            out(f"  withheld: {item['withheld']}")
        found = item.get("fields", [])
        render_fields(FieldChange(f["field"], f["before"], f["after"]) for f in found)
    if data["total"] > len(data["items"]):
        note(f"{len(data['items'])} of {data['total']}; --limit shows more")
    if not data["items"]:
        note("nothing differs")


app = read_command("diff", render)
