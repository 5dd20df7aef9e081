"""`syn blame`."""

from typing import Any

from syn.cli.output import out, table
from syn.cli.reading import read_command
from syn.services.recall.answers import Answer


def render(answer: Answer) -> None:
    """One decision per line, oldest first; `*` marks the one that holds."""
    data: Any = answer
    out(f"{data['fact']}  {data['path'] or '(gone)'}")
    table(
        (
            "*" if item.get("head") else " ",
            item["id"][7:19],
            item["ts"][:19].replace("T", " "),
            item["type"],
            item.get("via", ""),
            item.get("review", ""),
            item["actor"],
            ", ".join(item.get("fields", [])),
            _why(item),
        )
        for item in data["items"]
    )


def _why(item: dict[str, Any]) -> str:
    parts = [item.get("reason", "")]
    if item.get("proposal"):
        parts.append(f"proposal {item['proposal'][7:19]}")
    if item.get("names"):
        parts.append(f"names {', '.join(name[7:19] for name in item['names'])}")
    return "; ".join(part for part in parts if part)


app = read_command("blame", render)
