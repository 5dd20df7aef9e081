"""From a command line to a running server, and to the worker that reads for it."""

import argparse
import gc
import io
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from syn.mcp.pipes import Pipes

if TYPE_CHECKING:
    from syn.services.sessions.recording import Recording
    from syn.services.workspace import Surroundings, Workspace

SWITCH = 0.0005
"""Seconds after which Python gives another thread its turn. An answer asks for it a hundred times;
with the usual 5 ms it would wait that often while the work tree is listed again."""


def main(pipes: Pipes, words: list[str] | None = None) -> None:
    """Serve the workspace around a folder."""
    _talk_in_utf8()
    asked = _parser().parse_args(words)
    # Thousands of classes are made that stay to the end: looking for garbage among them takes as
    # long as a fifth of the start.
    gc.disable()
    from syn.mcp.link import Link, WorkerGoneError

    given = [asked.directory] if asked.record is None else [asked.directory, "--record"]
    link = Link([*given, *([asked.record] if asked.record else [])], [asked.directory])
    from syn.mcp import sdk

    sdk.load()
    from syn.mcp.server import serve

    gc.freeze()
    gc.enable()
    if asked.record is not None:
        try:
            link.wait()
        except WorkerGoneError as error:
            # It said why: a session that cannot be recorded is not begun.
            sys.exit(error.status)
    serve(pipes, link)


def work(pipes: Pipes, words: list[str] | None = None) -> None:
    """Read for a server; the workspace is opened again for every fresh reading."""
    _talk_in_utf8()
    # The server leaves when it is interrupted, and closes our stdin then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.setswitchinterval(SWITCH)
    gc.disable()
    asked = _parser().parse_args(words)
    place = Path(asked.directory)
    from syn.mcp.desk import Desk, note
    from syn.services.doors.session import Session
    from syn.services.workspace import find_workspace, surroundings

    def clock() -> "Surroundings":
        return surroundings(os.environ)  # noqa: TID251 - a port

    def open_workspace(around: "Surroundings") -> "Workspace":
        return find_workspace(place, around)

    recording = _recording(place, clock(), asked.record) if asked.record is not None else None
    gc.freeze()
    gc.enable()
    # As for the command line: a listing makes many small values that live on.
    gc.set_threshold(100_000, 20, 100)
    Desk(pipes, Session(open_workspace, clock, "agent", note), recording).serve()


def _talk_in_utf8() -> None:
    if isinstance(sys.stderr, io.TextIOWrapper):
        # Facts are UTF-8 whatever the locale is, and talk must never fail half-way.
        sys.stderr.reconfigure(encoding="utf-8", errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m syn.mcp")
    parser.add_argument("directory", nargs="?", default=".")
    parser.add_argument("--record", nargs="?", const="", default=None, metavar="NAME")
    return parser


def _recording(place: Path, around: "Surroundings", name: str) -> "Recording":
    """The recording of this session; a session that cannot be recorded is not begun."""
    from syn.errors import SynError
    from syn.services.sessions.recording import Recording, session_name
    from syn.services.workspace import find_workspace

    try:
        workspace = find_workspace(place, around)
        return Recording(workspace, session_name(name, workspace))
    except SynError as error:
        sys.stderr.write(f"syn mcp: {error.message}\n")
        sys.exit(3)
