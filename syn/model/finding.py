"""Verdicts: findings, the result of one invariant, and what a run adds up to (design 8, 9)."""

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, TypeAlias

JsonScalar: TypeAlias = str | int | bool | None
Json: TypeAlias = JsonScalar | list["Json"] | dict[str, "Json"]

IntegrityClass: TypeAlias = Literal["A", "B", "C", "A/B"]
Severity: TypeAlias = Literal["failure", "warning", "unknown"]
"""`failure`: shown to be wrong · `warning`: worth knowing, fails only strict · `unknown`:
could not be read."""


class Status(Enum):
    """What a run says of one invariant. Only `PASS` passes."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    SKIP = "skip"
    INCOMPLETE = "incomplete"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. Sorts and compares by its fields; the same on every machine."""

    code: str
    """Stable, kebab-case: `payload-changed`, `index-diverged`, `chain-broken`."""
    subject: str
    """What it is about: a fact's id, a segment's name, a commit."""
    path: str = ""
    line: int = 0
    expected: str = ""
    actual: str = ""
    remedy: str = ""
    severity: Severity = "failure"
    local: bool = False
    """True for what holds on this machine only (the live index); kept out of the comparable
    report."""

    def sort_key(self) -> tuple[str, int, str, str, str, str]:
        """Order of findings in every output."""
        return (self.path, self.line, self.code, self.subject, self.expected, self.actual)


@dataclass(frozen=True, slots=True)
class InvariantResult:
    """The outcome of one invariant."""

    id: str
    title: str
    integrity: IntegrityClass
    status: Status
    summary: str
    """One line for a person: what was checked and how much of it."""
    evidence: dict[str, Json] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


class Level(Enum):
    """The trust ladder (design 9)."""

    L0 = 0
    L1 = 1
    L2 = 2
    L3 = 3
    L4 = 4


TrustRoot: TypeAlias = Literal["local-only", "checkpoint-witnessed", "published-witness"]
Verdict: TypeAlias = Literal["pass", "fail", "incomplete"]
