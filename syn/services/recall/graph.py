"""What a fact is tied to: links, relations and supersessions, in both directions."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from syn.index.rows import LINK, SUPERSESSION, TARGET, LinkRow, SupersessionRow, TargetRow
from syn.model.finding import Json
from syn.services.recall.answers import Answer, page_json, withheld_json
from syn.services.recall.pagein import Served, Withheld, page_in_path
from syn.services.recall.reads import MAX_ITEMS, Reader, find_fact

MAX_DEPTH = 5


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """One tie between two facts, by their paths; it stands in the file of `source`."""

    source: str
    target: str
    kind: str
    """The name of a relation field, `supersedes`, or how the link is written."""
    line: int


@dataclass(slots=True)
class _Walk:
    """Breadth first; a fact that is not handed out is shown as withheld and not passed."""

    reader: Reader
    most: int
    seen: set[str] = field(default_factory=set)
    items: list[Json] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    """Path to id, of the facts in `items`."""
    edges: set[Edge] = field(default_factory=set)
    dangling: list[Json] = field(default_factory=list)
    cut: bool = False

    def run(self, start: Served | Withheld, depth: int) -> None:
        """Take in everything up to `depth` ties away."""
        first = start.fact.path if isinstance(start, Served) else start.path
        queue = deque([(first, 0)])
        self.seen.add(first)
        while queue:
            path, distance = queue.popleft()
            if self._take(path, distance) and distance < depth:
                queue += [(other, distance + 1) for other in self._around(path)]

    def _take(self, path: str, distance: int) -> bool:
        """Add a fact to the answer; whether the walk may go on from it."""
        reader = self.reader
        checked = page_in_path(reader.reading, reader.index, path, reader.audience)
        if isinstance(checked, Withheld):
            self.names[path] = checked.id
            self.items.append({**withheld_json(checked), "distance": distance})
        elif checked is not None:
            self.names[path] = checked.fact.id
            self.items.append(_node(checked, distance))
            self.dangling += _dangling(reader, path)
        return isinstance(checked, Served)

    def _around(self, path: str) -> Iterator[str]:
        """The facts that one is tied to and that were not seen yet; the ties are noted."""
        for edge in sorted({*_outgoing(self.reader, path), *_incoming(self.reader, path)}):
            other = edge.target if edge.source == path else edge.source
            if other in self.seen:
                self.edges.add(edge)
            elif len(self.seen) < self.most:
                self.edges.add(edge)
                self.seen.add(other)
                yield other
            else:
                self.cut = True


def graph(reader: Reader, name: str, depth: int, limit: int) -> Answer:
    """The facts around one, nearest first, and the ties between them.

    Raises:
        UnknownFactError, DuplicateIdError: there is no such fact, or several.
    """
    walk = _Walk(reader, max(1, min(limit, MAX_ITEMS)))
    walk.run(find_fact(reader, name), max(0, min(depth, MAX_DEPTH)))
    edges: list[Json] = [
        {
            "from": walk.names[edge.source],
            "to": walk.names[edge.target],
            "kind": edge.kind,
            "line": edge.line,
        }
        for edge in sorted(walk.edges)
        if edge.source in walk.names and edge.target in walk.names
    ]
    answer = page_json(walk.items, len(walk.items), None)
    answer |= {"edges": edges, "dangling": walk.dangling}
    return {**answer, "truncated": True} if walk.cut else answer


def _node(served: Served, distance: int) -> Answer:
    fact = served.fact
    answer: Answer = {
        "id": fact.id,
        "type": fact.type,
        "title": fact.title,
        "path": fact.path,
        "status": fact.status,
        "subject": fact.subject,
        "field": fact.field,
        "value": fact.value,
        "taint": served.taint,
        "distance": distance,
    }
    always = ("id", "type", "title", "path", "distance")
    return {key: value for key, value in answer.items() if key in always or value}


def _outgoing(reader: Reader, path: str) -> Iterator[Edge]:
    links = _links(reader, path)
    for target in _targets(reader, path=path):
        if target.target_path is not None:
            yield _edge(target, links)
    yield from _supersessions(reader, successor_path=path)


def _incoming(reader: Reader, path: str) -> Iterator[Edge]:
    for target in _targets(reader, target_path=path):
        yield _edge(target, _links(reader, target.path))
    yield from _supersessions(reader, predecessor_path=path)


def _edge(target: TargetRow, links: dict[int, LinkRow]) -> Edge:
    link = links.get(target.seq)
    kind = (link.relation or link.syntax) if link else "link"
    return Edge(target.path, target.target_path or "", kind, link.line if link else 0)


def _dangling(reader: Reader, path: str) -> Iterator[Json]:
    """Links of a fact that lead to no fact, or to several."""
    links = _links(reader, path)
    for target in _targets(reader, path=path):
        if target.outcome in ("missing", "ambiguous") and target.seq in links:
            link = links[target.seq]
            place: dict[str, Json] = {"path": path, "line": link.line}
            yield {**place, "target": link.target, "outcome": target.outcome}


def _links(reader: Reader, path: str) -> dict[int, LinkRow]:
    rows = (LinkRow._make(row) for row in reader.index.rows_by(LINK, path=path))
    return {row.seq: row for row in rows}


def _targets(reader: Reader, **where: str) -> Iterator[TargetRow]:
    return (TargetRow._make(row) for row in reader.index.rows_by(TARGET, **where))


def _supersessions(reader: Reader, **where: str) -> Iterator[Edge]:
    for row in reader.index.rows_by(SUPERSESSION, **where):
        pair = SupersessionRow._make(row)
        if pair.predecessor_path is not None and pair.successor_path is not None:
            yield Edge(pair.successor_path, pair.predecessor_path, "supersedes", 0)
