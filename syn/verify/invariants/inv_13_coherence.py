"""INV-13: the statements do not contradict each other."""

from collections.abc import Iterable, Iterator

from syn.model.finding import Finding
from syn.verify.evidence import Evidence, FactView
from syn.verify.invariant import Checked, Invariant, plural

_BEGINNING = ""
"""Sorts before every instant key: the fact has no `valid_from`."""
_FOREVER = "\uffff"
"""Sorts after every instant key: the fact has no `valid_to`."""


def _check(evidence: Evidence) -> Checked:
    statements = _statements(evidence)
    findings = [
        *(f for fact in evidence.facts for f in _interval(fact)),
        *(f for group in statements.values() for f in _overlaps(group)),
        *_cycles(evidence.facts),
        *_forks(evidence.facts),
    ]
    return Checked(
        summary=f"{plural(len(statements), 'statement')} over "
        f"{plural(len(evidence.facts), 'fact')}",
        evidence={"statements": len(statements), "facts": len(evidence.facts)},
        findings=tuple(findings),
        skip="" if evidence.facts else "there is no fact",
    )


def interval(fact: FactView) -> tuple[str, str]:
    """The half-open `[from, to)` as sortable keys."""
    return (
        fact.valid_from.key if fact.valid_from else _BEGINNING,
        fact.valid_to.key if fact.valid_to else _FOREVER,
    )


def _interval(fact: FactView) -> Iterator[Finding]:
    start, end = interval(fact)
    if fact.valid_from is None or fact.valid_to is None or start < end:
        return
    yield Finding(
        code="interval-empty" if start == end else "interval-inverted",
        subject=fact.id,
        path=fact.path,
        line=fact.line_of("valid_to"),
        expected=f"valid_to after {fact.valid_from.text}",
        actual=fact.valid_to.text,
        remedy=f"correct valid_from or valid_to in {fact.path}",
    )


def _statements(evidence: Evidence) -> dict[tuple[str, str], list[FactView]]:
    """Facts by what they speak of: (subject, field), without the multi-valued ones."""
    groups: dict[tuple[str, str], list[FactView]] = {}
    for fact in evidence.facts:
        if fact.subject is None or fact.field is None:
            continue
        if not {fact.field, f"{fact.subject}/{fact.field}"} & evidence.multi:
            groups.setdefault((fact.subject, fact.field), []).append(fact)
    return groups


def _overlaps(group: list[FactView]) -> Iterator[Finding]:
    """Sweep over the starts: a fact overlaps iff it begins before the furthest end so far."""
    standing = [fact for fact in group if interval(fact)[0] < interval(fact)[1]]
    standing.sort(key=lambda fact: (*interval(fact), fact.path.encode()))
    holder: FactView | None = None
    for fact in standing:
        if holder is not None and interval(fact)[0] < interval(holder)[1]:
            if fact.value != holder.value:
                yield _overlap(holder, fact)
            else:
                yield _same_value(holder, fact)
        if holder is None or interval(fact)[1] > interval(holder)[1]:
            holder = fact


def _overlap(first: FactView, second: FactView) -> Finding:
    return Finding(
        code="values-overlap",
        subject=second.id,
        path=second.path,
        line=second.line_of("value"),
        expected=f"one value of {second.subject} / {second.field} at a time: "
        f"{first.id} says {_shown(first)}",
        actual=_shown(second),
        remedy=f"syn supersede {first.id}, or close one of {first.path} and {second.path}",
    )


def _same_value(first: FactView, second: FactView) -> Finding:
    return Finding(
        code="value-repeated",
        subject=second.id,
        path=second.path,
        line=second.line_of("value"),
        expected=f"one fact for {second.subject} / {second.field} at a time",
        actual=f"{first.id} says the same in {first.path}",
        remedy="keep one of the two",
        severity="warning",
    )


def _shown(fact: FactView) -> str:
    start = fact.valid_from.text if fact.valid_from else "always"
    end = fact.valid_to.text if fact.valid_to else "open"
    return f"{fact.value} in [{start}, {end})"


def _successors(facts: Iterable[FactView]) -> dict[str, set[str]]:
    edges: dict[str, set[str]] = {}
    for fact in facts:
        for old in fact.supersedes:
            edges.setdefault(old, set()).add(fact.id)
        for new in fact.superseded_by:
            edges.setdefault(fact.id, set()).add(new)
    return edges


def _forks(facts: tuple[FactView, ...]) -> Iterator[Finding]:
    by_id = {fact.id: fact for fact in facts}
    for old, successors in sorted(_successors(facts).items()):
        if len(successors) > 1 and old in by_id:
            yield Finding(
                code="supersession-fork",
                subject=old,
                path=by_id[old].path,
                line=by_id[old].line_of("superseded_by"),
                expected="one successor",
                actual=", ".join(sorted(successors)),
                remedy="let one of the successors supersede the other",
            )


def _cycles(facts: tuple[FactView, ...]) -> Iterator[Finding]:
    """One finding per strongly connected component: peel what has no successor left, both ways."""
    by_id = {fact.id: fact for fact in facts}
    edges = {
        node: {target for target in targets if target in by_id}
        for node, targets in _successors(facts).items()
        if node in by_id
    }
    for cycle in _components(edges):
        first = by_id[cycle[0]]
        chain = " -> ".join([*cycle, cycle[0]])
        yield Finding(
            code="supersession-cycle",
            subject=first.id,
            path=first.path,
            line=first.line_of("supersedes"),
            expected="a chain of supersessions that ends",
            actual=chain,
            remedy="take one of these supersessions back",
        )


def _components(edges: dict[str, set[str]]) -> list[list[str]]:
    """Cycles reached by walking each node once; iterative, linear in edges."""
    state: dict[str, int] = {}
    cycles: list[list[str]] = []
    for root in sorted(edges):
        path: list[str] = []
        stack: list[tuple[str, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            if leaving:
                state[node] = 2
                path.pop()
                continue
            if state.get(node) == 1:
                cycle = path[path.index(node) :]
                turn = cycle.index(min(cycle))
                cycles.append(cycle[turn:] + cycle[:turn])
                continue
            if state.get(node) == 2:  # noqa: PLR2004 - 1 is on the path, 2 is done
                continue
            state[node] = 1
            path.append(node)
            stack.append((node, True))
            stack += [(target, False) for target in sorted(edges.get(node, ()), reverse=True)]
    return [list(cycle) for cycle in sorted({tuple(cycle) for cycle in cycles})]


INVARIANT = Invariant(
    number=13,
    title="coherence",
    integrity="A",
    when="deep",
    check=_check,
    explanation=(
        "No two values of one subject and field hold at the same time, no supersession runs in a "
        "circle or forks, no interval is empty or inverted. It is deterministic and reads no "
        "prose: a contradiction between two sentences is outside it."
    ),
)
