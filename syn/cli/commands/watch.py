"""`syn watch`."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.options import JsonFlag, open_workspace
from syn.cli.output import out, print_json

if TYPE_CHECKING:
    from syn.services.doors.watching import Event

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def watch(
    context: typer.Context,
    debounce: Annotated[
        float,
        typer.Option("--debounce", metavar="SECONDS", min=0.05, help="Gather changes this long."),
    ] = 0.5,
    quiet: Annotated[
        float,
        typer.Option("--quiet", metavar="SECONDS", min=0, help="Patrol after this long in peace."),
    ] = 30,
    scrub_budget: Annotated[
        float,
        typer.Option("--scrub-budget", metavar="SECONDS", min=0, help="Of one patrol; 0: none."),
    ] = 1,
    json: JsonFlag = False,
) -> None:
    """Keep the index up to date while files change, and patrol in quiet times.

    One line for each thing that happened; with --json one object a line. A broken fact, a locked
    index or another branch does not end it. Ctrl-C does, with status 130.

    Example: syn watch --scrub-budget 2
    """
    from syn.services.doors.watching import Pace, Watcher, batches

    # Opened once for both: a configuration that breaks from here on is told and does not end it.
    workspace = open_workspace(context)
    watcher = Watcher(lambda: open_workspace(context), Pace(quiet, scrub_budget))
    for event in watcher.start(workspace):
        _show(event, as_json=json)
    for batch in batches(workspace, debounce, min(1.0, max(0.1, quiet))):
        for event in watcher.changed(batch) if batch else watcher.tick():
            _show(event, as_json=json)


def _show(event: "Event", *, as_json: bool) -> None:
    if as_json:
        print_json({"event": event.kind, **event.detail})
    else:
        out(f"{event.kind:<10}  {event.text}")
    sys.stdout.flush()
