"""What the pages tell people to type: every command and every option of it exists."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import walk
from tests.support.shared import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "SECURITY.md",
    ROOT / "action.yml",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "adr").glob("*.md")),
]
COMMANDS = dict(walk())
_FENCE = re.compile(r"^```[a-z]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"`(syn [^`]+)`")
_SYNOPSIS = re.compile(r"\[OPTIONS\]|COMMAND|\[ARG")
_NAME = re.compile(r"[a-z][a-z-]*\Z")


def _lines(text: str) -> Iterator[str]:
    for block in _FENCE.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            for part in re.split(r"&&|\|\|?|;|\$\(", line.strip().removeprefix("$ ")):
                if part.strip().startswith("syn "):
                    yield part.strip()
    yield from (" ".join(span.split()) for span in _SPAN.findall(_FENCE.sub("", text)))


def _words(line: str) -> list[str]:
    try:
        return shlex.split(re.split(r"\s#|\s{2,}|[<>…]", line)[0])
    except ValueError:
        return line.split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_commands_of_a_page_exist(page: Path) -> None:
    for line in _lines(page.read_text("utf-8")):
        if _SYNOPSIS.search(line):
            continue
        path, given = _resolved(_words(line), line)
        known = {option for length in range(1, len(path) + 1) for option in _options(path[:length])}
        for word in given:
            if word == "--":
                break
            option = word.partition("=")[0].rstrip(",.;:)]")
            if re.fullmatch(r"--[a-z][a-z-]+", option):
                assert option in known | {"--help"}, (line, option)


def _resolved(words: list[str], line: str) -> tuple[list[str], list[str]]:
    """The command that a line calls, and what stands after it."""
    path = ["syn"]
    rest = words[1:]
    while rest and rest[0].startswith("-"):
        rest = rest[2:] if rest[0] in ("-C", "--as", "--directory") else rest[1:]
    while rest and (*path, rest[0]) in COMMANDS:
        path.append(rest.pop(0))
    group = getattr(COMMANDS[tuple(path)], "commands", None)
    if group and rest and _NAME.match(rest[0]):
        raise AssertionError(f"no such command: {line}")
    return path, rest


def _options(path: list[str]) -> Iterator[str]:
    command: Any = COMMANDS[tuple(path)]
    for parameter in command.params:
        yield from parameter.opts
        yield from parameter.secondary_opts
