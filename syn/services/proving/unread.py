"""What of the evidence could not be read, as a gap and as a finding (ADR 0028)."""

from typing import TypeAlias

from syn.errors import CannotError, RefusedError
from syn.model.finding import Finding
from syn.verify.evidence import Unread

Unreadable: TypeAlias = CannotError | RefusedError
"""Something is not here, or an object is not what its id says."""


def unread(what: str, error: Unreadable) -> Unread:
    """A gap in the evidence, by the name of what was wanted."""
    wrong = isinstance(error, RefusedError)
    return Unread(what, error.code, error.message, error.remedy, wrong)


def finding(what: str, error: Unreadable, path: str = "") -> Finding:
    """The same as a finding: what is not here accuses nobody, what is other than its id does."""
    return Finding(
        code=error.code,
        subject=what,
        path=path,
        expected="evidence that can be read",
        actual=error.message,
        remedy=error.remedy,
        severity="unknown" if isinstance(error, CannotError) else "failure",
    )
