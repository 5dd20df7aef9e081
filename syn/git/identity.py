"""The name and address git has for the person here; the environment is for the ports."""

import pygit2

from syn.git.repository import Repository


def identity(repo: Repository) -> tuple[str, str]:
    """`user.name` and `user.email` from git's configuration; "" where one is not set."""
    return _setting(repo, "user.name"), _setting(repo, "user.email")


def _setting(repo: Repository, name: str) -> str:
    try:
        return str(repo.pg.config[name])
    except (KeyError, pygit2.GitError, ValueError):
        return ""
