"""`syn adopt --history`: shows versions that were committed unrecorded, asks, acknowledges."""

from typing import TYPE_CHECKING

import typer

from syn.cli.output import count, on_terminal, out, print_json, table

if TYPE_CHECKING:
    from syn.model.finding import Json
    from syn.services.workspace import Workspace


def acknowledge_history(workspace: "Workspace", reason: str, *, yes: bool, as_json: bool) -> None:
    """Acknowledge what history holds and nobody recorded; it stays listed for ever."""
    from syn.errors import UsageError
    from syn.services.writing.adopt_history import adopt_history, plan_history

    shown = plan_history(workspace)
    if shown.versions and not yes:
        if not on_terminal():
            raise UsageError(
                "not-a-terminal",
                f"{count(len(shown.versions), 'version')} to acknowledge, and nobody to ask",
                "--yes acknowledges them; syn verify --deep lists them",
            )
        table((v.commit[:12], v.fact, v.path or "(gone)") for v in shown.versions)
        if not typer.confirm("acknowledge these? they stay listed for ever", err=True):
            raise typer.Abort
    entries = adopt_history(workspace, shown, reason)
    if as_json:
        versions: list[Json] = [
            {"commit": v.commit, "fact": v.fact, "path": v.path, "payload": v.payload}
            for v in shown.versions
        ]
        found: list[Json] = [digest for digest, _ in entries]
        print_json({"recorded": len(found), "entries": found, "versions": versions})
    elif entries:
        out(f"acknowledged {count(len(entries), 'version')}")
    else:
        out("nothing to acknowledge: every version in history is recorded")
