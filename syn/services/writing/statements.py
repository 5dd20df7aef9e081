"""What facts state, and which of them state something else of the same thing at the same time."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from syn.index.lines import read_list
from syn.index.rows import FACT, FactRow, Scalar
from syn.index.store import Index
from syn.model.fact import Fact

_ALWAYS, _FOREVER = "", "\uffff"
"""Sort before and after every instant key."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact's statement and the half-open interval in which it holds."""

    fact: str
    path: str
    subject: str
    field: str
    value: str | None
    start: str
    """A key of `Instant`, or what sorts before all of them."""
    end: str
    when: str
    """The interval for people: `from 2026-04-15 on`."""

    @property
    def about(self) -> str:
        """`payments / owner`."""
        return f"{self.subject} / {self.field}"

    def overlaps(self, other: "Statement") -> bool:
        """Whether both hold at some instant."""
        return max(self.start, other.start) < min(self.end, other.end)


def statement_of(fact: Fact) -> Statement | None:
    """The statement of a fact, or None when it makes none."""
    if fact.subject is None or fact.field is None:
        return None
    start, end = interval(fact)
    when = shown(
        fact.valid_from.text if fact.valid_from else "", fact.valid_to.text if fact.valid_to else ""
    )
    return Statement(fact.id, fact.path, fact.subject, fact.field, fact.value, start, end, when)


def interval(fact: Fact) -> tuple[str, str]:
    """The half-open interval in which a fact holds, as keys.

    One that is superseded without a date holds no longer (INV-5).
    """
    start = fact.valid_from.key if fact.valid_from else _ALWAYS
    if fact.valid_to is None and (fact.superseded_by or fact.status == "superseded"):
        return start, start
    return start, fact.valid_to.key if fact.valid_to else _FOREVER


def row_statement(row: FactRow) -> Statement | None:
    """The same for a row of the index."""
    if row.subject is None or row.field is None:
        return None
    start, end = row_interval(row)
    when = shown(row.valid_from or "", row.valid_to or "")
    return Statement(row.id, row.path, row.subject, row.field, row.value, start, end, when)


def row_interval(row: FactRow) -> tuple[str, str]:
    """`interval` for a row of the index."""
    start = row.valid_from_key or _ALWAYS
    superseded = bool(read_list(row.superseded_by)) or row.status == "superseded"
    return start, row.valid_to_key or (start if superseded else _FOREVER)


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


class Statements:
    """The statements of the index but for some facts, and those that a decision adds."""

    def __init__(self, index: Index, without: Iterable[str], multi: Sequence[str]) -> None:
        """`multi`: fields, or `subject/field`, that may hold several values at once."""
        self._index = index
        self._without = frozenset(without)
        self._multi = frozenset(multi)
        self._added: dict[tuple[str, str], list[Statement]] = {}

    def add(self, statement: Statement) -> None:
        """Take one more into account."""
        self._added.setdefault((statement.subject, statement.field), []).append(statement)

    def several(self, statement: Statement) -> bool:
        """Whether its field may hold several values at once."""
        names = {statement.field, f"{statement.subject}/{statement.field}"}
        return not names.isdisjoint(self._multi)

    def overlapping(self, statement: Statement) -> Iterator[Statement]:
        """Those of the same subject and field that hold at some instant at which it holds."""
        for row in self._index.rows_by(FACT, subject=statement.subject, field=statement.field):
            other = row_statement(fact_row(row))
            if other and other.fact not in self._without and other.overlaps(statement):
                yield other
        for other in self._added.get((statement.subject, statement.field), ()):
            if other.overlaps(statement):
                yield other


def fact_row(row: tuple[Scalar, ...]) -> FactRow:
    """A row of the fact table under its columns' names."""
    return FactRow(*row)  # type: ignore[arg-type]
