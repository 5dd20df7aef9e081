"""What a patrol finds: one fault of one cell, with the class that says what may be done."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from syn.errors import CannotError, RefusedError
from syn.model.finding import Finding, Severity
from syn.services.recall.pagein import CellClass

Kind: TypeAlias = Literal["ledger", "index", "object", "fact", "receipt", "image"]
KINDS: tuple[Kind, ...] = get_args(Kind)
CLASSES: tuple[CellClass, ...] = get_args(CellClass)

_SEVERITIES: dict[CellClass, Severity] = {
    "clean": "warning",
    "stale": "warning",
    "unchecked": "unknown",
    "repairable": "failure",
    "tampered": "failure",
    "erasure": "failure",
}
"""Unchecked is no proof of anything, so it is never a pass and never an accusation."""

REMEDIES: dict[CellClass, str] = {
    "clean": "",
    "stale": "syn reindex brings the index up to date",
    "unchecked": "syn adopt records it; syn repair gives a row its word",
    "repairable": "syn repair",
    "tampered": "syn verify says what it contradicts; a person decides",
    "erasure": "syn repair brings back bytes that hash to the record, --from a clone if need be",
}


@dataclass(frozen=True, slots=True)
class Unit:
    """One thing a patrol looks at in one go."""

    kind: Kind
    name: str
    """A path, a writer, `index`, a tree."""

    @property
    def key(self) -> str:
        """Its name among all units."""
        return f"{self.kind}:{self.name}"


@dataclass(frozen=True, slots=True)
class CellFault:
    """One cell that is not clean."""

    kind: Kind
    cls: CellClass
    finding: Finding

    @property
    def gravity(self) -> int:
        """Where its class stands between clean and erasure."""
        return CLASSES.index(self.cls)


def fault(  # noqa: PLR0913 - the parts of a finding
    kind: Kind,
    cls: CellClass,
    code: str,
    path: str,
    *,
    expected: str,
    actual: str,
    subject: str = "",
    line: int = 0,
    remedy: str = "",
    local: bool = False,
) -> CellFault:
    """A fault with the severity and the remedy of its class, where no other remedy is given."""
    found = Finding(
        code=code,
        subject=subject or path,
        path=path,
        line=line,
        expected=expected,
        actual=actual,
        remedy=remedy or REMEDIES[cls],
        severity=_SEVERITIES[cls],
        local=local,
    )
    return CellFault(kind, cls, found)


def as_fault(kind: Kind, cls: CellClass, found: Finding) -> CellFault:
    """A finding that was made elsewhere, as a fault of this class."""
    return CellFault(kind, cls, found)


_SHOWN_LOST = frozenset({"missing-object", "missing-file"})
"""Codes of `CannotError` that show a loss; any other one says that nobody could look."""


def erased(
    kind: Kind, path: str, error: CannotError | RefusedError, subject: str = ""
) -> CellFault:
    """Bytes that cannot be had: absent, not readable, or other ones than their id says."""
    found = fault(
        kind,
        "erasure",
        error.code,
        path,
        subject=subject,
        expected="bytes that can be read and hash to what names them",
        actual=error.message,
        remedy="" if error.code in _SHOWN_LOST or not error.remedy else error.remedy,
    )
    if isinstance(error, RefusedError) or error.code in _SHOWN_LOST:
        return found
    return replace(found, finding=replace(found.finding, severity="unknown"))
