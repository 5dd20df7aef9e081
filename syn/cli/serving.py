"""Becoming the server for agents: started in place of this process, not imported by it.

The ports do not know each other. An agent waits for the start, so `syn mcp` written plainly does
not wait for the command line to be built.
"""

import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from syn.errors import CannotError


def plain(words: Sequence[str]) -> str | None:
    """The folder of a command line that only says `[-C DIR] mcp`; None for any other one."""
    match words:
        case ["mcp"]:
            return "."
        case ["-C" | "--directory", folder, "mcp"] if folder and not folder.startswith("-"):
            return folder
        case _:
            return None


def become_server(words: Sequence[str]) -> NoReturn:
    """Be `python -m syn.mcp` with these words from now on.

    Raises:
        CannotError: the library is not installed (`no-mcp`).
    """
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise CannotError(
            "no-mcp",
            "the Model Context Protocol library is not installed",
            "pip install 'synapse-memory[mcp]'",
        )
    # -P: clients start us in a project, and nothing that lies there is this program.
    program = [sys.executable, "-P", "-m", "syn.mcp", *words]
    os.execv(sys.executable, program)  # noqa: S606 - our own program
