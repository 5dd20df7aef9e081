"""`syn add`."""

from typing import TYPE_CHECKING

import typer

from syn.cli.facts import Anyway, Screened, answer, override, takes_new_fact
from syn.cli.options import JsonFlag, Reason, open_workspace
from syn.cli.output import note

if TYPE_CHECKING:
    from syn.services.writing.changes import NewFact

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@takes_new_fact
def add(
    context: typer.Context,
    new: "NewFact",
    reason: Reason = "",
    anyway: Anyway = False,
    screened: Screened = False,
    json: JsonFlag = False,
) -> None:
    """Write a new fact and record it.

    The gate refuses one that contradicts or repeats another, or that holds a secret or hidden
    characters; --anyway and --screened take it on by name.

    Example: syn add --title "Ledger owns payments" --subject payments --field owner --value ledger
    """
    from syn.services.writing.changes import Add
    from syn.services.writing.writes import Terms, write

    terms = Terms(reason, override(anyway, screened))
    answer(write(open_workspace(context), [Add(new)], terms, note), as_json=json)
