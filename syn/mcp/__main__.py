"""`python -m syn.mcp DIR`: what `syn mcp` runs."""

import os
import sys
from pathlib import Path

from syn.mcp.server import note, serve
from syn.services.session import Session
from syn.services.workspace import Workspace, find_workspace, surroundings


def main() -> None:
    """Serve the workspace around a folder; it is opened again for every fresh reading."""
    place = Path(sys.argv[1] if len(sys.argv) > 1 else ".")

    def open_workspace() -> Workspace:
        return find_workspace(place, surroundings(os.environ))  # noqa: TID251 - a port

    serve(Session(open_workspace, "agent", note))


main()
