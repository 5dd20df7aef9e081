"""`syn doctor`."""

from typing import Any

from syn.cli.output import count, out, place_of
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer


def render(answer: Answer) -> None:
    """Each problem on a line as compilers print them, its remedy under it."""
    data: Any = answer
    for item in data["items"]:
        out(f"{place_of(item)}: {item['severity']}: {item['message']} [{item['code']}]")
        if item["remedy"]:
            out(f"    {item['remedy']}")
    links = {key: number for key, number in data["links"].items() if key != "resolved"}
    lost = ", ".join(f"{number} {key}" for key, number in sorted(links.items()))
    resolved = data["links"].get("resolved", 0)
    out(f"{count(data['total'], 'problem or warning', 'problems or warnings')}")
    out(f"links: {resolved} resolved" + (f", {lost}" if lost else ""))


app = read_command("doctor", render)
