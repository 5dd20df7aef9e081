"""What every command owes a person: one example, near names, plain text where it is asked for."""

import os
import pty
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import syn, syn_here
from tests.support.commands import EXAMPLE, walk
from tests.support.workspaces import Place, make_place, make_workspace

COMMANDS = dict(walk())
NAMES = [words for words in COMMANDS if len(words) > 1]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return make_workspace(tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def nowhere(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A folder that is no workspace: help needs none."""
    return make_place(tmp_path_factory.mktemp("nowhere"))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_has_one_example_of_this_command_and_fits_a_narrow_terminal(
    nowhere: Place, words: tuple[str, ...]
) -> None:
    ran = syn_here(nowhere, *words[1:], "--help", env={"COLUMNS": "40"})
    assert ran.status == 0
    assert "\x1b" not in ran.out
    for line in ran.out.splitlines():
        # One word may be longer than the line: a file name, a line of a shell.
        assert len(line) <= 50 or len(line.split()) <= 2, line
    assert ran.out.count("Example:") == 1
    (example,) = EXAMPLE.findall(COMMANDS[words].help)
    assert "".join(example.split()) in "".join(ran.out.split())
    given = shlex.split(example)
    assert given[0] == "syn"
    rest = iter(given)
    assert all(word in rest for word in words), example


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_example_names_only_what_there_is(words: tuple[str, ...]) -> None:
    (example,) = EXAMPLE.findall(COMMANDS[words].help)
    for part in example.split("&&"):
        given = shlex.split(part.partition(">")[0])
        path: list[str] = []
        for word in given:
            if (*path, word) in COMMANDS:
                path.append(word)
        assert path, example
        flags = {word.partition("=")[0] for word in given if word.startswith("-") and word != "-"}
        known = {option for command in _line(path) for option in _options(command)}
        after = given.index("--") if "--" in given else len(given)
        assert flags & set(given[:after]) <= known | {"--"}, example


def _line(path: list[str]) -> Iterator[Any]:
    for length in range(1, len(path) + 1):
        yield COMMANDS[tuple(path[:length])]


def _options(command: Any) -> Iterator[str]:
    for parameter in command.params:
        yield from parameter.opts
        yield from parameter.secondary_opts


@pytest.mark.parametrize("words", NAMES, ids=" ".join)
def test_a_wrong_command_suggests_the_near_one(nowhere: Place, words: tuple[str, ...]) -> None:
    *path, name = words
    wrong = name + "x"
    ran = syn_here(nowhere, *path[1:], wrong)
    assert ran.status == 2
    assert "Did you mean" in ran.err
    assert f"'{name}'" in ran.err


@pytest.mark.parametrize("words", NAMES, ids=" ".join)
def test_an_unknown_option_is_named(nowhere: Place, words: tuple[str, ...]) -> None:
    if words == ("syn", "at"):
        words = (*words, "HEAD", "--", "list")  # what stands after its ref is another command's
    ran = syn_here(nowhere, *words[1:], "--no-such-option")
    assert ran.status == 2
    assert "--no-such-option" in ran.err
    assert "--help" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ["show", "limt"],
        ["get", "limt"],
        ["blame", "limt"],
        ["graph", "limt"],
        ["close", "limt"],
        ["rm", "limt"],
        ["move", "limt", "facts/x.md"],
        ["edit", "limt", "--title", "x"],
        ["supersede", "limt", "--title", "x"],
        ["quarantine", "limt", "-m", "why"],
        ["clear", "limt", "-m", "why"],
        ["restore", "limt"],
        ["expunge", "limt", "-m", "why"],
        ["log", "limt"],
    ],
    ids=lambda words: words[0],
)
def test_a_wrong_id_suggests_the_near_one(place: Place, words: list[str]) -> None:
    ran = syn_here(place, *words)
    assert "did you mean limit?" in ran.err, (ran.status, ran.out, ran.err)


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["verify", "--ref", "mian"], "main"),
        (["at", "HAED", "--", "list"], "HEAD"),
        (["diff", "HEDA"], "HEAD"),
    ],
)
def test_a_wrong_commit_suggests_the_near_one(place: Place, words: list[str], near: str) -> None:
    ran = syn_here(place, *words)
    assert ran.status == 2
    assert f"did you mean {near}?" in ran.err


def _on_terminal(place: Place, *words: str, **env: str) -> str:
    """What a command prints on a terminal of its own."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "syn", *words],
        cwd=place.root,
        env={**place.env, "TERM": "xterm-256color", **env},
        stdin=slave,
        stdout=slave,
        stderr=slave,
    )
    os.close(slave)
    parts = []
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:
            break
        if not data:
            break
        parts.append(data)
    os.close(master)
    process.wait(60)
    return b"".join(parts).decode()


@pytest.mark.parametrize("words", [["verify"], ["verify", "--deep"], ["diff"], ["status"]])
def test_no_color_means_none(place: Place, words: list[str]) -> None:
    assert "\x1b[" not in _on_terminal(place, *words, NO_COLOR="1")


def test_a_terminal_has_colour_and_a_pipe_has_none(place: Place) -> None:
    assert "\x1b[" in _on_terminal(place, "verify")
    assert "\x1b" not in syn(place, "verify").out


@pytest.mark.parametrize("words", [["verify", "--deep"], ["status"], ["list"], ["log"]])
def test_a_narrow_terminal_loses_nothing(place: Place, words: list[str]) -> None:
    wide = syn_here(place, *words, env={"COLUMNS": "400"}).out
    narrow = syn_here(place, *words, env={"COLUMNS": "40"}).out
    for name in ("PASS", "limit", "owner-2"):
        assert (name in wide) == (name in narrow)


def test_a_reader_that_leaves_is_no_error_of_ours(place: Place, tmp_path: Path) -> None:
    line = f"{shlex.quote(sys.executable)} -m syn log --json | head -c 1 >/dev/null"
    done = subprocess.run(
        ["bash", "-c", line], cwd=place.root, env=place.env, capture_output=True, check=False
    )
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["list"], ["log"], ["log", "limit"], ["search", "owns"]])
def test_a_cursor_goes_on_until_all_was_shown(place: Place, words: list[str]) -> None:
    whole = [item["id"] for item in syn_here(place, *words, "--json").json["items"]]
    shown: list[str] = []
    cursor = ""
    for _ in whole:
        page = syn_here(place, *words, "--limit", "1", "--cursor", cursor, "--json").json
        shown += [item["id"] for item in page["items"]]
        cursor = page["next"] or ""
        if not cursor:
            break
    assert shown == whole


@pytest.mark.parametrize("words", [[], ["verify"], ["key", "init"], ["mcp"]])
def test_the_short_question_for_help_is_answered_too(nowhere: Place, words: list[str]) -> None:
    asked = syn_here(nowhere, *words, "-h")
    assert (asked.status, asked.out) == (0, syn_here(nowhere, *words, "--help").out)
