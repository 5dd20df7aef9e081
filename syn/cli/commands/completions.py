"""`syn completions`."""

import sys
from typing import Annotated

import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def completions(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
) -> None:
    """Print the script that completes commands and options in a shell.

    It is for the shell's start: eval "$(syn completions bash)" in ~/.bashrc, the same with zsh in
    ~/.zshrc after compinit, or syn completions fish | source in fish's config.fish.

    Example: syn completions fish > ~/.config/fish/completions/syn.fish
    """
    from syn.cli.completing import script

    sys.stdout.write(script(shell) + "\n")
