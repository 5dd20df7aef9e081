"""The report as one HTML file (docs/formats/report.md, "HTML"): no scripts, no links out.

It opens from disk or a mail, on a phone, without a network: its policy allows one style sheet, the
one inside, by hash. Everything from a fact is escaped twice over: invisible characters are made
visible, then the template escapes markup.
"""

import base64
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from syn.model.finding import Finding, InvariantResult, Level
from syn.model.ledger import Entry
from syn.model.report import Report
from syn.report.escape import clip, printable
from syn.report.verdict import MAX_TEXT, count, place, verdict_line

if TYPE_CHECKING:
    import jinja2

MAX_FINDINGS = 200
"""Findings shown of one invariant; the others are counted."""

_RUNGS = (
    (Level.L1, "audited", "a ledger exists and every fact is the one that was decided on"),
    (Level.L2, "hash-chained", "a checkpoint signed under the policy covers the state"),
    (Level.L3, "git-witnessed", "it extends a witness kept outside the repository"),
    (Level.L4, "signed identity", "every commit and entry since the trust root is signed"),
)


@dataclass(frozen=True, slots=True)
class Succession:
    """One fact that took the place of another."""

    predecessor: str
    successor: str
    date: str = ""
    """From when the successor holds, as written, or ""."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened, in the order in which the caller shows it: newest first, by custom."""

    decisions: tuple[tuple[str, Entry], ...] = ()
    """Pairs (entry hash, entry)."""
    successions: tuple[Succession, ...] = ()
    total: int = 0
    """Decisions there are, when more than are given."""


def render(report: Report, timeline: Timeline, *, required: Level | None = None) -> str:
    """The whole page.

    Args:
        report: what to show.
        timeline: decisions and supersessions, as many as the page is to show.
        required: the level the caller asked for.
    """
    style = _read("report.css")
    return _template().render(
        report=report,
        verdict=verdict_line(report, required),
        tone="below" if verdict_line(report, required).startswith("BELOW") else report.verdict,
        invariants=[_invariant(result) for result in report.invariants],
        rungs=[
            (level.name, name, meaning, level.value <= report.level.value)
            for level, name, meaning in _RUNGS
        ],
        timeline=timeline,
        unshown=max(timeline.total - len(timeline.decisions), 0),
        style=style,
        policy=f"default-src 'none'; style-src 'sha256-{_hash(style)}'; "
        "base-uri 'none'; form-action 'none'",
    )


def _invariant(result: InvariantResult) -> dict[str, object]:
    ordered = sorted(result.findings, key=Finding.sort_key)
    return {
        "result": result,
        "count": count(ordered),
        "findings": [(finding, place(finding)) for finding in ordered[:MAX_FINDINGS]],
        "unshown": max(len(ordered) - MAX_FINDINGS, 0),
    }


@cache
def _template() -> "jinja2.Template":
    import jinja2  # most runs make no page

    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["shown"] = _shown
    environment.filters["read"] = _read_text
    return environment.from_string(_read("report.html"))


def _shown(value: str) -> str:
    """Text that identifies something: every invisible character visible."""
    return printable(clip(value, MAX_TEXT))


def _read_text(value: str) -> str:
    """Text that is only read: what ordinary writing needs is kept."""
    return printable(clip(value, MAX_TEXT), data=True)


def _read(name: str) -> str:
    return resources.files("syn.report").joinpath("templates", name).read_text("utf-8")


def _hash(style: str) -> str:
    return base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
