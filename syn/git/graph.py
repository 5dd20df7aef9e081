"""The commits between a trusted one and another, as a compact graph of numbers.

Commits are re-hashed raw objects, parents come from their bytes; dates play no part. A node costs
its id, its tree's id and its parents' numbers, so that a history of any length of messages and
signatures takes the same memory per commit.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from syn.git.history import parent_of
from syn.git.objects import MissingObjectError, ObjectStore
from syn.git.parse import Commit

Visit: TypeAlias = Callable[[int, Commit], None]


@dataclass(slots=True)
class Graph:
    """Nodes are numbers from 0, which is the commit the walk began with."""

    ids: list[bytes] = field(default_factory=list)
    """20 bytes each."""
    trees: list[bytes] = field(default_factory=list)
    """20 bytes each; b"" for a commit that is not here."""
    parents: list[tuple[int, ...]] = field(default_factory=list)
    index: dict[bytes, int] = field(default_factory=dict)
    missing: list[MissingObjectError] = field(default_factory=list)
    """Commits that are named and not here."""

    def node(self, oid: bytes) -> int:
        """The number of a commit, given when it is first named."""
        number = self.index.get(oid)
        if number is None:
            number = self.index[oid] = len(self.ids)
            self.ids.append(oid)
            self.trees.append(b"")
            self.parents.append(())
        return number

    def reach(self, starts: Iterable[int]) -> set[int]:
        """Every node that is one of these or an ancestor of one, as far as it was walked."""
        found = set(starts)
        pending = list(found)
        while pending:
            for parent in self.parents[pending.pop()]:
                if parent not in found:
                    found.add(parent)
                    pending.append(parent)
        return found

    def parents_first(self, nodes: set[int]) -> list[int]:
        """These nodes, every parent among them before its children; the graph alone decides."""
        waiting = dict.fromkeys(nodes, 0)
        for node in nodes:
            for parent in self.parents[node]:
                if parent in waiting:
                    waiting[parent] += 1
        ready = sorted(node for node, count in waiting.items() if not count)
        ordered = []
        while ready:
            node = ready.pop()
            ordered.append(node)
            for parent in self.parents[node]:
                if parent in waiting:
                    waiting[parent] -= 1
                    if not waiting[parent]:
                        ready.append(parent)
        ordered.reverse()
        return ordered


def explore(
    store: ObjectStore,
    head: str,
    root: str,
    shallow: frozenset[str] = frozenset(),
    visit: Visit | None = None,
) -> tuple[Graph, set[int]]:
    """The graph from `head` down to `root`, and the nodes that are not reachable from `root`.

    What lies below `root` is read only when some line of history goes past it (a branch that was
    forked before), because only then it decides what is new.

    Args:
        store: where the commits are.
        head: where the walk begins.
        root: the trusted commit.
        shallow: commits at which this clone was cut.
        visit: called with every node that may be new and its commit, so that it is read once.

    Raises:
        MissingObjectError: `head` itself is not here.
    """
    graph = Graph()
    trusted = bytes.fromhex(root)
    first = store.commit(head)
    graph.node(bytes.fromhex(head))
    if head != root:
        _walk(store, graph, first, trusted, shallow, visit)
    boundary = graph.index.get(trusted)
    ends = any(not p for n, p in enumerate(graph.parents) if graph.trees[n] and n != boundary)
    if boundary is not None:
        below = _read(store, graph, boundary, shallow)
        if below is not None and (ends or graph.missing):
            _walk(store, graph, below, b"", shallow)
    old = graph.reach([boundary]) if boundary is not None else set()
    return graph, {n for n in range(len(graph.ids)) if n not in old and graph.trees[n]}


def _read(store: ObjectStore, graph: Graph, node: int, shallow: frozenset[str]) -> Commit | None:
    """The trusted commit's own tree is always read: its policy is where everything begins."""
    try:
        commit = store.commit(graph.ids[node].hex())
    except MissingObjectError as error:
        graph.missing.append(error)
        return None
    graph.trees[node] = bytes.fromhex(commit.tree)
    return commit


def _walk(
    store: ObjectStore,
    graph: Graph,
    start: Commit,
    stop: bytes,
    shallow: frozenset[str],
    visit: Visit | None = None,
) -> None:
    pending = [start]
    while pending:
        commit = pending.pop()
        node = graph.index[bytes.fromhex(commit.oid)]
        graph.trees[node] = bytes.fromhex(commit.tree)
        if visit is not None:
            visit(node, commit)
        numbers = []
        for position, parent in enumerate(commit.parents):
            oid = bytes.fromhex(parent)
            known = oid in graph.index
            numbers.append(graph.node(oid))
            if known or oid == stop:
                continue
            try:
                pending.append(parent_of(store, commit, position, shallow))
            except MissingObjectError as error:
                graph.missing.append(error)
        graph.parents[node] = tuple(numbers)
