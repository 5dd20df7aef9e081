"""docs/walkthrough.md is run, command by command, and what it shows is what is printed."""

import re
import shlex
from pathlib import Path

from syn.services.recall.indexing import read_workspace
from tests.support.cli import Ran, syn_here
from tests.support.shared import ROOT
from tests.support.workspaces import Place, make_place

_EDIT = re.compile(r'edit (\S+): "(.*)" -> "(.*)"')
_DAY = re.compile(r"## (\d{4}-\d\d-\d\d)")


class _Walk:
    """Runs the page's lines in one workspace."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.day = "2026-01-01"
        self.names: dict[str, str] = {}
        self.ran: Ran | None = None
        self.shown: list[str] = []
        self.checked = 0

    def line(self, line: str) -> None:
        """One line of a console block."""
        if line.startswith("$ syn "):
            self.finish()
            self.command(line.removeprefix("$ syn "))
        elif found := _EDIT.fullmatch(line.removeprefix("$ ")):
            self.finish()
            file = self.place.root / found[1]
            file.write_text(file.read_text().replace(found[2], found[3]))
        else:
            self.shown.append(line)

    def command(self, text: str) -> None:
        if "$UNDO" in text:
            state = read_workspace(self.place.open()).ledger.recorded["limit"]
            self.names["$UNDO"] = state.heads[0][7:19]
        words = [self.names.get(word, word) for word in shlex.split(text)]
        self.ran = syn_here(self.place, *words, env={"SYNAPSE_NOW": f"{self.day}T09:00:00Z"})
        if words[0] == "propose":
            self.names["$ID"] = self.ran.out.strip()

    def finish(self) -> None:
        """Compare the last command with what the page says of it."""
        if self.ran is None:
            return
        ran, shown = self.ran, self.shown
        self.ran, self.shown = None, []
        self.checked += 1
        stops = [line for line in shown if line.startswith("! exit ")]
        assert ran.status == (int(stops[0][7]) if stops else 0), (ran.out, ran.err)
        for line in stops:
            assert line.partition(": ")[2] in ran.out + ran.err
        for line in shown:
            if line.startswith("? "):
                assert line[2:] in ran.out, (line, ran.out)
            elif not line.startswith("! "):
                expected = self.names.get("$ID", "").join(line.split("$ID"))
                assert " ".join(expected.split()) in " ".join(ran.out.split()), (line, ran.out)


def test_the_walk_through_is_true(tmp_path: Path) -> None:
    walk = _Walk(make_place(tmp_path))
    inside = False
    for line in (ROOT / "docs/walkthrough.md").read_text().splitlines():
        if found := _DAY.match(line):
            walk.finish()
            walk.day = found[1]
        if line.startswith("```"):
            walk.finish()
            inside = line == "```console"
        elif inside:
            walk.line(line)
    walk.finish()
    assert walk.checked > 20
