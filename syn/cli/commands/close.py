"""`syn close`."""

from typing import Annotated

import typer

from syn.cli.facts import Anyway, answer, override
from syn.cli.options import JsonFlag, Reason, open_workspace
from syn.cli.output import note

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def close(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="The facts, by id or path.")],
    at: Annotated[
        str, typer.Option("--at", metavar="DATE", help="Until when it holds; default: now.")
    ] = "",
    reason: Reason = "",
    anyway: Anyway = False,
    json: JsonFlag = False,
) -> None:
    """End a fact: write its valid_to. From then on it changes only by undo, move, rm, or by name.

    Example: syn close oncall-ann --at 2026-05-01 -m "left the team"
    """
    from syn.services.writing.changes import Close
    from syn.services.writing.writes import Terms, write

    changes = [Close(name, at) for name in ids]
    terms = Terms(reason, override(anyway, False))
    answer(write(open_workspace(context), changes, terms, note), as_json=json)
