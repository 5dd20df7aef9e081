"""`syn restore`."""

from typing import Annotated

import typer

from syn.cli.facts import answer
from syn.cli.options import JsonFlag, Reason, open_workspace
from syn.cli.output import note

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def restore(
    context: typer.Context,
    names: Annotated[
        list[str],
        typer.Argument(
            metavar="ID|PATH...", help="Facts, files, or folders of facts; synapse.toml."
        ),
    ],
    reason: Reason = "",
    json: JsonFlag = False,
) -> None:
    """Take hand edits back: facts get the bytes that are recorded, and a decision says so.

    What stood there is kept in git, under refs/synapse/kept. The configuration and the policy
    are taken back by their paths.

    Example: syn restore refund-limit
    """
    from syn.services.writing.restore import restore as run
    from syn.services.writing.writes import Terms

    answer(run(open_workspace(context), names, Terms(reason), note), as_json=json)
