"""Completion on a shell's command line, by Typer's own machinery.

Only words of this program are offered, never an id or a title: zsh evaluates what it is given, and
a repository is no place to take code from.
"""

import os

PROGRAM = "syn"
VARIABLE = "_SYN_COMPLETE"
"""What a shell's script sets when it asks, with no arguments beside it."""
SHELLS = ("bash", "zsh", "fish")


def asked() -> bool:
    """Whether it is a shell that asks."""
    return bool(os.environ.get(VARIABLE))  # noqa: TID251 - a port reads the environment


def answer() -> int:
    """Print the words that fit what was typed so far, for the shell that asks; the status."""
    from typer._completion_classes import completion_init
    from typer.completion import shell_complete

    from syn.cli.app import build

    completion_init()
    instruction = os.environ.get(VARIABLE, "")  # noqa: TID251 - a port reads the environment
    try:
        return shell_complete(build(), {}, PROGRAM, VARIABLE, instruction)
    except SystemExit as done:
        # The fish script asks a yes-or-no question, which Typer answers with a status.
        return done.code if isinstance(done.code, int) else 1


def script(shell: str) -> str:
    """The script that makes a shell ask.

    Raises:
        UsageError: `unknown-shell`.
    """
    from typer._completion_shared import get_completion_script

    from syn.errors import UsageError

    if shell not in SHELLS:
        known = ", ".join(SHELLS)
        raise UsageError("unknown-shell", f"no completions for {shell!r:.40}", f"one of: {known}")
    return get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell)
