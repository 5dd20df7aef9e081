"""`syn rm`."""

from typing import Annotated

import typer

from syn.cli.facts import Anyway, answer, override
from syn.cli.options import JsonFlag, Reason, open_workspace
from syn.cli.output import note

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def rm(
    context: typer.Context,
    ids: Annotated[list[str], typer.Argument(metavar="ID...", help="The facts, by id or path.")],
    reason: Reason = "",
    anyway: Anyway = False,
    json: JsonFlag = False,
) -> None:
    """Remove a fact and record that it is gone; syn undo brings it back.

    Its bytes stay in git; syn expunge is for what must not stay.

    Example: syn rm old-note -m "never was true"
    """
    from syn.services.writing.changes import Delete
    from syn.services.writing.writes import Terms, write

    changes = [Delete(name) for name in ids]
    terms = Terms(reason, override(anyway, False))
    answer(write(open_workspace(context), changes, terms, note), as_json=json)
