"""Where git would look for hooks; nothing there is ever run by Synapse."""

from syn.git.repository import Repository


def hooks_path(repo: Repository) -> str:
    """`core.hooksPath` from git's configuration; "" where it is not set."""
    try:
        return str(repo.pg.config["core.hookspath"])
    except KeyError:
        return ""
