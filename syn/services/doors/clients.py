"""Registering the server with an agent's client: one entry in a file that is the client's own.

Where each client keeps its servers is its own documentation's word; the paths are checked in
`tests/unit/services/test_clients.py`. Nothing else in the file changes, a copy of it is kept, and
an entry of that name that is not ours is refused (design 14).
"""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from syn.errors import CannotError, RefusedError, UsageError
from syn.report.diff import render
from syn.services.doors import jsonedit, tomledit
from syn.services.files import write_file

SERVER = "synapse"
MAX_BYTES = 8 * 1024 * 1024
State: TypeAlias = Literal["absent", "installed", "different", "foreign", "unreadable"]


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a person's programs keep their configuration."""

    home: Path
    platform: str
    """`sys.platform`."""
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Client:
    """One program that talks to servers."""

    name: str
    title: str
    project: str
    """The file in a project that names its servers, or "" when there is none."""
    user: Callable[[Machine], Path]
    member: str
    """The object that holds the servers."""
    form: Literal["json", "toml"] = "json"
    typed: bool = False
    """An entry says `"type": "stdio"`."""


def _claude_desktop(machine: Machine) -> Path:
    if machine.platform == "darwin":
        folder = machine.home / "Library" / "Application Support" / "Claude"
    elif machine.platform == "win32":
        folder = Path(machine.variables.get("APPDATA", machine.home / "AppData/Roaming")) / "Claude"
    else:
        folder = _configuration(machine) / "Claude"
    return folder / "claude_desktop_config.json"


def _vscode(machine: Machine) -> Path:
    if machine.platform == "darwin":
        folder = machine.home / "Library" / "Application Support"
    elif machine.platform == "win32":
        folder = Path(machine.variables.get("APPDATA", machine.home / "AppData/Roaming"))
    else:
        folder = _configuration(machine)
    return folder / "Code" / "User" / "mcp.json"


def _configuration(machine: Machine) -> Path:
    return Path(machine.variables.get("XDG_CONFIG_HOME") or machine.home / ".config")


def _codex(machine: Machine) -> Path:
    return Path(machine.variables.get("CODEX_HOME") or machine.home / ".codex") / "config.toml"


CLIENTS: tuple[Client, ...] = (
    Client(
        "claude-code", "Claude Code", ".mcp.json", lambda m: m.home / ".claude.json", "mcpServers"
    ),
    Client("claude-desktop", "Claude Desktop", "", _claude_desktop, "mcpServers"),
    Client("codex", "Codex", "", _codex, "mcp_servers", "toml"),
    Client(
        "cursor", "Cursor", ".cursor/mcp.json", lambda m: m.home / ".cursor/mcp.json", "mcpServers"
    ),
    Client("vscode", "VS Code", ".vscode/mcp.json", _vscode, "servers", typed=True),
)


@dataclass(frozen=True, slots=True)
class Target:
    """One file of one client, for one workspace."""

    client: Client
    path: Path
    entry: Mapping[str, Any]
    """What ours looks like."""
    name: str = SERVER

    @property
    def place(self) -> tuple[str, str]:
        """Where the entry stands."""
        return (self.client.member, self.name)


def find_client(name: str) -> Client:
    """The client of this name.

    Raises:
        UsageError: there is none.
    """
    for client in CLIENTS:
        if client.name == name:
            return client
    known = ", ".join(client.name for client in CLIENTS)
    raise UsageError("unknown-client", f"no client {name!r:.40}", f"one of: {known}, or all")


def target(
    client: Client, machine: Machine, root: Path, launcher: tuple[str, ...], *, user: bool = False
) -> Target:
    """The file to change: that of the project where the client has one, else that of the user.

    An entry of a project names no folder of this machine: the client starts it in the project.
    """
    if client.project and not user:
        entry: dict[str, Any] = {"command": "syn", "args": ["mcp"]}
        path = root / client.project
    else:
        command, *words = launcher
        entry = {"command": command, "args": [*words, "-C", str(root), "mcp"]}
        path = client.user(machine)
    return Target(client, path, {"type": "stdio", **entry} if client.typed else entry)


@dataclass(frozen=True, slots=True)
class Edit:
    """A file as it is and as it is to be."""

    path: Path
    before: str | None
    """None when there is no file."""
    after: str

    @property
    def changes(self) -> bool:
        """Whether there is anything to write."""
        return self.before != self.after

    def diff(self, *, color: bool) -> str:
        """The lines that change."""
        return render(self.before or "", self.after, color=color)


def state_of(found: Target) -> State:
    """What a client's file says of us today."""
    try:
        text = _read(found.path)
        entry = None if text is None else _entry(found, text)
    except (CannotError, RefusedError):
        return "unreadable"
    if entry is None:
        return "absent"
    if entry == found.entry:
        return "installed"
    return "different" if _ours(entry) else "foreign"


def plan_install(found: Target) -> Edit:
    """The file with our entry in it.

    Raises:
        RefusedError: another server has the name, or the file cannot be edited safely.
    """
    text = _read(found.path)
    entry = None if text is None else _entry(found, text)
    if entry is not None and not _ours(entry):
        raise RefusedError(
            "server-name",
            f"{found.path}: the server {found.name} is not this program's",
            "take it out by hand, or give --name",
        )
    if found.client.form == "toml":
        after = tomledit.set_table(text or "", found.place, found.entry)
    else:
        after = jsonedit.set_member(text or "", found.place, dict(found.entry))
    return Edit(found.path, text, after)


def plan_uninstall(found: Target) -> Edit:
    """The file without our entry; unchanged when it has none.

    Raises:
        RefusedError: the entry of the name is not ours, or the file cannot be edited safely.
    """
    text = _read(found.path)
    if text is None or (entry := _entry(found, text)) is None:
        return Edit(found.path, text, text or "")
    if not _ours(entry):
        raise RefusedError(
            "server-name", f"{found.path}: the server {found.name} is not this program's"
        )
    if found.client.form == "toml":
        return Edit(found.path, text, tomledit.remove_table(text, found.place))
    return Edit(found.path, text, jsonedit.remove_member(text, found.place))


def apply(edit: Edit, stamp: str) -> Path | None:
    """Write a planned change; the copy that was kept, or None when there was no file.

    Raises:
        RefusedError: the file is not what it was when the change was planned.
        CannotError: it cannot be written.
    """
    if _read(edit.path) != edit.before:
        raise RefusedError("out-of-date", f"{edit.path} changed meanwhile", "try again")
    backup = None
    try:
        edit.path.parent.mkdir(parents=True, exist_ok=True)
        if edit.before is not None:
            backup = edit.path.with_name(f"{edit.path.name}.backup-{stamp}")
            shutil.copy2(edit.path, backup)
    except OSError as error:
        raise CannotError("cannot-write", f"{edit.path}: {error.strerror}") from error
    write_file(edit.path, edit.after.encode())
    return backup


def _read(path: Path) -> str | None:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CannotError("unreadable", f"{path}: {error.strerror}") from error
    if len(data) > MAX_BYTES:
        raise CannotError("too-large", f"{path}: expected at most {MAX_BYTES} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise CannotError("unreadable", f"{path}: expected UTF-8") from error


def _entry(found: Target, text: str) -> Any:
    if found.client.form == "toml":
        return tomledit.table_at(text, found.place)
    return jsonedit.member_at(text, found.place)


def _ours(entry: Any) -> bool:
    """Whether an entry starts this program: `syn … mcp`, or `python -m syn … mcp`."""
    if not isinstance(entry, dict) or not isinstance(entry.get("args"), list):
        return False
    words = [Path(str(entry.get("command"))).name, *map(str, entry["args"])]
    module = [word for word in words[1:4] if word != "-P"][:2] == ["-m", "syn"]
    program = module or words[0].removesuffix(".exe") == "syn"
    return program and "mcp" in words[1:]
