"""`syn undo`."""

from typing import Annotated

import typer

from syn.cli.facts import Anyway, Screened, answer, override
from syn.cli.options import JsonFlag, Reason, open_workspace
from syn.cli.output import note

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def undo(
    context: typer.Context,
    decision: Annotated[
        str, typer.Argument(metavar="DECISION", help="The start of its hash: syn log shows it.")
    ],
    reason: Reason = "",
    anyway: Anyway = False,
    screened: Screened = False,
    json: JsonFlag = False,
) -> None:
    """Take a decision back, all of it, by a new one that names it.

    Refused, with the reason, when a later decision on the same fact depends on it.

    Example: syn undo 4f2a90c1d3e5 -m "wrong team"
    """
    from syn.services.writing.undo import undo as run
    from syn.services.writing.writes import Terms

    terms = Terms(reason, override(anyway, screened))
    answer(run(open_workspace(context), decision, terms, note), as_json=json)
