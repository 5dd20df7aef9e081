"""`syn mcp`."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.launching import launcher
from syn.cli.options import Globals, JsonFlag, open_workspace
from syn.cli.output import note, out, print_json, table
from syn.cli.serving import become_server

if TYPE_CHECKING:
    from syn.model.finding import Json
    from syn.services.doors.clients import Edit, Machine, Target
    from syn.services.workspace import Workspace

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    invoke_without_command=True,
    help=(
        "Serve this memory to agents over the Model Context Protocol, on stdin and stdout.\n\n"
        "Reads are checked before they are answered; writes only propose.\n\n"
        "Example: syn -C ~/memory mcp"
    ),
)

ClientName = Annotated[
    str,
    typer.Argument(
        metavar="CLIENT", help="claude-code, claude-desktop, codex, cursor, vscode, or all."
    ),
]
User = Annotated[
    bool, typer.Option("--user", help="The person's configuration, not the project's.")
]
Name = Annotated[str, typer.Option("--name", help="The server's name in the client.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change; write nothing.")]


@app.callback()
def mcp(
    context: typer.Context,
    record: Annotated[
        str | None,
        typer.Option(
            "--record", metavar="NAME", help="Keep what is handed out as images/NAME; - names it."
        ),
    ] = None,
) -> None:
    """Serve, unless a subcommand follows; the help of the group is above."""
    if context.invoked_subcommand is not None:
        return
    place = context.find_object(Globals)
    words = [str(place.directory if place else ".")]
    if record is not None:
        words += ["--record", *([] if record == "-" else [record])]
    become_server(words)


@app.command()
def install(
    context: typer.Context,
    client: ClientName,
    user: User = False,
    name: Name = "synapse",
    dry_run: DryRun = False,
    json: JsonFlag = False,
) -> None:
    """Register the server with a client; nothing else in its configuration is touched.

    A copy of the file is kept beside it. A project's file names no folder of this machine.

    Example: syn mcp install claude-code --dry-run
    """
    from syn.services.doors.clients import plan_install

    workspace = open_workspace(context)
    found = _targets(workspace, client, name, user=user)
    _carry_out(workspace, [(item, plan_install(item)) for item in found], dry_run, json)


@app.command()
def uninstall(
    context: typer.Context,
    client: ClientName,
    user: User = False,
    name: Name = "synapse",
    dry_run: DryRun = False,
    json: JsonFlag = False,
) -> None:
    """Take the server out of a client's configuration again.

    Example: syn mcp uninstall cursor
    """
    from syn.services.doors.clients import plan_uninstall

    workspace = open_workspace(context)
    found = _targets(workspace, client, name, user=user)
    _carry_out(workspace, [(item, plan_uninstall(item)) for item in found], dry_run, json)


@app.command()
def status(context: typer.Context, name: Name = "synapse", json: JsonFlag = False) -> None:
    """Show with which clients the server is registered.

    Example: syn mcp status
    """
    from syn.services.doors.clients import state_of

    workspace = open_workspace(context)
    both = [
        *_targets(workspace, "all", name, user=False),
        *(t for t in _targets(workspace, "all", name, user=True) if t.client.project),
    ]
    rows = [(found, state_of(found)) for found in both]
    if json:
        items: list[Json] = [_item(found, state) for found, state in rows]
        print_json({"items": items, "total": len(items), "next": None})
    else:
        table((found.client.name, state, str(found.path)) for found, state in rows)


def _item(found: "Target", state: str) -> "dict[str, Json]":
    client = found.client
    place: dict[str, Json] = {
        "id": client.name,
        "type": "client",
        "title": client.title,
        "path": str(found.path),
    }
    return {**place, "state": state}


def _targets(workspace: "Workspace", client: str, name: str, *, user: bool) -> "list[Target]":
    from dataclasses import replace

    from syn.services.doors.clients import CLIENTS, find_client, target

    chosen = CLIENTS if client == "all" else (find_client(client),)
    found = (target(c, _machine(), workspace.root, launcher(), user=user) for c in chosen)
    return [replace(item, name=name) for item in found]


def _machine() -> "Machine":
    from syn.services.doors.clients import Machine

    return Machine(Path.home(), sys.platform, dict(os.environ))  # noqa: TID251 - a port


def _carry_out(
    workspace: "Workspace", edits: "list[tuple[Target, Edit]]", dry_run: bool, as_json: bool
) -> None:
    from syn.services.doors.clients import apply

    stamp = workspace.around.now.strftime("%Y%m%dT%H%M%SZ")
    items: list[Json] = []
    for found, edit in edits:
        backup = apply(edit, stamp) if edit.changes and not dry_run else None
        state = "unchanged" if not edit.changes else "planned" if dry_run else "written"
        items.append({**_item(found, state), "backup": str(backup) if backup else None})
        if not as_json:
            _say(edit, state, backup)
    if as_json:
        print_json({"items": items, "total": len(items), "next": None})


def _say(edit: "Edit", state: str, backup: Path | None) -> None:
    out(f"{edit.path}: {state}")
    if state == "planned":
        sys.stdout.write(edit.diff(color=sys.stdout.isatty()))
    if backup is not None:
        note(f"kept {backup}")
