"""Registering the server with clients: one entry changes, the rest of the file does not."""

import json
from pathlib import Path

import pytest

from syn.errors import RefusedError, SynError, UsageError
from syn.services.doors.clients import (
    CLIENTS,
    Machine,
    Target,
    apply,
    find_client,
    plan_install,
    plan_uninstall,
    state_of,
    target,
)

LAUNCHER = ("/opt/bin/syn",)
STAMP = "20261130T120000Z"
CODEX = """\
# mine
model = "o9"   # keep

[mcp_servers.other]
command = "other"

[tui]
theme = "dark"
"""


def _target(folder: Path, name: str, *, user: bool = False, platform: str = "linux") -> Target:
    machine = Machine(folder / "home", platform)
    return target(find_client(name), machine, folder / "project", LAUNCHER, user=user)


@pytest.mark.parametrize(
    ("name", "user", "platform", "place"),
    [
        ("claude-code", False, "linux", "project/.mcp.json"),
        ("claude-code", True, "linux", "home/.claude.json"),
        ("claude-desktop", False, "linux", "home/.config/Claude/claude_desktop_config.json"),
        (
            "claude-desktop",
            False,
            "darwin",
            "home/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        (
            "claude-desktop",
            False,
            "win32",
            "home/AppData/Roaming/Claude/claude_desktop_config.json",
        ),
        ("codex", False, "linux", "home/.codex/config.toml"),
        ("cursor", False, "linux", "project/.cursor/mcp.json"),
        ("cursor", True, "linux", "home/.cursor/mcp.json"),
        ("vscode", False, "linux", "project/.vscode/mcp.json"),
        ("vscode", True, "linux", "home/.config/Code/User/mcp.json"),
    ],
)
def test_where_each_client_looks(
    tmp_path: Path, name: str, user: bool, platform: str, place: str
) -> None:
    assert _target(tmp_path, name, user=user, platform=platform).path == tmp_path / place


@pytest.mark.parametrize("client", [client.name for client in CLIENTS])
def test_there_and_back(tmp_path: Path, client: str) -> None:
    found = _target(tmp_path, client)
    assert state_of(found) == "absent"
    assert apply(plan_install(found), STAMP) is None
    assert state_of(found) == "installed"
    assert not plan_install(found).changes
    backup = apply(plan_uninstall(found), STAMP)
    assert backup is not None
    assert backup.name.endswith(f".backup-{STAMP}")
    assert state_of(found) == "absent"
    assert not plan_uninstall(found).changes


def test_a_project_names_no_folder_and_a_person_does(tmp_path: Path) -> None:
    assert _target(tmp_path, "vscode").entry == {"type": "stdio", "command": "syn", "args": ["mcp"]}
    own = _target(tmp_path, "claude-desktop").entry
    assert own == {"command": "/opt/bin/syn", "args": ["-C", str(tmp_path / "project"), "mcp"]}


def test_toml_keeps_every_other_line(tmp_path: Path) -> None:
    found = _target(tmp_path, "codex")
    found.path.parent.mkdir(parents=True)
    found.path.write_text(CODEX)
    found.path.chmod(0o600)
    backup = apply(plan_install(found), STAMP)
    text = found.path.read_text()
    assert [line for line in CODEX.splitlines() if line not in text.splitlines()] == []
    assert "[mcp_servers.synapse]" in text
    assert backup is not None
    assert backup.read_text() == CODEX
    assert {backup.stat().st_mode & 0o777, found.path.stat().st_mode & 0o777} == {0o600}
    apply(plan_uninstall(found), "later")
    assert found.path.read_text().split() == CODEX.split()


def test_a_linked_file_stays_a_link(tmp_path: Path) -> None:
    found = _target(tmp_path, "cursor", user=True)
    real = tmp_path / "dotfiles.json"
    real.write_text('{"mcpServers": {"other": {"command": "x"}}}\n')
    found.path.parent.mkdir(parents=True)
    found.path.symlink_to(real)
    apply(plan_install(found), STAMP)
    assert found.path.is_symlink()
    assert json.loads(real.read_text())["mcpServers"].keys() == {"other", "synapse"}


@pytest.mark.parametrize(
    "entry",
    [
        {"command": "npx", "args": ["synapse-somebody-else"]},
        {"url": "https://example.org/mcp"},
        {"command": "syn", "args": ["other"]},
    ],
)
def test_somebody_elses_server_is_refused(tmp_path: Path, entry: dict[str, object]) -> None:
    found = _target(tmp_path, "cursor", user=True)
    found.path.parent.mkdir(parents=True)
    found.path.write_text(json.dumps({"mcpServers": {"synapse": entry}}))  # noqa: TID251 - theirs
    assert state_of(found) == "foreign"
    for plan in (plan_install, plan_uninstall):
        with pytest.raises(RefusedError, match="not this program's"):
            plan(found)


@pytest.mark.parametrize("flags", [[], ["-P"]])
def test_an_entry_for_another_folder_is_ours_to_change(tmp_path: Path, flags: list[str]) -> None:
    found = _target(tmp_path, "claude-desktop")
    words = [*flags, "-m", "syn", "-C", "/elsewhere", "mcp"]
    entry = {"command": "/usr/bin/python3", "args": words}
    found.path.parent.mkdir(parents=True)
    found.path.write_text(json.dumps({"mcpServers": {"synapse": entry}}))  # noqa: TID251 - theirs
    assert state_of(found) == "different"
    apply(plan_install(found), STAMP)
    assert state_of(found) == "installed"


@pytest.mark.parametrize("text", ["{", '{"mcpServers": 3}', "\xff"])
def test_a_file_that_cannot_be_read_is_left_alone(tmp_path: Path, text: str) -> None:
    found = _target(tmp_path, "cursor", user=True)
    found.path.parent.mkdir(parents=True)
    found.path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SynError):
        plan_install(found)
    assert found.path.read_bytes() == text.encode("latin-1")


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path: Path) -> None:
    found = _target(tmp_path, "cursor", user=True)
    planned = plan_install(found)
    found.path.parent.mkdir(parents=True)
    found.path.write_text("{}")
    with pytest.raises(RefusedError, match="meanwhile"):
        apply(planned, STAMP)
    assert found.path.read_text() == "{}"


def test_an_unknown_client_names_the_known() -> None:
    with pytest.raises(UsageError) as caught:
        find_client("emacs")
    assert "claude-code" in caught.value.remedy
