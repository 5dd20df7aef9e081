"""The public fault cases: each one's `setup`, run as its README says, in a fresh folder."""

import base64
import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.gitbox import GitBox
from tests.support.shared import ROOT

_FILE = ROOT.parent / "shared" / "cases" / "cases.jsonl"
_DEFAULT_SETUP = (
    ["@write"],
    ["git", "init", "-q", "."],
    ["git", "add", "-A"],
    ["git", "commit", "-qm", "one"],
)


@dataclass(frozen=True, slots=True)
class Case:
    """One case, as it stands in the file."""

    id: str
    kind: str
    symptom: str
    expect: str
    files: tuple[tuple[str, bytes], ...]
    setup: tuple[tuple[str, ...], ...]

    def build(self, folder: Path) -> GitBox:
        """Run the setup in `folder` (made here); the box of the repository."""
        folder.mkdir(parents=True)
        home = folder.with_name(folder.name + ".home")
        home.mkdir()
        (home / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n")
        box = GitBox(folder, home)
        for command in self.setup or _DEFAULT_SETUP:
            self._run(box, list(command))
        return box

    def _run(self, box: GitBox, command: Sequence[str]) -> None:
        if list(command) == ["@write"]:
            for path, data in self.files:
                box.write(path, data)
            return
        words = [word.replace("{R}", str(box.path)) for word in command]
        env: dict[str, str] = {}
        while "=" in words[0]:
            name, _, value = words.pop(0).partition("=")
            env[name] = value
        done = subprocess.run(
            words, cwd=box.path, env=box.environment(env), capture_output=True, check=False
        )
        assert done.returncode == 0, (command, done.stderr)


def load_cases(letters: str) -> list[Case]:
    """The cases whose id starts with one of the letters; none where the folder is absent."""
    if not _FILE.exists():
        return []
    found = [json.loads(line) for line in _FILE.read_text().splitlines()]
    return [_case(value) for value in found if value["id"][0] in letters]


def case(identifier: str) -> Case:
    """One case by the start of its id (`G04`); skips the test where the folder is absent."""
    found = next((c for c in load_cases(identifier[0]) if c.id.startswith(identifier)), None)
    if found is None:
        pytest.skip(f"needs case {identifier} of shared/cases beside the project")
    return found


def _case(value: dict[str, Any]) -> Case:
    files = tuple(
        (f["path"], f["text"].encode() if "text" in f else base64.b64decode(f["base64"]))
        for f in value.get("files", [])
    )
    setup = tuple(tuple(command) for command in value.get("setup") or ())
    return Case(value["id"], value["kind"], value["symptom"], value["expect"], files, setup)
