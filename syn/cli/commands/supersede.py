"""`syn supersede`."""

from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.facts import Anyway, Screened, answer, override, takes_new_fact
from syn.cli.options import JsonFlag, Reason, open_workspace
from syn.cli.output import note

if TYPE_CHECKING:
    from syn.services.writing.changes import NewFact

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
@takes_new_fact
def supersede(
    context: typer.Context,
    old: Annotated[list[str], typer.Argument(help="The facts that end, by id or path.")],
    new: "NewFact",
    reason: Reason = "",
    anyway: Anyway = False,
    screened: Screened = False,
    json: JsonFlag = False,
) -> None:
    """Put a new fact in the place of others, from its --valid-from (default: now) on.

    The others end where it begins, and both sides name each other. Title, type, subject, field and
    tags are those of the first one, unless given.

    Example: syn supersede owner-1 --value checkout --valid-from 2026-04-15 -m "reorganised"
    """
    from syn.services.writing.changes import Supersede
    from syn.services.writing.writes import Terms, write

    terms = Terms(reason, override(anyway, screened))
    change = Supersede(tuple(old), new)
    answer(write(open_workspace(context), [change], terms, note), as_json=json)
