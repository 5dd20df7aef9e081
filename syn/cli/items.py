"""Lists of facts on a terminal."""

from typing import Any

from syn.cli.output import note, table
from syn.services.recall.answers import Answer


def render_items(answer: Answer) -> None:
    """Ids and titles on stdout; what was withheld, and where the list goes on, on stderr."""
    data: Any = answer
    shown = [item for item in data["items"] if "withheld" not in item and "error" not in item]
    table((item["id"], item.get("type") or "-", _title(item), item["path"]) for item in shown)
    for item in data["items"]:
        if "withheld" in item:
            note(f"withheld: {item['id']} ({item['path']}): {item['reason']}; {item['remedy']}")
        elif "error" in item:
            note(f"{item['message']}; {item['remedy']}")
    if data["next"]:
        note(f"{len(data['items'])} of {data['total']}; --cursor {data['next']} goes on")
    elif not data["items"]:
        note("no fact matches")


def _title(item: dict[str, Any]) -> str:
    marks = [
        item["state"] if item.get("state") not in (None, "recorded") else "",
        "tainted" if item.get("taint") else "",
        "quarantined" if item.get("quarantined") else "",
    ]
    marked = ", ".join(mark for mark in marks if mark)
    return f"{item['title']} [{marked}]" if marked else str(item["title"])
