"""`syn move`."""

from typing import Annotated

import typer

from syn.cli.facts import Anyway, answer, override
from syn.cli.options import JsonFlag, Reason, open_workspace
from syn.cli.output import note

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def move(
    context: typer.Context,
    id_: Annotated[str, typer.Argument(metavar="ID", help="The fact, by id or path.")],
    path: Annotated[str, typer.Argument(metavar="PATH", help="Where it goes, from the root.")],
    reason: Reason = "",
    anyway: Anyway = False,
    json: JsonFlag = False,
) -> None:
    """Move a fact's file; its id and its bytes stay.

    Example: syn move refund-limit facts/payments/refund-limit.md
    """
    from syn.services.writing.changes import Move
    from syn.services.writing.writes import Terms, write

    terms = Terms(reason, override(anyway, False))
    answer(write(open_workspace(context), [Move(id_, path)], terms, note), as_json=json)
