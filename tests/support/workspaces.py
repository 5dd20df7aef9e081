"""A small, ready workspace in a temporary folder, made through the services."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from syn.services.init import Wishes, init
from syn.services.workspace import Workspace, find_workspace, surroundings
from syn.services.writing.adopt import Consent, adopt, plan_adopt

NOW = "2026-11-30T12:00:00Z"

FACTS = {
    "facts/owner-1.md": (
        "---\nid: owner-1\ntype: statement\ntitle: Ledger owns payments\nsubject: payments\n"
        "field: owner\nvalue: ledger\nvalid_from: 2025-01-01\nvalid_to: 2026-04-15\n"
        "superseded_by: owner-2\n---\nSee [[limit]].\n"
    ),
    "facts/owner-2.md": (
        "---\nid: owner-2\ntype: statement\ntitle: Checkout owns payments\nsubject: payments\n"
        "field: owner\nvalue: checkout\nvalid_from: 2026-04-15\nsupersedes: owner-1\n---\nBody.\n"
    ),
    "facts/limit.md": "---\nid: limit\ntitle: Refund limit\ntags: [money]\n---\nTwo people.\n",
    "facts/plain.md": "# Plain\n\nOnly a body.\n",
}
"""Path to content: two owners of one thing, one after the other, and two notes."""


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace and the environment its commands run in."""

    root: Path
    env: dict[str, str]

    def open(self, now: str = "") -> Workspace:
        """The workspace as services take it; the clock is the environment's unless it is given."""
        env = {**self.env, "SYNAPSE_NOW": now} if now else self.env
        return find_workspace(self.root, surroundings(env))


def make_place(folder: Path, now: str = NOW) -> Place:
    """An empty folder with its own home, for `syn init`."""
    root = folder / "ws"
    root.mkdir(parents=True)
    home = folder / "home"
    home.mkdir()
    env = {
        "PATH": f"{os.defpath}:/usr/local/bin",
        "HOME": str(home),
        "SYNAPSE_CONFIG_DIR": str(home / "config"),
        "SYNAPSE_CACHE_DIR": str(home / "cache"),
        "SYNAPSE_NOW": now,
        "GIT_AUTHOR_NAME": "Ada Author",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    return Place(root, env)


def make_workspace(
    folder: Path, facts: dict[str, str] | None = None, *, adopted: bool = True, now: str = NOW
) -> Place:
    """A workspace with these facts (`FACTS` by default), recorded and committed."""
    place = make_place(folder, now)
    for path, text in (FACTS if facts is None else facts).items():
        file = place.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="")
    init(place.root, Wishes(name="test"), surroundings(place.env))
    if adopted:
        adopt_all(place)
    return place


def git(place: Place, *words: str) -> str:
    """Run git itself in the workspace; what it printed, without the final newline."""
    names = {"GIT_COMMITTER_NAME": "Ada Author", "GIT_COMMITTER_EMAIL": "ada@example.org"}
    done = subprocess.run(
        ["git", *words],
        cwd=place.root,
        env={**place.env, **names},
        check=True,
        capture_output=True,
    )
    return done.stdout.decode().removesuffix("\n")


def adopt_all(place: Place, reason: str = "import") -> None:
    """Record everything that is in the files now; what the gate holds is named."""
    workspace = place.open()
    shown = plan_adopt(workspace, (), _quiet)
    paths: list[str] = []
    if shown.judgement.held:
        paths = [path for edit in shown.edits for path in (edit.path, edit.was) if path]
        shown = plan_adopt(workspace, paths, _quiet)
    adopt(workspace, shown, paths, Consent("unreviewed", reason, deletes=True), _quiet)


def _quiet(_: str) -> None:
    """Takes the talk of a service."""
