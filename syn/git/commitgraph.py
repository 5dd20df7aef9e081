"""Commit-graph files (gitformat-commit-graph) compared with the commits they speak of.

Git answers questions about ancestry from these files and never compares them with the commits, so
one that was edited and given a new checksum tells another history (proofs 3.4).
"""

import hashlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from syn.errors import SynError
from syn.git.objects import ObjectStore

_HASH = 20
_FANOUT = 256 * 4
_DATA = _HASH + 16
_NONE = 0x70000000
_EDGES = 0x80000000


class GraphError(ValueError):
    """A commit-graph file that is no such file."""


class GraphFile(NamedTuple):
    """The tables of one file."""

    ids: tuple[bytes, ...]
    data: bytes
    """36 bytes a commit: tree, two parents' positions, generation and date."""
    edges: bytes
    """Positions of the further parents of octopus merges."""


class GraphCommit(NamedTuple):
    """What a commit-graph says of a commit."""

    oid: str
    tree: str
    parents: tuple[str, ...]


def disagreements(store: ObjectStore, objects: Path) -> Iterator[str]:
    """One line for each commit that the commit-graph of an objects folder tells differently."""
    try:
        layers = [parse_graph(path.read_bytes()) for path in _graph_files(objects)]
        for told in graph_commits(layers):
            fault = _compare(store, told)
            if fault:
                yield f"{told.oid}: {fault}"
    except (GraphError, OSError) as error:
        yield f"unreadable: {error}"


def parse_graph(data: bytes) -> GraphFile:
    """The tables of a commit-graph file.

    Raises:
        GraphError: damaged, or of another version or hash.
    """
    if data[:6] != b"CGPH\x01\x01" or len(data) < 8 + 24 + _HASH:
        raise GraphError("expected a version 1 commit-graph of SHA-1 ids")
    if hashlib.sha1(data[:-_HASH], usedforsecurity=False).digest() != data[-_HASH:]:
        raise GraphError("its checksum does not hold")
    table = [
        (data[at : at + 4], int.from_bytes(data[at + 4 : at + 12], "big"))
        for at in range(8, 8 + 12 * (data[6] + 1), 12)
    ]
    chunks = {name: data[start:end] for (name, start), (_, end) in pairwise(table)}
    ids = chunks.get(b"OIDL", b"")
    count = len(ids) // _HASH
    found = chunks.get(b"CDAT", b"")
    if len(chunks.get(b"OIDF", b"")) != _FANOUT or len(found) != count * _DATA:
        raise GraphError("its tables do not fit")
    names = tuple(ids[at : at + _HASH] for at in range(0, count * _HASH, _HASH))
    return GraphFile(names, found, chunks.get(b"EDGE", b""))


def graph_commits(layers: Sequence[GraphFile]) -> Iterator[GraphCommit]:
    """What a chain of files says of every commit; the lowest layer is first.

    Raises:
        GraphError: a position outside the chain.
    """
    ids = [oid for layer in layers for oid in layer.ids]
    for layer in layers:
        for number, oid in enumerate(layer.ids):
            row = layer.data[number * _DATA : (number + 1) * _DATA]
            positions = _parents(row[_HASH : _HASH + 8], layer.edges)
            if any(position >= len(ids) for position in positions):
                raise GraphError(f"{oid.hex()} has a parent outside the graph")
            parents = tuple(ids[position].hex() for position in positions)
            yield GraphCommit(oid.hex(), row[:_HASH].hex(), parents)


def _parents(row: bytes, edges: bytes) -> list[int]:
    first, second = int.from_bytes(row[:4], "big"), int.from_bytes(row[4:8], "big")
    found = [] if first == _NONE else [first]
    if not second & _EDGES:
        return found if second == _NONE else [*found, second]
    at = 4 * (second & ~_EDGES)
    while at + 4 <= len(edges):
        word = int.from_bytes(edges[at : at + 4], "big")
        found.append(word & ~_EDGES)
        if word & _EDGES:
            return found
        at += 4
    raise GraphError("a list of parents has no end")


def _compare(store: ObjectStore, told: GraphCommit) -> str:
    try:
        commit = store.commit(told.oid)
    except SynError as error:
        return f"the commit cannot be read ({error.code})"
    if commit.tree != told.tree:
        return f"expected tree {commit.tree}, the graph says {told.tree}"
    if commit.parents != told.parents:
        return (
            f"expected parents {' '.join(commit.parents) or 'none'}, "
            f"the graph says {' '.join(told.parents) or 'none'}"
        )
    return ""


def _graph_files(objects: Path) -> list[Path]:
    info = objects / "info"
    chain = info / "commit-graphs" / "commit-graph-chain"
    if chain.exists():
        names = chain.read_text("ascii", "replace").split()
        return [info / "commit-graphs" / f"graph-{name}.graph" for name in names]
    single = info / "commit-graph"
    return [single] if single.exists() else []
