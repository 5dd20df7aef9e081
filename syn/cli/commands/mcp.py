"""`syn mcp`."""

import importlib.util
import os
import sys

import typer

from syn.cli.options import Globals

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def mcp(context: typer.Context) -> None:
    """Serve this memory to agents over the Model Context Protocol, on stdin and stdout.

    Reads are checked before they are answered; writes only propose.

    Example: syn -C ~/memory mcp
    """
    from syn.errors import CannotError

    if importlib.util.find_spec("mcp") is None:
        raise CannotError(
            "no-mcp",
            "the Model Context Protocol library is not installed",
            "pip install 'synapse-memory[mcp]'",
        )
    place = context.find_object(Globals)
    directory = str(place.directory if place else ".")
    # The ports do not know each other: the other one is started, not imported.
    os.execv(sys.executable, [sys.executable, "-m", "syn.mcp", directory])  # noqa: S606 - our own program
