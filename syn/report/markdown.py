"""The report as a job summary in GitHub Markdown (docs/formats/report.md, "Job summary").

In text from facts every mark that Markdown or GitHub reads is a character reference, so that it
opens no table cell, link, mention, image, formula or HTML, whatever it holds.
"""

import re
from collections.abc import Iterator

from syn.model.finding import Finding, InvariantResult, Level
from syn.model.report import Report
from syn.report.escape import clip, printable
from syn.report.verdict import MAX_FINDINGS, MAX_TEXT, count, place, verdict_line

_MARK = re.compile(r"^[-+=]|[\\`*_{}\[\]()<>#&!|~@$:.^]")
_ICON = {"pass": "✅", "fail": "❌", "skip": "⚪", "incomplete": "⚠️"}


def render(report: Report, *, required: Level | None = None, limit: int = MAX_FINDINGS) -> str:
    """The summary; `limit` findings of each invariant are shown and the others counted."""
    return "\n".join([*_lines(report, required, limit), ""])


def inert(line: str) -> str:
    """Text as Markdown that renders as itself, on one line."""
    return _MARK.sub(_reference, clip(printable(line), MAX_TEXT))


def _lines(report: Report, required: Level | None, limit: int) -> Iterator[str]:
    yield f"## syn verify: {inert(report.subject.name)}"
    yield ""
    yield f"**{inert(verdict_line(report, required))}**"
    yield ""
    yield "| | invariant | evidence |"
    yield "| --- | --- | --- |"
    for result in report.invariants:
        status = f"{_ICON[result.status.value]} {result.status.value}"
        yield f"| {status} | {result.id} {inert(result.title)} | {inert(result.summary)} |"
    for result in report.invariants:
        if result.findings:
            yield ""
            yield from _findings(result, limit)
    yield ""
    yield f"Trust root: {report.trust_root}. Level: {report.level.name}."
    if report.level_reason:
        yield f"Why not more: {inert(report.level_reason)}"
    if report.limits:
        yield ""
        yield "What this run does not prove:"
        yield ""
        for sentence in report.limits:
            yield f"- {inert(sentence)}"


def _findings(result: InvariantResult, limit: int) -> Iterator[str]:
    ordered = sorted(result.findings, key=Finding.sort_key)
    yield f"### {result.id} {inert(result.title)}: {count(ordered)}"
    yield ""
    for finding in ordered[:limit]:
        where = place(finding) or printable(finding.subject)
        yield f"- {_code(where)} **{inert(finding.code)}** ({finding.severity})"
        if finding.subject not in ("", finding.path, where):
            yield f"  - subject: {_code(finding.subject)}"
        for name in ("expected", "actual", "remedy"):
            if value := getattr(finding, name):
                yield f"  - {name}: {_code(value)}"
    if len(ordered) > limit:
        yield f"- {len(ordered) - limit:,} more in the JSON report"


def _code(line: str) -> str:
    return f"<code>{inert(line)}</code>"


def _reference(match: re.Match[str]) -> str:
    reference = f"&#{ord(match[0])};"
    # A mention is looked for in one run of text, after references are read: the tag ends the run.
    return f"{reference}<span></span>" if match[0] == "@" else reference
