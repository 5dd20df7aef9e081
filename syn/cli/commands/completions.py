"""`syn completions`."""

import os
import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.options import JsonFlag
from syn.cli.output import note, out, print_json, table

if TYPE_CHECKING:
    from syn.model.finding import Json
    from syn.services.doors.completions import Completion

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=(
        "Complete commands and options in a shell: bash, zsh or fish.\n\n"
        "install puts the script where the shell looks for it; the others print it, for the "
        'shell\'s start: eval "$(syn completions bash)".\n\n'
        "Example: syn completions install"
    ),
)
Shell = Annotated[
    str, typer.Argument(metavar="[SHELL]", help="bash, zsh or fish; default that of $SHELL.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change; write nothing.")]


@app.command()
def bash() -> None:
    """Print the script for bash: eval "$(syn completions bash)" in ~/.bashrc.

    Example: syn completions bash > ~/.syn-completion.bash
    """
    _print("bash")


@app.command()
def zsh() -> None:
    """Print the script for zsh: eval "$(syn completions zsh)" in ~/.zshrc after compinit.

    Example: syn completions zsh > ~/.syn-completion.zsh
    """
    _print("zsh")


@app.command()
def fish() -> None:
    """Print the script for fish: syn completions fish | source in config.fish.

    Example: syn completions fish > ~/.config/fish/completions/syn.fish
    """
    _print("fish")


def _print(shell: str) -> None:
    from syn.cli.completing import script

    sys.stdout.write(script(shell) + "\n")


@app.command()
def install(shell: Shell = "", dry_run: DryRun = False) -> None:
    """Write the script where the shell looks for it; a file that is not ours is kept.

    Exit status: 0 it stands there; 1 a file of somebody else's does; 2 usage; 3 could not be
    written.

    Example: syn completions install zsh
    """
    from syn.services.doors.completions import install as run

    found = _completion(shell)
    changed = run(found, dry_run=dry_run)
    done = "would be written" if dry_run else "written"
    out(f"{found.path}: {done if changed else 'unchanged'}")
    note(found.hint)


@app.command()
def uninstall(shell: Shell = "", dry_run: DryRun = False) -> None:
    """Take our script away again; a file that is not ours is kept.

    Exit status: 0 it is gone; 1 a file of somebody else's stands there; 2 usage; 3 could not be
    removed.

    Example: syn completions uninstall zsh
    """
    from syn.services.doors.completions import uninstall as run

    found = _completion(shell)
    changed = run(found, dry_run=dry_run)
    done = "would be removed" if dry_run else "removed"
    out(f"{found.path}: {done if changed else 'absent'}")


@app.command()
def status(json: JsonFlag = False) -> None:
    """Show for which shells the script is installed, and where.

    Example: syn completions status
    """
    from syn.cli.completing import SHELLS

    found = [_completion(shell) for shell in SHELLS]
    if not json:
        table((item.shell, item.state, str(item.path)) for item in found)
        return
    items: list[Json] = [
        {
            "id": item.shell,
            "type": "completion",
            "title": item.shell,
            "path": str(item.path),
            "state": item.state,
        }
        for item in found
    ]
    print_json({"items": items, "total": len(items), "next": None})


def _completion(shell: str) -> "Completion":
    from syn.cli.completing import script
    from syn.errors import UsageError
    from syn.services.doors.completions import completion

    variables = os.environ  # noqa: TID251 - a port reads the environment
    name = shell or PurePath(variables.get("SHELL", "")).name
    if not name:
        raise UsageError(
            "unknown-shell", "SHELL is not set: which shell?", "syn completions install bash"
        )
    return completion(name, script(name) + "\n", Path.home(), variables)
