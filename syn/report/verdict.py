"""The few words every form for people shares: the verdict, counts, where a finding stands."""

from collections.abc import Iterable

from syn.model.finding import Finding, Level
from syn.model.report import Report
from syn.report.escape import printable

MAX_FINDINGS = 20
"""Findings of one invariant that text and job summary show; the others are counted."""
MAX_TEXT = 400
"""Characters shown of one text in a finding."""


def verdict_line(report: Report, required: Level | None = None) -> str:
    """The one line that states the outcome: the last of the text, the only one of `--quiet`."""
    counts = count(f for result in report.invariants for f in result.findings)
    if report.verdict == "pass" and required and report.level.value < required.value:
        return f"BELOW {required.name}: the checks pass, and only level {report.level.name} holds"
    line = f"{report.verdict.upper()} (level {report.level.name})"
    return f"{line}: {counts}" if counts else line


def count(findings: Iterable[Finding]) -> str:
    """`2 failures, 1 warning`: how many findings there are of each severity, or ""."""
    severities = [finding.severity for finding in findings]
    parts = [
        (severities.count("failure"), "failure", "failures"),
        (severities.count("warning"), "warning", "warnings"),
        (severities.count("unknown"), "could not be read", "could not be read"),
    ]
    return ", ".join(f"{n:,} {one if n == 1 else many}" for n, one, many in parts if n)


def place(finding: Finding) -> str:
    """`path:line`, the form that editors open; "" for a finding without a file."""
    path = printable(finding.path)
    return f"{path}:{finding.line}" if path and finding.line else path
