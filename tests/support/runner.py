"""A runner of GitHub workflows, as far as a step of ours can tell: variables, files, commands."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.shared import ROOT
from tests.support.workspaces import Place

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
_EXPRESSION = re.compile(r"\$\{\{ ([a-z._]+) \}\}")


@dataclass(frozen=True, slots=True)
class Command:
    """A workflow command that the runner obeyed."""

    name: str
    properties: dict[str, str]
    message: str


@dataclass(frozen=True, slots=True)
class Step:
    """A step that ended."""

    status: int
    log: str
    commands: tuple[Command, ...]
    outputs: dict[str, str]
    summary: str


def run_verify(
    place: Place,
    folder: Path,
    event: Mapping[str, Any] | str,
    variables: Mapping[str, str],
    **inputs: str,
) -> Step:
    """Run the step of action.yml that verifies, its very text, in a shell as the runner does."""
    (step,) = [item for item in ACTION["runs"]["steps"] if item.get("id") == "verify"]
    folder.mkdir(exist_ok=True)
    files = {name: folder / name for name in ("event.json", "output", "summary")}
    files["event.json"].write_text(event if isinstance(event, str) else json.dumps(event))  # noqa: TID251 - theirs
    given = {name: item.get("default", "") for name, item in ACTION["inputs"].items()} | inputs
    known = {f"inputs.{name}": value for name, value in given.items()}
    known["steps.install.outputs.bin"] = str(Path(sys.executable).parent)
    env = {name: _filled(value, known) for name, value in step["env"].items()}
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=place.root / _filled(step["working-directory"], known),
        env={
            **place.env,
            "PATH": os.environ["PATH"],  # noqa: TID251 - where bash is
            "RUNNER_TEMP": str(folder),
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_PATH": str(files["event.json"]),
            "GITHUB_OUTPUT": str(files["output"]),
            "GITHUB_STEP_SUMMARY": str(files["summary"]),
            **variables,
            **env,
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        timeout=120,
    )
    log = done.stdout.decode()
    lines = _read(files["output"]).splitlines()
    outputs = {name: value for name, _, value in (line.partition("=") for line in lines)}
    return Step(done.returncode, log, obeyed(log), outputs, _read(files["summary"]))


def _read(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def _filled(text: str, known: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda found: known[found[1]], text)


def obeyed(log: str) -> tuple[Command, ...]:
    """The commands in a log that a runner obeys, between those that stop it and start it again."""
    found: list[Command] = []
    token = ""
    for line in log.splitlines():
        command = _command(line)
        if command is None:
            continue
        if token:
            token = "" if command.name == token else token
        elif command.name == "stop-commands":
            token = command.message
        else:
            found.append(command)
    return tuple(found)


def _command(line: str) -> Command | None:
    """The second form of commands, `::name k=v,k=v::message`, and the first, `##[name k=v;]`."""
    text = line.lstrip()
    if text.startswith("::") and "::" in text[2:]:
        head, _, message = text[2:].partition("::")
        name, _, listed = head.partition(" ")
        pairs = [pair.partition("=") for pair in listed.split(",") if pair]
        return Command(name, {key: _plain(value) for key, _, value in pairs}, _plain(message))
    old = re.search(r"##\[([^\] ]+)([^\]]*)\](.*)", line)
    return Command(old[1], {}, old[3]) if old else None


def _plain(value: str) -> str:
    for code, char in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        value = value.replace(code, char)
    return value
