"""`syn init`."""

import os
from pathlib import Path
from typing import Annotated

import typer

from syn.cli.options import Globals, JsonFlag
from syn.cli.output import note, out, print_json

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def init(
    context: typer.Context,
    name: Annotated[str, typer.Option(help="The workspace's name; default: the folder's.")] = "",
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Which files are facts, as 'vault/**/*.md'; repeatable."),
    ] = None,
    commit: Annotated[
        bool | None,
        typer.Option(
            "--commit/--no-commit",
            help="Commit accepted writes. Default: yes in a repository made here, else no.",
        ),
    ] = None,
    branch: Annotated[str, typer.Option(help="The branch that publishes.")] = "main",
    json: JsonFlag = False,
) -> None:
    """Make this folder a workspace: an empty folder, a repository, or a Markdown vault.

    Writes only its own files, never one that is there; twice is a no-op.

    Example: syn init --include 'vault/**/*.md'
    """
    from syn.services.init import Wishes
    from syn.services.init import init as make
    from syn.services.workspace import surroundings

    place = context.find_object(Globals)
    around = surroundings(os.environ)  # noqa: TID251 - a port reads the environment
    wishes = Wishes(name=name, include=tuple(include or ()), branch=branch, commit=commit)
    done = make(place.directory if place else Path(), wishes, around)
    if json:
        print_json(
            {
                "workspace": done.workspace,
                "root": str(done.root),
                "written": list(done.written),
                "repository": done.repository,
                "warnings": list(done.warnings),
            }
        )
        return
    for path in done.written:
        out(f"wrote {path}")
    if not done.written:
        out("this is a workspace already; nothing was written")
    for warning in done.warnings:
        note(f"warning: {warning}")
    note("syn status shows what is here; syn adopt records it")
