"""`syn at`."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from syn.cli import exits
from syn.cli.options import Globals

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_READS = ("blame", "counts", "doctor", "get", "graph", "list", "log", "search", "show")


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def at(
    context: typer.Context,
    ref: Annotated[str, typer.Argument(metavar="REF", help="A commit, branch or tag.")],
    words: Annotated[
        list[str],
        typer.Argument(metavar="-- COMMAND...", help="A read and its options, as for now."),
    ],
) -> None:
    """Answer a read as of a commit: search, show, list, log, blame, graph, get, counts, doctor.

    The facts, the configuration and the ledger are those of that commit's tree.

    Example: syn at v1.0 -- search refund --as-of 2026-04-15
    """
    from syn.cli.app import build
    from syn.errors import UsageError

    name, *rest = words
    if name not in _READS:
        raise UsageError(
            "not-a-read",
            f"syn at: expected one of {', '.join(_READS)}, got {name!r:.40}",
            f"syn at {ref} -- list",
        )
    place = replace(context.find_object(Globals) or Globals(Path()), at=ref)
    command = build().commands.get(name)
    status = command.main(
        args=rest, prog_name=f"syn at {ref} {name}", standalone_mode=False, obj=place
    )
    raise typer.Exit(status if isinstance(status, int) else exits.OK)
