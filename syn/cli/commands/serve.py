"""`syn serve`."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.options import Globals, JsonFlag, audience_of, open_workspace
from syn.cli.output import note, out, print_json

if TYPE_CHECKING:
    from syn.services.workspace import Surroundings, Workspace

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def serve(
    context: typer.Context,
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="The port; 0: any that is free.")
    ] = 0,
    host: Annotated[
        str, typer.Option("--host", help="127.0.0.1, ::1 or localhost; never another machine.")
    ] = "127.0.0.1",
    json: JsonFlag = False,
) -> None:
    """Show this memory as a page in a browser of this machine: read only.

    Search, facts with their history and check, the timeline of supersessions, the report. Prints
    the address, which holds a secret: whoever has it can read. Ctrl-C ends it, with status 130.

    Example: syn serve --port 8765
    """
    from syn.services.doors.localserver import LocalServer
    from syn.services.doors.session import Session
    from syn.services.doors.site import Site
    from syn.services.workspace import find_workspace, surroundings

    workspace = open_workspace(context)
    found = context.find_object(Globals)
    place = found.directory if found else Path()

    def clock() -> "Surroundings":
        return surroundings(os.environ)  # noqa: TID251 - a port

    def opened(around: "Surroundings") -> "Workspace":
        return find_workspace(place, around)

    note(f"serving {workspace.root}")
    session = Session(opened, clock, audience_of(context), note)
    with LocalServer(Site(session, workspace.config.name).get, host, port) as server:
        if json:
            print_json({"url": server.url, "port": server.port})
        else:
            out(server.url)
            note("read only, for this machine; Ctrl-C ends it")
        sys.stdout.flush()
        try:
            server.serve_forever()
        finally:
            session.close()
