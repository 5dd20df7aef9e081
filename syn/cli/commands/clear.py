"""`syn clear`."""

from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.options import JsonFlag, Reason, Yes, open_workspace
from syn.cli.output import count, note, on_terminal, out, print_json, table

if TYPE_CHECKING:
    from syn.model.ledger import Review
    from syn.services.writing.quarantine import Clearance

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def clear(
    context: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="ID", help="The fact's id, or its path.")],
    reason: Reason = "",
    taint: Annotated[bool, typer.Option("--taint", help="Lift its taint as well.")] = False,
    yes: Yes = False,
    json: JsonFlag = False,
) -> None:
    """Lift the quarantines of a fact, by name; a later one holds on.

    Shows what it would lift and asks; without a terminal it needs --yes. Where the workspace has a
    policy, only an admin's key lifts anything.

    Example: syn clear refund-limit -m "checked with the team"
    """
    from syn.errors import UsageError
    from syn.services.writing.quarantine import clear as run
    from syn.services.writing.quarantine import plan_clear

    workspace = open_workspace(context)
    shown = plan_clear(workspace, fact, taint=taint)
    review: Review = "unreviewed"
    if not yes:
        if not on_terminal():
            raise UsageError(
                "not-a-terminal",
                f"{count(len(shown.lifts), 'decision')} to lift, and nobody to ask",
                "--yes lifts them; syn log shows them",
            )
        _show(shown)
        if not typer.confirm("lift this?", err=True):
            raise typer.Abort
        review = "seen"
    digest, entry = run(workspace, shown, reason, review, note)
    if json:
        names: list[str] = list(entry.names)
        print_json({"id": entry.fact, "path": entry.path, "entry": digest, "lifted": [*names]})
    else:
        out(f"{entry.fact}: lifted {count(len(entry.names), 'decision')} ({digest[7:19]})")


def _show(shown: "Clearance") -> None:
    table((held.kind, held.entry[7:19], held.actor, held.ts, held.reason) for held in shown.lifts)
