"""`syn overview`."""

from typing import Any

from syn.cli.output import count, out
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer


def render(answer: Answer) -> None:
    """What there is on a few lines."""
    data: Any = answer
    place = f"{data['branch'] or '-'} at {(data['commit'] or '-')[:12]}"
    out(f"{data['name'] or data['workspace']}  {place}")
    out(f"{count(data['facts'], 'fact')}, {count(data['decisions'], 'decision')}")
    for name in ("types", "status", "subjects", "tags"):
        shown = ", ".join(f"{item['name']} ({item['facts']})" for item in data[name][:8])
        if shown:
            out(f"{name:<9} {shown}")
    newest = data["newest"]
    if newest:
        out(f"newest    {newest['ts'][:19]}Z {newest['action']} {newest['fact']} {newest['actor']}")
    if data["concerns"]:
        out(f"{count(data['concerns'], 'concern')}: syn health")


app = read_command("overview", render)
