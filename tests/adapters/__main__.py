"""`python -m tests.adapters`: run agent-memory-integrity against syn, write its table to docs/."""

import importlib
import sys
from dataclasses import dataclass
from typing import Any

from syn.canon import json as canonical
from tests.adapters.agmi import build
from tests.support.shared import ROOT

PAGE = ROOT / "docs" / "agent-memory-integrity.md"
RESULT = ROOT / "docs" / "agent-memory-integrity.json"
VERSION = "0.6.3"
BEGIN, END = "<!-- results -->\n", "<!-- end of results -->\n"


@dataclass(frozen=True, slots=True)
class Cell:
    """What one attack made of one adapter."""

    attack: str
    what: str
    tool: str
    status: str
    said: str


def cells() -> list[Cell]:
    """Run the nine attacks against both adapters.

    Raises:
        ImportError: the package is not installed.
    """
    base: Any = importlib.import_module("agmi.adapters.base")
    attacks: Any = importlib.import_module("agmi.attacks.at_rest")
    found = []
    for witness in (False, True):
        adapter = build(base.MemoryAdapter, base.Record, witness=witness)
        for kind in attacks.AT_REST_ATTACKS_WITH_SNAPSHOT:
            attack = kind()
            result = attack.run(adapter)
            note = result.guard or result.error
            said = note or (adapter.verify_detail if result.detected else "") or ""
            found.append(Cell(attack.name, attack.description, adapter.name, result.status, said))
    return found


def table(found: list[Cell]) -> str:
    """The results as a Markdown table, one attack a row."""
    alone = {cell.attack: cell for cell in found[: len(found) // 2]}
    pinned = {cell.attack: cell for cell in found[len(found) // 2 :]}
    lines = ["| | attack | workspace alone | pinned witness | what syn says |", "| --- " * 5 + "|"]
    for number, (name, cell) in enumerate(alone.items(), 1):
        said = pinned[name].said.partition(": ")[2] or pinned[name].said
        lines.append(f"| T{number} | {name} | {cell.status} | {pinned[name].status} | {said} |")
    return "\n".join(lines) + "\n"


def page(text: str, found: list[Cell]) -> str:
    """The page with these results between its marks."""
    head, _, rest = text.partition(BEGIN)
    return f"{head}{BEGIN}{table(found)}{END}{rest.partition(END)[2]}"


def result_file(found: list[Cell]) -> bytes:
    """The results for a program."""
    rows = [{"attack": c.attack, "said": c.said, "status": c.status, "tool": c.tool} for c in found]
    return canonical.encode({"results": rows, "suite": f"agent-memory-integrity {VERSION}"}) + b"\n"


def main() -> int:
    """Write the page and the result file; the status is 1 when the witness missed something."""
    found = cells()
    PAGE.write_text(page(PAGE.read_text("utf-8"), found), "utf-8")
    RESULT.write_bytes(result_file(found))
    sys.stdout.write(table(found))
    return 0 if all(c.status == "safe" for c in found[len(found) // 2 :]) else 1


if __name__ == "__main__":
    sys.exit(main())
