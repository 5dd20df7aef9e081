"""Real repositories for tests, made by the git program with fixed dates and no foreign settings.

    box = GitBox.new(tmp_path / "repo")
    first = box.commit("one", {"facts/a.md": "---\\nid: a\\n---\\nBody\\n"})
    other = box.clone(tmp_path / "other", "--depth=1")
    box.git("checkout", "-q", "--detach")

Importing this module also keeps libgit2, in this process, away from the configuration of the
person who runs the tests.
"""

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pygit2
from pygit2.enums import ConfigLevel

START = 1_700_000_000
"""Seconds since 1970 of a box's first commit; each further one is a minute later."""

for _level in (ConfigLevel.GLOBAL, ConfigLevel.XDG, ConfigLevel.SYSTEM, ConfigLevel.PROGRAMDATA):
    pygit2.settings.search_path[_level] = os.devnull


@dataclass(slots=True)
class GitBox:
    """One repository and the environment in which git runs on it."""

    path: Path
    """The work tree, or the git directory of a bare repository."""
    home: Path
    """HOME for git: holds nothing but `.gitconfig`."""
    clock: int = START
    env: dict[str, str] = field(default_factory=dict)
    """More environment for every git command of this box."""

    @classmethod
    def new(
        cls, path: Path, *, branch: str = "main", bare: bool = False, options: Sequence[str] = ()
    ) -> "GitBox":
        """`git init` at `path` (made when absent), with further init options."""
        path.mkdir(parents=True, exist_ok=True)
        box = cls(path, _home(path))
        bare_option = ["--bare"] if bare else []
        box.git("init", "-q", f"--initial-branch={branch}", *bare_option, *options, ".")
        return box

    def git(
        self, *args: str | bytes, stdin: bytes | str = b"", env: Mapping[str, str] | None = None
    ) -> str:
        """Run git here; its output without the final newline. A failure raises with its stderr."""
        output = self.git_bytes(*args, stdin=stdin, env=env)
        return output.decode("utf-8", "surrogateescape").rstrip("\n")

    def git_bytes(
        self, *args: str | bytes, stdin: bytes | str = b"", env: Mapping[str, str] | None = None
    ) -> bytes:
        """Run git here; its exact output. A failure raises with its stderr."""
        done = self.attempt(*args, stdin=stdin, env=env)
        if done.returncode:
            raise AssertionError(f"git {args} exited {done.returncode}: {done.stderr!r}")
        return done.stdout

    def attempt(
        self, *args: str | bytes, stdin: bytes | str = b"", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git here, whatever its exit status."""
        return subprocess.run(
            ["git", *args],
            cwd=self.path,
            env=self.environment(env),
            input=stdin.encode() if isinstance(stdin, str) else stdin,
            capture_output=True,
            check=False,
        )

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment git runs in."""
        date = f"{self.clock} +0000"
        return {
            "PATH": os.defpath + os.pathsep + "/usr/local/bin",
            "HOME": str(self.home),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": str(self.home / ".gitconfig"),
            "GIT_AUTHOR_NAME": "Ada Author",
            "GIT_AUTHOR_EMAIL": "ada@example.org",
            "GIT_COMMITTER_NAME": "Cora Committer",
            "GIT_COMMITTER_EMAIL": "cora@example.org",
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            **self.env,
            **(more or {}),
        }

    def write(self, path: str | bytes, data: str | bytes) -> Path:
        """Write a file of the work tree, with the folders above it."""
        target = self.path / os.fsdecode(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data.encode() if isinstance(data, str) else data)
        return target

    def commit(
        self, message: str = "change", files: Mapping[str, str | bytes | None] | None = None
    ) -> str:
        """Write `files` (None removes one), stage everything, commit; the commit's id."""
        for path, data in (files or {}).items():
            if data is None:
                (self.path / path).unlink()
            else:
                self.write(path, data)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        self.clock += 60
        return self.head()

    def head(self) -> str:
        """The commit HEAD stands on."""
        return self.git("rev-parse", "HEAD")

    def clone(self, path: Path, *options: str, local: bool = False) -> "GitBox":
        """`git clone` of this box to `path`; over the file protocol unless `local`."""
        source = str(self.path) if local else self.path.absolute().as_uri()
        self.git("clone", "-q", *options, source, str(path))
        return GitBox(path, _home(path), self.clock)

    def at(self, path: Path) -> "GitBox":
        """The same environment in another folder (a linked work tree, a nested repository)."""
        return GitBox(path, self.home, self.clock, dict(self.env))


def _home(path: Path) -> Path:
    home = path.parent / f"{path.name}.home"
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(
        '[init]\n\tdefaultBranch = main\n[protocol "file"]\n\tallow = always\n[gc]\n\tauto = 0\n'
    )
    return home
