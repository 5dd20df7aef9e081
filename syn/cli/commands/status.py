"""`syn status`."""

from typing import Any

from syn.cli.output import count, out, place_of, table
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer


def render(answer: Answer) -> None:
    """The sum of all files, then every difference from the record."""
    data: Any = answer
    place = data["branch"] or (data["commit"] or "")[:12] or "no commit yet"
    out(f"workspace {data['workspace']} on {place}, {count(data['decisions'], 'decision')}")
    out(
        f"{count(data['files'], 'file')} = {data['facts']} facts + {data['new']} new + "
        f"{data['unreadable']} unreadable + {data['excluded']} excluded"
    )
    if data["edits"]:
        out()
        table((edit["kind"], edit["id"], _path(edit)) for edit in data["edits"])
        out()
        out("syn adopt records these; syn restore ID takes one back")
    if data["problems"]:
        out()
        for problem in data["problems"]:
            out(f"unreadable  {place_of(problem)}: {problem['message']}")
        out("syn doctor says what to do about each")
    if not data["edits"] and not data["problems"]:
        out("everything is as it is recorded")


def _path(edit: dict[str, str]) -> str:
    return f"{edit['was']} -> {edit['path']}" if "was" in edit else edit["path"]


app = read_command("status", render)
