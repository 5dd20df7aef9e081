"""The timeline of an HTML report: decisions by their own clock, and what took whose place."""

from collections.abc import Iterable

from syn.ledger.entry import HashedEntry
from syn.report.html import Succession, Timeline
from syn.verify.evidence import FactView

SHOWN = 100
"""Decisions that a page lists."""


def timeline_of(entries: Iterable[HashedEntry], facts: Iterable[FactView]) -> Timeline:
    """The newest decisions first, and every declared succession."""
    ordered = sorted(entries, key=lambda item: (item[1].ts, item[1].writer, item[1].seq))
    pairs: dict[tuple[str, str], str] = {}
    for fact in facts:
        since = fact.valid_from.text if fact.valid_from else ""
        for old in fact.supersedes:
            pairs[old, fact.id] = since
        for new in fact.superseded_by:
            pairs.setdefault((fact.id, new), fact.valid_to.text if fact.valid_to else "")
    return Timeline(
        decisions=tuple(ordered[: -SHOWN - 1 : -1]),
        successions=tuple(Succession(old, new, date) for (old, new), date in sorted(pairs.items())),
        total=len(ordered),
    )
