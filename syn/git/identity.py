"""The name and address that git's configuration gives whoever commits here."""

import pygit2

from syn.git.repository import Repository


def identity(repo: Repository) -> tuple[str, str]:
    """`user.name` and `user.email`, each "" where it is not set; nothing of it is ever run."""
    try:
        config = repo.pg.config.snapshot()
    except (pygit2.GitError, OSError):
        return "", ""
    return _value(config, "user.name"), _value(config, "user.email")


def _value(config: pygit2.Config, name: str) -> str:
    try:
        return config[name] or ""
    except (KeyError, pygit2.GitError, ValueError):
        return ""
