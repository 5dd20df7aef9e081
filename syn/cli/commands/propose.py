"""`syn propose`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.facts import takes_new_fact
from syn.cli.options import JsonFlag, Reason, open_workspace
from syn.cli.output import note, out, print_json

if TYPE_CHECKING:
    from syn.services.writing.changes import Change, NewFact

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@takes_new_fact
def propose(
    context: typer.Context,
    new: "NewFact",
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="JSON with changes; - reads stdin.")
    ] = "",
    agent: Annotated[str, typer.Option("--agent", help="Who proposes; default: you.")] = "",
    reason: Reason = "",
    json: JsonFlag = False,
) -> None:
    """Queue a new fact, or changes given as JSON, for a person to decide.

    Prints the proposal's id, its class and what speaks against it; nothing is written.

    Example: syn propose --title "Region" --subject ledger --field region --value eu-2
    """
    from syn.services.writing.pending import Asked, judged_json
    from syn.services.writing.pending import propose as run
    from syn.services.writing.recorder import actor

    workspace = open_workspace(context)
    asked = Asked(agent or actor(workspace), "cli", reason)
    judged = run(workspace, _changes(new, file), asked, note)
    if json:
        print_json(judged_json(judged, full=False))
        return
    out(judged.proposal.short)
    note(f"{judged.verdict.kind}: waits for a person (syn pending show {judged.proposal.short})")
    for found in judged.verdict.reasons:
        note(f"  {found.kind}: {found.message}")


def _changes(new: "NewFact", file: str) -> "tuple[Change, ...]":
    from syn.canon import json as canonical
    from syn.errors import CannotError
    from syn.services.writing.changes import Add, ChangeError, NewFact, parse_changes

    if not file:
        return (Add(new),)
    if new != NewFact():
        raise ChangeError("expected options or JSON, got both")
    data = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    try:
        return parse_changes(canonical.parse(data))
    except CannotError as error:
        raise ChangeError(f"{'stdin' if file == '-' else file}: {error.message}") from error
