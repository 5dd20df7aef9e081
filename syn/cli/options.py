"""Options that several commands share, and what they lead to."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from syn.services.recall.pagein import Audience
    from syn.services.workspace import Surroundings, Workspace

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Ref = Annotated[
    str, typer.Option("--ref", metavar="REF", help="Read this commit instead of the work tree.")
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine", metavar="ENGINE", help="here, processes, processes:N or dask://host:port."
    ),
]
Reason = Annotated[str, typer.Option("-m", "--reason", help="Why, in one line.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]


@dataclass(frozen=True, slots=True)
class Globals:
    """What the root options said."""

    directory: Path
    audience: "Audience" = "person"
    """Whom a read answers: an agent is not given what nobody decided on."""
    at: str = ""
    """The commit that a read is of (`syn at`); "" is the work tree."""


def audience_of(context: typer.Context) -> "Audience":
    """Whom this command answers."""
    found: Globals | None = context.find_object(Globals)
    return found.audience if found else "person"


def surroundings_here() -> "Surroundings":
    """The clock and folders of this command, where it works on no workspace of its own."""
    from syn.services.workspace import surroundings

    return surroundings(os.environ)  # noqa: TID251 - a port reads the environment


def open_workspace(context: typer.Context) -> "Workspace":
    """The workspace around the directory the command runs in; a cut-off write is finished first."""
    from syn.services.workspace import find_workspace, surroundings

    place: Globals = context.find_object(Globals) or Globals(Path())
    workspace = find_workspace(place.directory, surroundings(os.environ))  # noqa: TID251 - a port
    if (workspace.private_dir / "intent.json").exists():
        from syn.cli.output import note
        from syn.services.writing.exclusive import settle

        settle(workspace, note)
    return workspace
