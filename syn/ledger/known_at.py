"""What was known at an instant: a prefix of every chain (design 5, 11)."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, takewhile

from syn.ledger.entry import HashedEntry
from syn.ledger.segments import Chain

_LENGTH = len("2026-04-15T10:00:00.000000Z")


def known_length(entries: Sequence[HashedEntry], instant: str) -> int:
    """How many of one writer's entries, given in order, were known at an instant.

    A clock that was set back cannot make a later entry known before an earlier one: each entry
    counts with the latest `ts` up to it. An entry is known from its own instant on.

    Args:
        entries: one chain.
        instant: UTC, fixed width, with microseconds (as entries write it) or nanoseconds (as
            `Instant.key`).
    """
    limit = _nanoseconds(instant)
    times = accumulate((_nanoseconds(entry.ts) for _, entry in entries), max)
    return sum(1 for _ in takewhile(lambda ts: ts <= limit, times))


def known_at(chains: Iterable[Chain], instant: str) -> Iterator[HashedEntry]:
    """The entries of all writers that were known at an instant; `heads.recorded` does the rest."""
    for chain in chains:
        yield from chain.entries[: known_length(chain.entries, instant)]


def _nanoseconds(instant: str) -> str:
    return f"{instant[:-1]}000Z" if len(instant) == _LENGTH else instant
