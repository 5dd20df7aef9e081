"""From a command line to a running server."""

import argparse
import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from syn.mcp.pipes import Pipes
from syn.services.workspace import Surroundings, Workspace, find_workspace, surroundings

if TYPE_CHECKING:
    from syn.services.sessions.recording import Recording


def main(pipes: Pipes, words: list[str] | None = None) -> None:
    """Serve the workspace around a folder; it is opened again for every fresh reading."""
    if isinstance(sys.stderr, io.TextIOWrapper):
        # Facts are UTF-8 whatever the locale is, and talk must never fail half-way.
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")
    asked = _parser().parse_args(words)
    place = Path(asked.directory)

    def clock() -> Surroundings:
        return surroundings(os.environ)  # noqa: TID251 - a port

    def open_workspace(around: Surroundings) -> Workspace:
        return find_workspace(place, around)

    from syn.mcp.server import note, serve
    from syn.services.doors.session import Session

    recording = _recording(place, clock(), asked.record) if asked.record is not None else None
    serve(pipes, Session(open_workspace, clock, "agent", note), recording)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m syn.mcp")
    parser.add_argument("directory", nargs="?", default=".")
    parser.add_argument("--record", nargs="?", const="", default=None, metavar="NAME")
    return parser


def _recording(place: Path, around: Surroundings, name: str) -> "Recording":
    """The recording of this session; a session that cannot be recorded is not begun."""
    from syn.errors import SynError
    from syn.services.sessions.recording import Recording, session_name

    try:
        workspace = find_workspace(place, around)
        return Recording(workspace, session_name(name, workspace))
    except SynError as error:
        sys.stderr.write(f"syn mcp: {error.message}\n")
        sys.exit(3)
