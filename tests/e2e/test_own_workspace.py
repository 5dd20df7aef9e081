"""This repository is a workspace over its own decisions, and a plain clone of it verifies."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import syn
from tests.support.shared import ROOT
from tests.support.workspaces import Place, git

REMEDY = "run `make adr`, then commit adr/, .synapse/ and docs/verify.svg (adr/README.md)"


def _history() -> None:
    """Skip, saying so, where this is not a clone with its history."""
    if not (ROOT / ".git").exists():
        pytest.skip("needs the repository's history: this is no git clone (an unpacked archive?)")
    words = ["git", "-C", str(ROOT), "rev-parse", "--is-shallow-repository"]
    if subprocess.run(words, check=True, capture_output=True).stdout.strip() == b"true":
        pytest.skip("needs the repository's history: this clone is shallow")


@pytest.fixture
def clone(tmp_path: Path) -> Place:
    """HEAD, as anybody clones it."""
    _history()
    root = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", ROOT.as_uri(), str(root)], check=True)
    home = tmp_path / "home"
    home.mkdir()
    env = {
        "PATH": f"{os.defpath}:/usr/local/bin",
        "HOME": str(home),
        "SYNAPSE_CONFIG_DIR": str(home / "config"),
        "SYNAPSE_CACHE_DIR": str(home / "cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Ada Author",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
    }
    return Place(root, env)


def test_the_decisions_are_recorded_and_verify_as_the_badge_says(clone: Place) -> None:
    badge = clone.root.parent / "verify.svg"
    ran = syn(clone, "verify", "--deep", "--rebuild", "--badge", str(badge))
    assert ran.status == 0, f"{ran.out}\n{ran.err}\n{REMEDY}"
    assert badge.read_bytes() == (clone.root / "docs" / "verify.svg").read_bytes(), REMEDY
    listed = git(clone, "ls-files", "adr/[0-9]*.md").splitlines()
    status = syn(clone, "status", "--json").json
    assert status["facts"] == len(listed), f"{status}\n{REMEDY}"


def test_a_decision_that_nobody_recorded_is_named(clone: Place) -> None:
    path = clone.root / "adr" / "0001-markdown-as-truth.md"
    path.write_text(path.read_text("utf-8") + "\nAnd nobody decided on this.\n", "utf-8")
    ran = syn(clone, "verify")
    assert ran.status == 1
    assert "adr/0001-markdown-as-truth.md" in ran.out


def test_a_new_decision_is_recorded_by_what_make_adr_runs(clone: Place) -> None:
    makefile = (clone.root / "Makefile").read_text("utf-8")
    lines = makefile.partition("\nadr: setup\n")[2].partition("\n\n")[0].splitlines()
    commands = [shlex.split(line) for line in lines if line.startswith("\t$(BIN)/syn ")]
    assert [command[1] for command in commands] == ["adopt", "verify"]
    new = clone.root / "adr" / "9999-one-more.md"
    new.write_text("---\nid: adr-9999\ntitle: One more\nstatus: accepted\n---\n# One more\n")
    for _, *words in commands:
        ran = syn(clone, *words)
        assert ran.status == 0, ran.out + ran.err
    git(clone, "add", "adr", ".synapse")
    git(clone, "commit", "-q", "-m", "one more")
    assert git(clone, "status", "--porcelain") == ""
    assert syn(clone, "verify", "--deep").status == 0
