"""The gate: what speaks against a decision, as values (design 10, ADR 0021).

Deterministic: the class follows from the plan, the facts and the ledger alone. It reads statements
and bytes, never prose: what contradicts another sentence without saying so passes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.errors import RefusedError
from syn.index.lines import read_list
from syn.index.resolve import fold
from syn.index.rows import FACT, SUPERSESSION, FactRow, Scalar
from syn.index.store import Index
from syn.model.fact import Fact
from syn.services.indexing import Reading
from syn.services.planning import Item, Plan
from syn.services.screen import new_hits, screen

Class: TypeAlias = Literal["clear", "tainted", "duplicate", "conflict", "screened"]
ORDER: tuple[Class, ...] = ("clear", "tainted", "duplicate", "conflict", "screened")
"""From what passes to what is held hardest."""
_ALWAYS, _FOREVER = "", "\uffff"


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
    earlier: list[Fact] = []
    for item in plan.items:
        reasons |= {*_trust(item, reading), *_screened(item)}
        if item.new is None:
            reasons |= set(_successor(item, index, ids))
            continue
        if _says_something_new(item):
            reasons |= set(_statement(item.new, index, ids, earlier, reading.config.multi))
            if item.old is None:
                reasons |= set(_same_text(item.new, index, ids))
        earlier.append(item.new)
    ordered = sorted(reasons, key=lambda r: (-ORDER.index(r.kind), r.fact, r.code, r.message))
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


def _says_something_new(item: Item) -> bool:
    """Whether the statement or its interval is another one than before."""
    old, new = item.old, item.new
    return old is None or new is None or _said(old) != _said(new)


def _said(fact: Fact) -> tuple[object, ...]:
    return (fact.subject, fact.field, fact.value, *interval(fact))


def interval(fact: Fact) -> tuple[str, str]:
    """The half-open interval in which a fact holds, as keys.

    One that is superseded without a date holds no longer (INV-5).
    """
    start = fact.valid_from.key if fact.valid_from else _ALWAYS
    if fact.valid_to is None and (fact.superseded_by or fact.status == "superseded"):
        return start, start
    return start, fact.valid_to.key if fact.valid_to else _FOREVER


@dataclass(frozen=True, slots=True)
class _Claim:
    """Another fact's statement."""

    id: str
    path: str
    value: str | None
    start: str
    end: str
    shown: str


def _statement(
    new: Fact, index: Index, ids: set[str], earlier: Iterable[Fact], multi: Sequence[str]
) -> Iterator[Reason]:
    """Other facts that speak of the same subject and field at the same time."""
    if new.subject is None or new.field is None:
        return
    many = bool({new.field, f"{new.subject}/{new.field}"} & set(multi))
    start, end = interval(new)
    for claim in _claims(new.subject, new.field, index, ids, earlier):
        if not (max(start, claim.start) < min(end, claim.end)):
            continue
        what = f"{new.subject} / {new.field}"
        if claim.value == new.value:
            message = f"{claim.id} says {what} = {claim.value} already, {claim.shown}"
            yield Reason("duplicate", "same-statement", new.id, message, claim.path, other=claim.id)
        elif not many:
            message = f"{claim.id} says {what} = {claim.value} {claim.shown}, not {new.value}"
            yield Reason("conflict", "value-overlaps", new.id, message, claim.path, other=claim.id)


def _claims(
    subject: str, field: str, index: Index, ids: set[str], earlier: Iterable[Fact]
) -> Iterator[_Claim]:
    for row in index.rows_by(FACT, subject=subject, field=field):
        fact = _fact_row(row)
        if fact.id not in ids:
            yield _row_claim(fact)
    for other in earlier:
        if (other.subject, other.field) == (subject, field):
            start = other.valid_from.text if other.valid_from else ""
            end = other.valid_to.text if other.valid_to else ""
            yield _Claim(other.id, other.path, other.value, *interval(other), shown(start, end))


def _fact_row(row: tuple[Scalar, ...]) -> FactRow:
    return FactRow(*row)  # type: ignore[arg-type]


def _row_claim(row: FactRow) -> _Claim:
    start = row.valid_from_key or _ALWAYS
    superseded = bool(read_list(row.superseded_by)) or row.status == "superseded"
    end = row.valid_to_key or (start if superseded else _FOREVER)
    said = shown(row.valid_from or "", row.valid_to or "")
    return _Claim(row.id, row.path, row.value, start, end, said)


def shown(start: str, end: str) -> str:
    """A half-open interval for people."""
    match bool(start), bool(end):
        case True, True:
            return f"from {start} to {end}"
        case True, False:
            return f"from {start} on"
        case False, True:
            return f"until {end}"
        case _:
            return "at all times"


def _same_text(new: Fact, index: Index, ids: set[str]) -> Iterator[Reason]:
    """Facts with the same title and the same body, when they say anything."""
    body = _folded(new.body)
    for row in index.rows_by(FACT, title_key=fold(new.title)):
        other = _fact_row(row)
        same = (other.subject, other.field, other.value) == (new.subject, new.field, new.value)
        if other.id not in ids and same and _folded(other.body) == body:
            message = f"{other.id} has the same title and the same body"
            yield Reason("duplicate", "same-text", new.id, message, other.path, other=other.id)


def _folded(body: str) -> str:
    return body.replace("\r\n", "\n").strip()


def _successor(item: Item, index: Index, ids: set[str]) -> Iterator[Reason]:
    """Facts that name the one that goes as their successor: they would end in nothing."""
    for predecessor, _, declared_by, path, _ in index.rows_by(SUPERSESSION, successor=item.id):
        if declared_by != "successor" and path is not None and predecessor not in ids:
            message = f"{predecessor} is superseded by {item.id}: undo the supersession instead"
            yield Reason("conflict", "successor", item.id, message, str(path))


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
    before = screen(item.was or item.path, item.before, item.old) if item.before else None
    after = screen(item.path, item.after, item.new)
    for hit in new_hits(after, before) if before is not None else sorted(after.elements()):
        message = f"{item.path}:{hit.line} holds a {hit.kind.replace('-', ' ')}: {hit.what}"
        yield Reason("screened", hit.kind, item.id, message, item.path, hit.line)
