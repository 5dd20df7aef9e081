"""The skill file, our part of AGENTS.md, and git hooks: ours are written, others' stay."""

import subprocess
from pathlib import Path

import pytest

from syn.errors import RefusedError
from syn.services.doors.teaching import BEGIN, END, SKILL, SNIPPET, apply, plan_agents, plan_skill
from tests.support.cli import syn
from tests.support.workspaces import Place, make_workspace


def test_the_skill_is_written_once_and_a_foreign_one_stays(tmp_path: Path) -> None:
    planned = plan_skill(tmp_path)
    apply(planned)
    assert planned.path.read_text() == SKILL
    assert not plan_skill(tmp_path).changes
    planned.path.write_text("---\nname: other\n---\n")
    with pytest.raises(RefusedError, match="another skill"):
        plan_skill(tmp_path)


@pytest.mark.parametrize("text", ["", "# Mine\n", "# Mine", "# Mine\n\nMore.\n\n"])
def test_the_rest_of_agents_md_stays(tmp_path: Path, text: str) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text(text)
    apply(plan_agents(tmp_path))
    first = path.read_text()
    assert first.startswith(text)
    assert first.endswith(SNIPPET)
    assert not plan_agents(tmp_path).changes
    path.write_text(first.replace("## Memory", "## Old") + "Below.\n")
    apply(plan_agents(tmp_path))
    assert path.read_text() == f"{first}Below.\n"


@pytest.mark.parametrize("text", [BEGIN, END, f"{END}\n{BEGIN}", f"{BEGIN}{END}{BEGIN}{END}"])
def test_marks_that_do_not_pair_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "AGENTS.md").write_text(text)
    with pytest.raises(RefusedError):
        plan_agents(tmp_path)
    assert (tmp_path / "AGENTS.md").read_text() == text


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


def _commit(place: Place) -> "subprocess.CompletedProcess[bytes]":
    env = {**place.env, "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org"}
    return subprocess.run(
        ["git", "commit", "-q", "--allow-empty", "-m", "x"],
        cwd=place.root,
        env=env,
        capture_output=True,
        check=False,
    )


def test_a_hook_stops_a_commit_of_a_memory_that_does_not_verify(place: Place) -> None:
    assert syn(place, "hooks", "install").status == 0
    assert _commit(place).returncode == 0
    with (place.root / "facts" / "limit.md").open("a") as file:
        file.write("nobody decided on this\n")
    stopped = _commit(place)
    assert stopped.returncode != 0
    assert b"fail" in stopped.stdout + stopped.stderr
    assert syn(place, "hooks", "uninstall").status == 0
    assert _commit(place).returncode == 0


def test_a_foreign_hook_is_refused_and_kept(place: Place) -> None:
    hook = place.root / ".git" / "hooks" / "pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nexit 0\n")
    refused = syn(place, "hooks", "install", "pre-commit")
    assert refused.status == 1
    assert "verify --quiet" in refused.err
    assert syn(place, "hooks", "uninstall", "pre-commit").status == 1
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"
    states = {i["id"]: i["state"] for i in syn(place, "hooks", "status", "--json").json["items"]}
    assert states == {"pre-commit": "foreign", "pre-push": "absent"}


def test_hooks_that_git_would_not_run_are_not_written(place: Place) -> None:
    subprocess.run(
        ["git", "config", "core.hooksPath", "elsewhere"], cwd=place.root, env=place.env, check=True
    )
    refused = syn(place, "hooks", "install")
    assert refused.status == 1
    assert "core.hooksPath" in refused.err


def test_an_unknown_hook_names_the_known(place: Place) -> None:
    ran = syn(place, "hooks", "install", "post-merge")
    assert ran.status == 2
    assert "pre-commit" in ran.err
