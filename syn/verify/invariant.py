"""What an invariant is: one file under `invariants/` that exports one `INVARIANT`."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.model.finding import Finding, IntegrityClass, InvariantResult, Json, Status
from syn.verify.evidence import Evidence

When: TypeAlias = Literal["default", "deep", "since", "root"]
"""`default`: every run · `deep`: `--deep` · `since`: a witness is given · `root`: `--deep`, or
whenever a trust root is given."""


@dataclass(frozen=True, slots=True)
class Checked:
    """What one check found. The status is computed from it in one place (`conclude`)."""

    summary: str
    evidence: dict[str, Json]
    findings: tuple[Finding, ...]
    skip: str = ""
    """Why there was nothing to check, or ""."""


@dataclass(frozen=True, slots=True)
class Invariant:
    """One property, its class, when it runs, and the function that checks it."""

    number: int
    title: str
    integrity: IntegrityClass
    when: When
    check: Callable[[Evidence], Checked]
    explanation: str
    """What it proves and what it does not, for `--explain` and the docs."""

    @property
    def id(self) -> str:
        """`INV-<number>`."""
        return f"INV-{self.number}"


def conclude(invariant: Invariant, evidence: Evidence) -> InvariantResult:
    """Run one invariant and turn its findings into a status.

    A failure outweighs what could not be read, which outweighs a pass; only a check that looked at
    something and found neither passes.
    """
    checked = invariant.check(evidence)
    findings = tuple(sorted(checked.findings, key=Finding.sort_key))
    return InvariantResult(
        id=invariant.id,
        title=invariant.title,
        integrity=invariant.integrity,
        status=_status(findings, checked.skip),
        summary=checked.skip or checked.summary,
        evidence=checked.evidence,
        findings=findings,
    )


def _status(findings: Iterable[Finding], skip: str) -> Status:
    severities = {finding.severity for finding in findings}
    if "failure" in severities:
        return Status.FAIL
    if "unknown" in severities:
        return Status.INCOMPLETE
    return Status.SKIP if skip else Status.PASS


def plural(count: int, noun: str) -> str:
    """`1 fact`, `2 facts`, `3 entries`."""
    if count == 1:
        return f"1 {noun}"
    if noun.endswith("y") and not noun.endswith("ey"):
        return f"{count:,} {noun[:-1]}ies"
    return f"{count:,} {noun}s"
