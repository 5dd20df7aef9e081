"""An owner who publishes and an auditor who checks, in two clones with two homes."""

import subprocess
from pathlib import Path

from tests.support.cli import Ran
from tests.support.inside import done, inside
from tests.support.workspaces import Place, make_workspace


def party(folder: Path, name: str, root: Path) -> Place:
    """Somebody with a home and a name of their own, at a work tree."""
    home = folder / name
    home.mkdir(exist_ok=True)
    return Place(
        root,
        {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "SYNAPSE_CONFIG_DIR": str(home / "config"),
            "SYNAPSE_CACHE_DIR": str(home / "cache"),
            "SYNAPSE_NOW": "2026-11-30T12:00:00Z",
            "GIT_AUTHOR_NAME": name.title(),
            "GIT_AUTHOR_EMAIL": f"{name}@example.org",
            "GIT_COMMITTER_NAME": name.title(),
            "GIT_COMMITTER_EMAIL": f"{name}@example.org",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
        },
    )


def git(place: Place, *words: str, **env: str) -> str:
    """Run git there; its output."""
    ran = subprocess.run(
        ["git", *words],
        cwd=place.root,
        env={**place.env, **env},
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout.strip()


def edit(place: Place, text: str) -> None:
    """Change one fact by hand and record it."""
    (place.root / "facts/plain.md").write_text(text, "utf-8")
    done(place, "adopt", "--yes", "-m", "a change")


class Parties:
    """The owner's workspace, the auditor's clone of it, and what passes between them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        made = make_workspace(folder / "made")
        self.owner = party(folder, "owner", made.root)
        self.owner.env["SYNAPSE_CONFIG_DIR"] = str(folder / "owner/config")
        done(self.owner, "key", "init", "--name", "owner")
        done(self.owner, "checkpoint", "--host", "memory.example")
        self.key = folder / "owner.pub"
        self.key.write_text(done(self.owner, "key", "export").out)
        self.witness = folder / "first.tlog-proof"
        done(self.owner, "witness", "publish", "-o", str(self.witness))
        self.auditor = self.clone("auditor")

    def clone(self, name: str, *options: str) -> Place:
        """A fresh clone of the owner's workspace for this party."""
        root = self.folder / f"{name}-clone"
        source = self.owner.root.as_uri()
        subprocess.run(
            ["git", "-c", "protocol.file.allow=always", "clone", "-q", *options, source, str(root)],
            check=True,
            env=self.owner.env,
        )
        return party(self.folder, name, root)

    def fetch(self) -> None:
        """The auditor takes the owner's branch, whatever it became."""
        git(self.auditor, "fetch", "-q", "origin", "+main:refs/remotes/origin/main")
        git(self.auditor, "reset", "-q", "--hard", "origin/main")

    def verify(self, *words: str, place: Place | None = None) -> Ran:
        """The auditor's question: does today extend the witness?"""
        where = place or self.auditor
        given = ("--since", str(self.witness), "--trust", str(self.key))
        return inside(where, "verify", "--json", *given, *words)
