"""`syn expunge`."""

from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.options import JsonFlag, Reason, Yes, open_workspace
from syn.cli.output import count, note, on_terminal, out, print_json

if TYPE_CHECKING:
    from syn.services.writing.expunge import Expunge

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def expunge(
    context: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="ID", help="The fact, by id or path.")],
    old: Annotated[
        bool, typer.Option("--old", help="Only what it said before; its file stays as it is.")
    ] = False,
    reason: Reason = "",
    yes: Yes = False,
    json: JsonFlag = False,
) -> None:
    """Clear a fact's bytes, a leaked secret, from work tree, kept copies, queue and index.

    The chain still verifies and says what was expunged. Prints the git steps for what history
    holds.

    Example: syn expunge api-notes -m "held a token"
    """
    from syn.errors import UsageError
    from syn.services.writing.expunge import expunge as run
    from syn.services.writing.expunge import plan_expunge, steps

    workspace = open_workspace(context)
    plan = plan_expunge(workspace, fact, old_only=old)
    if not yes:
        if not on_terminal():
            raise UsageError(
                "not-a-terminal",
                f"{plan.fact} would be expunged, and nobody to ask",
                "--yes does it",
            )
        _show(plan)
        if not typer.confirm("expunge this? it cannot be undone", err=True):
            raise typer.Abort
    entries = run(workspace, plan, reason, note)
    if json:
        print_json(
            {
                "fact": plan.fact,
                "path": plan.path,
                "recorded": len(entries),
                "entries": list(entries),
                "names": list(plan.decisions),
                "sources": list(plan.sources),
                "history": list(plan.history),
                "steps": list(steps(plan)),
            }
        )
        return
    out(f"expunged {plan.fact}")
    for line in steps(plan):
        out(line)


def _show(plan: "Expunge") -> None:
    note(f"{plan.fact}  {plan.path}{'' if plan.current else ' (its file stays)'}")
    note(f"  {count(len(plan.sources), 'version')} of {count(len(plan.decisions), 'decision')}")
    note(f"  {count(plan.kept, 'kept copy', 'kept copies')}, in git's history {len(plan.history)}")
    note(f"  {count(len(plan.proposals), 'proposal')} in the queue")
