"""`syn quarantine`."""

from typing import Annotated

import typer

from syn.cli.options import JsonFlag, open_workspace
from syn.cli.output import note, out, print_json

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def quarantine(
    context: typer.Context,
    fact: Annotated[str, typer.Argument(metavar="ID", help="The fact's id, or its path.")],
    reason: Annotated[
        str, typer.Option("-m", "--reason", help="Why; it stands in the ledger.")
    ] = "",
    json: JsonFlag = False,
) -> None:
    """Keep a fact from agents; people still see it, marked.

    A decision: it holds until `syn clear` names it.

    Example: syn quarantine refund-limit --reason "the source was forged"
    """
    from syn.services.writing.quarantine import quarantine as run

    digest, entry = run(open_workspace(context), fact, reason, note)
    if json:
        print_json({"id": entry.fact, "path": entry.path, "entry": digest})
    else:
        out(f"{entry.fact} is quarantined ({digest[7:19]}): agents are refused it")
