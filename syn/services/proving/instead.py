"""A verification that could not read something still ends in a report that says what (ADR 0028).

Each leg of the evidence is collected on its own: where one cannot be read, its invariant says so
and the others stand. Where not even a snapshot can be listed, every invariant says it.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from syn.errors import CannotError, RefusedError
from syn.model.finding import Finding, InvariantResult, Status
from syn.services.proving.proofs import Outside, Proofs
from syn.services.proving.unread import Unreadable, finding
from syn.verify.evidence import (
    CellEvidence,
    CheckpointEvidence,
    IdentityEvidence,
    ReceiptEvidence,
    TransitionEvidence,
    WitnessEvidence,
)
from syn.verify.invariant import Invariant

_Evidence = TypeVar("_Evidence")
_HISTORY = 3


def attempt(leg: Callable[[], _Evidence], instead: Callable[[Unreadable], _Evidence]) -> _Evidence:
    """The evidence of one leg, or what stands for it when it cannot be read."""
    try:
        return leg()
    except (CannotError, RefusedError) as error:
        return instead(error)


def gap(what: str) -> Callable[[Unreadable], tuple[Finding, ...]]:
    """One finding that says it of `what`, for a leg that gives findings."""
    return lambda error: (finding(what, error),)


def no_transitions(error: Unreadable) -> TransitionEvidence:
    """Nothing is known of the versions in history (INV-10)."""
    return TransitionEvidence(0, 0, (finding("history", error),), ())


def no_cells(error: Unreadable) -> CellEvidence:
    """Nothing is known of rows and images (INV-14)."""
    return CellEvidence(0, 0, 0, (finding("cells", error),))


def no_proofs(outside: Outside, error: Unreadable) -> Proofs:
    """Nothing is known of what is signed: INV-3, INV-8, and INV-9 and INV-12 where asked for."""
    found = (finding("history", error),)
    since, root = outside.since, outside.root
    witness = (
        WitnessEvidence(since.given, "cannot-tell", False, False, False, found) if since else None
    )
    return Proofs(
        checkpoints=CheckpointEvidence(0, found, 0),
        receipts=ReceiptEvidence(0, found),
        anchored="",
        anchored_projection="",
        signatures=(),
        witness=witness,
        identity=IdentityEvidence(root, 0, 0, 0, 0, 0, found) if root else None,
    )


def nothing_read(invariant: Invariant, error: Unreadable) -> InvariantResult:
    """The result of an invariant when no snapshot could be read.

    History (INV-3) is where an object that is not what its id says is a failure.
    """
    found = finding("snapshot", error)
    if invariant.number != _HISTORY:
        found = replace(found, severity="unknown")
    return InvariantResult(
        id=invariant.id,
        title=invariant.title,
        integrity=invariant.integrity,
        status=Status.FAIL if found.severity == "failure" else Status.INCOMPLETE,
        summary="could not be checked: nothing could be read",
        evidence={},
        findings=(found,),
    )
