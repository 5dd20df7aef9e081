"""Options that name what comes from outside the repository."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from syn.keys.trust import Trust
    from syn.services.workspace import Surroundings, Workspace

TrustFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--trust", metavar="FILE", help="Public keys from outside the repository; repeatable."
    ),
]


def trust_of(files: list[Path] | None, workspace: "Workspace | None") -> "Trust | None":
    """The keys of every `--trust` file, or None."""
    from syn.services.trust.outside import load_trust

    return load_trust(files or (), workspace)


def workspace_or_none(context: typer.Context) -> "Workspace | None":
    """The workspace here, or None: the command works without one too."""
    from syn.cli.options import open_workspace
    from syn.errors import UsageError
    from syn.git.repository import NotARepositoryError

    try:
        return open_workspace(context)
    except NotARepositoryError:
        return None
    except UsageError as error:
        if error.code != "no-workspace":
            raise
        return None


def surroundings_of(workspace: "Workspace | None") -> "Surroundings":
    """The clock and folders of this command."""
    import os

    from syn.services.workspace import surroundings

    if workspace is not None:
        return workspace.around
    return surroundings(os.environ)  # noqa: TID251 - a port reads the environment
