"""Small histories for INV-10: commits with trees and ledgers, turned into the steps of a walk."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from syn.ledger.entry import HashedEntry
from syn.ledger.transitions import Change, Seen, Side, Step
from tests.support.ledgers import digest

Tree = dict[str, Seen]


@dataclass(frozen=True)
class Commit:
    """A commit's tree by path, and how far its ledger goes."""

    id: str
    parents: tuple[str, ...]
    tree: Tree
    ledger: dict[str, int]


def file(content: str, fact: str = "") -> Seen:
    """What a tree holds for a text, with the `id` written in it."""
    return Seen(digest(content), fact)


class History:
    """Commits in the order they are made, so every parent before its children."""

    def __init__(self) -> None:
        self.commits: dict[str, Commit] = {}

    def commit(
        self, name: str, tree: Tree, entries: Sequence[HashedEntry], *parents: str
    ) -> "History":
        """Add a commit; without parents named, it follows the newest one."""
        newest = tuple(self.commits)[-1:]
        ledger = Counter(entry.writer for _, entry in entries)
        self.commits[name] = Commit(name, parents or newest, dict(tree), dict(ledger))
        return self

    def steps(self) -> list[Step]:
        """The walk from the newest commit down."""
        return [self._step(commit) for commit in reversed(self.commits.values())]

    def _step(self, commit: Commit) -> Step:
        parents = [self.commits[name] for name in commit.parents]
        paths = sorted(commit.tree.keys() | {path for p in parents for path in p.tree})
        changes = []
        for path in paths:
            now = commit.tree.get(path, Seen())
            before = tuple(parent.tree.get(path, Seen()) for parent in parents)
            if now not in before and (before or now.payload):
                changes.append(Change(path, now, before))
        return Step(
            at=Side(commit.id, commit.ledger),
            parents=tuple(Side(p.id, p.ledger) for p in parents),
            changes=tuple(changes),
        )
