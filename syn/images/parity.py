"""Parity: whether copies of the same thing agree, and which one holds when they do not. Pure.

Only rows that check take part; one that does not is listed, never counted as agreeing. A row that
is sealed or hidden in one copy and served in another is a disagreement.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.images.edit import hidden_steps
from syn.images.report import ImageReport
from syn.images.table import NATIVE_FORMAT, Head, Page

Outcome: TypeAlias = Literal["conflict", "resolved", "agree"]
"""`agree`: every row says the same · `resolved`: exactly one digest stands under a live witness ·
`conflict`: neither; a witness is needed."""


@dataclass(frozen=True, slots=True)
class Replica:
    """One row of one copy."""

    copy: str
    position: int
    digest: str
    witness: str
    served: bool
    """Neither sealed nor hidden."""
    sound: bool
    """The row checks, in an image that does."""
    native: bool


@dataclass(frozen=True, slots=True)
class Parity:
    """The outcome for one resource."""

    resource: str
    outcome: Outcome
    authoritative: Replica | None
    """The row that holds, when it is resolved."""
    against: tuple[Replica, ...]
    """Rows that say something else, or that do not check."""
    protected: bool
    """Whether every row's witness stands under a word; `recall.v1` protects none."""


def replicas(
    copy: str, report: ImageReport, head: Head, pages: Iterable[Page]
) -> list[tuple[Page, Replica]]:
    """The rows of one copy, with what parity needs of each."""
    faulty = {page.position for page in report.pages}
    hidden = hidden_steps(head.changes)
    blocked = report.blocked
    return [
        (
            page,
            Replica(
                copy,
                position,
                page.digest,
                page.witness,
                not page.sealed and position not in hidden,
                position not in faulty and blocked is not None and position not in blocked,
                report.format == NATIVE_FORMAT,
            ),
        )
        for position, page in enumerate(pages)
    ]


def parity(groups: Mapping[str, Sequence[Replica]], revoked: Collection[str] = ()) -> list[Parity]:
    """Compare the rows of each resource.

    Args:
        groups: the rows by resource; an empty resource name or group is a conflict.
        revoked: witnesses that were refuted.
    """
    return [_compare(name, rows, revoked) for name, rows in groups.items()]


def _compare(name: str, rows: Sequence[Replica], revoked: Collection[str]) -> Parity:
    sound = [row for row in rows if row.sound and row.digest]
    states = {(row.digest, row.served) for row in sound}
    protected = bool(rows) and all(row.native for row in rows)
    if name and len(states) == 1 and len(sound) == len(rows):
        return Parity(name, "agree", None, (), protected)
    live = [row for row in sound if row.served and row.witness and row.witness not in revoked]
    if name and len({row.digest for row in live}) == 1 and _undisputed(live[0], sound):
        best = live[0]
        against = tuple(row for row in rows if not row.sound or row.digest != best.digest)
        return Parity(name, "resolved", best, against, protected)
    return Parity(name, "conflict", None, tuple(rows), protected)


def _undisputed(best: Replica, sound: Sequence[Replica]) -> bool:
    """Whether no copy keeps those very bytes out of service."""
    return all(row.served for row in sound if row.digest == best.digest)
