"""The hooks that others install, as their tools run them: pre-commit's manifest, and git's own."""

import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cli import syn
from tests.support.shared import ROOT
from tests.support.workspaces import Place, git, make_workspace

HOOKS: list[dict[str, Any]] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))
STAGES = {"pre-commit", "pre-merge-commit", "pre-push", "manual"}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return make_workspace(tmp_path_factory.mktemp("made"))


@pytest.fixture
def place(made: Place, tmp_path: Path) -> Place:
    """A copy of one workspace."""
    shutil.copytree(made.root, tmp_path / "ws")
    return Place(tmp_path / "ws", made.env)


def test_the_manifest_has_the_form_that_pre_commit_reads() -> None:
    assert [hook["id"] for hook in HOOKS] == ["syn-verify", "syn-verify-deep"]
    for hook in HOOKS:
        assert {"id", "name", "description", "entry", "language", "stages"} <= hook.keys()
        assert hook["language"] == "python"
        assert hook["pass_filenames"] is False
        assert set(hook["stages"]) <= STAGES


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook["id"])
def test_an_entry_stops_what_does_not_verify(place: Place, hook: dict[str, Any]) -> None:
    program, *words = shlex.split(hook["entry"])
    assert program == "syn"
    # A commit of some paths hands its hooks another index than the repository's own.
    env = {"GIT_INDEX_FILE": ".git/next-index-1.lock", "GIT_DIR": ".git"}
    assert syn(place, *words, env=env).status == 0
    path = place.root / "facts" / "limit.md"
    path.write_text(path.read_text() + "nobody decided on this\n")
    stopped = syn(place, *words, env=env)
    assert stopped.status == 1
    assert "facts/limit.md" in stopped.out


def _push(place: Place) -> "subprocess.CompletedProcess[bytes]":
    words = ["git", "push", "-q", "elsewhere", "main"]
    return subprocess.run(words, cwd=place.root, env=place.env, capture_output=True, check=False)


def test_a_push_of_a_memory_that_does_not_verify_is_stopped(place: Place, tmp_path: Path) -> None:
    git(place, "init", "-q", "--bare", str(tmp_path / "elsewhere"))
    git(place, "remote", "add", "elsewhere", str(tmp_path / "elsewhere"))
    assert syn(place, "hooks", "install", "pre-push").status == 0
    assert _push(place).returncode == 0
    path = place.root / "facts" / "limit.md"
    path.write_text(path.read_text() + "nobody decided on this\n")
    git(place, "commit", "-q", "-a", "-m", "by hand")
    stopped = _push(place)
    assert stopped.returncode == 1
    assert b"FAIL" in stopped.stdout + stopped.stderr


def test_a_foreign_hook_that_is_a_link_stays(place: Place) -> None:
    hook = place.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.symlink_to("/nowhere/their-hook")
    refused = syn(place, "hooks", "install", "pre-commit")
    assert refused.status == 1
    assert "stays as it is" in refused.err
    assert hook.is_symlink()
