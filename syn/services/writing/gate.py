"""The gate: what speaks against a decision, as values (design 10, ADR 0021).

Deterministic: the class follows from the plan, the facts and the ledger alone. It reads statements
and bytes, never prose: what contradicts another sentence without saying so passes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.errors import RefusedError
from syn.index.resolve import fold
from syn.index.rows import FACT, SUPERSESSION
from syn.index.store import Index
from syn.model.fact import Fact
from syn.services.recall.indexing import Reading
from syn.services.writing.planning import Item, Plan
from syn.services.writing.screen import Hit, new_hits, screen
from syn.services.writing.statements import Statement, Statements, fact_row, interval, statement_of

Class: TypeAlias = Literal["clear", "tainted", "duplicate", "conflict", "screened"]
ORDER: tuple[Class, ...] = ("clear", "tainted", "duplicate", "conflict", "screened")
"""From what passes to what is held hardest."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One thing that speaks against a plan."""

    kind: Class
    code: str
    """Stable: `value-overlaps`, `same-statement`, `same-text`, `closed`, `secret` …"""
    fact: str
    """The fact of the plan that it is about."""
    message: str
    """Names the fact and the interval it clashes with."""
    path: str = ""
    line: int = 0
    other: str = ""
    """The fact that it clashes with."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The class of a plan: that of its hardest reason."""

    kind: Class
    reasons: tuple[Reason, ...]

    def of(self, *kinds: Class) -> tuple[Reason, ...]:
        """The reasons of some classes."""
        return tuple(reason for reason in self.reasons if reason.kind in kinds)


@dataclass(frozen=True, slots=True)
class Override:
    """What a person takes on in spite of the gate."""

    anyway: bool = False
    """Conflicts and duplicates."""
    screened: bool = False
    """What the screen holds."""


class GateError(RefusedError):
    """The gate holds a decision that nobody took on by name."""

    def __init__(self, reasons: Sequence[Reason], remedy: str) -> None:
        more = f" (and {len(reasons) - 1} more)" if len(reasons) > 1 else ""
        super().__init__(reasons[0].kind, f"{reasons[0].message}{more}", remedy)
        self.reasons = tuple(reasons)


def judge(plan: Plan, reading: Reading, index: Index) -> Verdict:
    """Everything that speaks against a plan, hardest first."""
    reasons: set[Reason] = set()
    ids = {item.id for item in plan.items}
    statements = Statements(index, ids, reading.config.multi)
    for item in plan.items:
        reasons |= {*_trust(item, reading), *_screened(item)}
        if item.new is None:
            reasons |= set(successor(item.id, index, ids))
            continue
        said = statement_of(item.new)
        if said is not None:
            if item.old is None or _said(item.old) != _said(item.new):
                reasons |= set(clashes(said, statements))
            statements.add(said)
        if item.old is None:
            reasons |= set(_same_text(item.new, index, ids))
    return verdict_of(reasons)


def verdict_of(reasons: Iterable[Reason]) -> Verdict:
    """The reasons in order, and the class of the hardest."""
    ordered = sorted(
        set(reasons), key=lambda r: (-ORDER.index(r.kind), r.fact, r.code, r.line, r.message)
    )
    return Verdict(ordered[0].kind if ordered else "clear", tuple(ordered))


def check(verdict: Verdict, override: Override) -> None:
    """Raise `GateError` for what the verdict holds and nobody takes on."""
    held = verdict.of("screened")
    if held and not override.screened:
        raise GateError(held, "take it out; --screened takes it in as it is, by name")
    against = verdict.of("conflict", "duplicate")
    if against and not override.anyway:
        raise GateError(
            against,
            "syn supersede puts it in the other's place from a date on; --anyway records it "
            "beside the other",
        )


def _said(fact: Fact) -> tuple[object, ...]:
    return (fact.subject, fact.field, fact.value, *interval(fact))


def clashes(said: Statement, statements: Statements) -> Iterator[Reason]:
    """Other facts that speak of the same subject and field at the same time."""
    for other in statements.overlapping(said):
        if other.value == said.value:
            message = f"{other.fact} says {said.about} = {other.value} already, {other.when}"
            yield Reason(
                "duplicate", "same-statement", said.fact, message, other.path, other=other.fact
            )
        elif not statements.several(said):
            message = f"{other.fact} says {said.about} = {other.value} {other.when}"
            yield Reason(
                "conflict",
                "value-overlaps",
                said.fact,
                f"{message}, not {said.value}",
                other.path,
                other=other.fact,
            )


def _same_text(new: Fact, index: Index, ids: set[str]) -> Iterator[Reason]:
    """Facts with the same title and the same body, when they say anything."""
    body = _folded(new.body)
    for row in index.rows_by(FACT, title_key=fold(new.title)):
        other = fact_row(row)
        same = (other.subject, other.field, other.value) == (new.subject, new.field, new.value)
        if other.id not in ids and same and _folded(other.body) == body:
            message = f"{other.id} has the same title and the same body"
            yield Reason("duplicate", "same-text", new.id, message, other.path, other=other.id)


def _folded(body: str) -> str:
    return body.replace("\r\n", "\n").strip()


def successor(fact: str, index: Index, ids: AbstractSet[str]) -> Iterator[Reason]:
    """Facts that name the one that goes as their successor: they would end in nothing."""
    for predecessor, _, declared_by, path, _ in index.rows_by(SUPERSESSION, successor=fact):
        if declared_by != "successor" and path is not None and predecessor not in ids:
            message = f"{predecessor} is superseded by {fact}: undo the supersession instead"
            yield Reason("conflict", "successor", fact, message, str(path))


def _trust(item: Item, reading: Reading) -> Iterator[Reason]:
    """What the record says of the fact that is touched, and where the content comes from."""
    known = reading.ledger.recorded.get(item.id)
    changed = item.new is not None and (item.old is None or item.new != item.old)
    if known is not None and known.quarantine and item.action != "expunge":
        message = f"{item.id} is quarantined"
        yield Reason("conflict", "quarantined", item.id, message, item.path)
    if known is not None and known.closed and item.action in ("update", "supersede", "close"):
        message = f"{item.id} is closed: a decision ended it"
        yield Reason("conflict", "closed", item.id, message, item.path)
    if item.old is not None and item.new is not None:
        came = [name for name in item.new.superseded_by if name not in item.old.superseded_by]
        if came and item.old.superseded_by:
            message = f"{item.id} is superseded by {', '.join(item.old.superseded_by)} already"
            yield Reason("conflict", "superseded", item.id, message, item.path)
    if item.taint and changed:
        source = item.new.source if item.new else None
        where = (source.url or source.kind) if source and source.external else f"fact {item.taint}"
        message = f"{item.id} comes from outside: {where}"
        yield Reason("tainted", "external", item.id, message, item.path)


def _screened(item: Item) -> Iterator[Reason]:
    if item.after is None or (item.after == item.before and not item.was):
        return
    before = screen(item.was or item.path, item.before, item.old) if item.before else Counter()
    after = screen(item.path, item.after, item.new)
    yield from held(item.id, item.path, new_hits(after, before))


def held(fact: str, path: str, hits: Iterable[Hit]) -> Iterator[Reason]:
    """What the screen holds of one file."""
    for hit in hits:
        message = f"{path}:{hit.line} holds a {hit.kind.replace('-', ' ')}: {hit.what}"
        yield Reason("screened", hit.kind, fact, message, path, hit.line)
