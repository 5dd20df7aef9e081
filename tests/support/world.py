"""One public case, built, as the command line sees it; and the table of the right answers."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.cases import Case
from tests.support.cli import Ran
from tests.support.gitbox import GitBox
from tests.support.inside import inside
from tests.support.workspaces import NOW, Place


@dataclass(frozen=True, slots=True)
class World:
    """A case's repository and the environment in which `syn` runs on it."""

    case: Case
    box: GitBox
    place: Place

    @classmethod
    def build(cls, case: Case, folder: Path) -> "World":
        """Run the case's setup in a fresh folder."""
        box = case.build(folder / "R")
        return cls(case, box, place_of(box, box.path))

    @property
    def root(self) -> Path:
        """The work tree."""
        return self.place.root

    def at(self, root: Path) -> "World":
        """The same surroundings, run from another folder."""
        return World(self.case, self.box.at(root), place_of(self.box, root))

    def run(self, *words: str, env: dict[str, str] | None = None) -> Ran:
        """Run a command; no failure may be an internal error."""
        ran = inside(self.place, *words, env=env)
        assert "internal error" not in ran.err, ran.err
        return ran

    def ok(self, *words: str) -> Ran:
        """Run a command that has to succeed."""
        ran = self.run(*words)
        assert ran.status == 0, (words, ran.out, ran.err)
        return ran

    def init(self) -> "World":
        """`syn init`."""
        self.ok("init")
        return self

    def recorded(self) -> "World":
        """`syn init`, and everything that can be read recorded."""
        self.init()
        self.ok("adopt", "--yes")
        return self

    def problems(self) -> set[tuple[str, int, str]]:
        """What `doctor` names: path, line, code."""
        found = self.ok("doctor", "--json").json["items"]
        return {(item["path"], item["line"], item["code"]) for item in found}

    def verdict(self, *words: str) -> tuple[int, str, set[str]]:
        """Exit status, verdict, and every finding as `CODE path:line`."""
        ran = self.run("verify", "--json", *words)
        predicate = ran.json["predicate"]
        findings = {
            f"{f['code']} {f['path']}:{f['line']}"
            for invariant in predicate["invariants"]
            for f in invariant["findings"]
            if f.get("severity") != "warning"
        }
        findings |= {
            f"{f['code']} {f['path']}:{f['line']}"
            for f in predicate["local"].get("findings", [])
            if f["severity"] != "warning"
        }
        return ran.status, predicate["verdict"], findings

    def passes(self, *words: str) -> None:
        """`syn verify` has nothing to say against it."""
        assert self.verdict(*words) == (0, "pass", set())

    def fails(self, *findings: str) -> None:
        """`syn verify` fails with exactly these findings (`CODE path:line`)."""
        assert self.verdict() == (1, "fail", set(findings))

    def show(self, identifier: str) -> dict[str, Any]:
        """One fact, as a program gets it."""
        value: dict[str, Any] = self.ok("show", identifier, "--json").json
        return value

    def fields(self, identifier: str) -> dict[str, Any]:
        """The front matter of one fact."""
        value: dict[str, Any] = self.show(identifier)["fields"]
        return value

    def listed(self) -> list[tuple[str, str]]:
        """Id and path of every fact, in the order of the index."""
        return [(item["id"], item["path"]) for item in self.ok("list", "--json").json["items"]]

    def found(self, *words: str) -> list[str]:
        """The ids a search gives, sorted."""
        return sorted(item["id"] for item in self.ok("search", "--json", *words).json["items"])

    def digest(self) -> str:
        """The manifest's digest."""
        return self.ok("manifest", "--digest").out.strip()

    def rebuilds_alike(self) -> None:
        """An index from nothing is the one that stands, and the same again."""
        before = self.digest()
        for _ in range(2):
            shutil.rmtree(self.root / ".synapse" / "index.db", ignore_errors=True)
            (self.root / ".synapse" / "index.db").unlink(missing_ok=True)
            self.ok("reindex", "--full")
            assert self.digest() == before
            self.passes("--rebuild")


def place_of(box: GitBox, root: Path) -> Place:
    """A place for the command line, in the home of a case."""
    env = {
        "PATH": box.environment()["PATH"],
        "HOME": str(box.home),
        "SYNAPSE_CONFIG_DIR": str(box.home / "config"),
        "SYNAPSE_CACHE_DIR": str(box.home / "cache"),
        "SYNAPSE_NOW": NOW,
        "GIT_AUTHOR_NAME": "Ada Author",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_CONFIG_NOSYSTEM": "1",
    }
    return Place(root, env)


Check = Callable[[World], None]

ANSWERS: dict[str, Check] = {}
"""The start of a case's id (`Y01`) to the function that checks the right answer."""


def answers(identifier: str) -> Callable[[Check], Check]:
    """Enter a function into the table."""

    def enter(check: Check) -> Check:
        assert identifier not in ANSWERS, identifier
        ANSWERS[identifier] = check
        return check

    return enter
