"""Options that name what comes from outside the repository."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from syn.keys.trust import Trust
    from syn.model.config import Profile
    from syn.model.finding import Level
    from syn.services.proving.proofs import Outside
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


def outside_of(
    workspace: "Workspace", since: str, root: str, trust: list[Path] | None
) -> "Outside":
    """What the options of a verification bring from outside the repository."""
    from syn.services.proving.proofs import Outside
    from syn.services.trust.outside import read_root, read_since
    from syn.services.trust.pins import load_pins

    trusted = trust_of(trust, workspace)
    if not since and not root:
        return Outside(trust=trusted)
    pins = load_pins(workspace.around, workspace.config.id)
    commit, pinned = read_root(workspace, root, pins) if root else ("", False)
    return Outside(
        trust=trusted,
        since=read_since(workspace, since, pins) if since else None,
        pins=pins,
        root=commit,
        root_pinned=pinned,
    )


def profile_of(text: str) -> "Profile":
    """The profile that `--profile` names."""
    from syn.errors import UsageError

    if text not in ("standard", "strict"):
        raise UsageError("profile", f"--profile: expected standard or strict, got {text!r:.40}")
    return "strict" if text == "strict" else "standard"


def required_level(text: str) -> "Level | None":
    """The level that `--require` names; None for ""."""
    from syn.errors import UsageError
    from syn.model.finding import Level

    if not text:
        return None
    if text.upper() not in ("L1", "L2", "L3", "L4"):
        raise UsageError("level", f"--require: expected L1, L2, L3 or L4, got {text!r:.40}")
    return Level[text.upper()]


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
    from syn.cli.options import surroundings_here

    return surroundings_here() if workspace is None else workspace.around
