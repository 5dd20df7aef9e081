"""What the ledger says of one fact today: derived from its entries by `syn.ledger.heads`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Recorded:
    """The recorded state of one fact id."""

    fact: str
    heads: tuple[str, ...]
    """Entry hashes of the fact's decision heads, sorted; more than one only after a merge."""
    path: str
    """Path, payload and source of the decision heads when they agree; "" when deleted or forked."""
    payload: str
    source: str
    deleted: bool
    """The decision heads say that the fact is gone."""
    forked: bool
    """Several heads that do not say the same."""
    closed: bool
    """A `close` that is not undone: the fact changes only by undo, move, delete or by name."""
    taint: str
    """Why the content is not to be trusted, or ""; inherited until a `clear` names it."""
    quarantine: tuple[str, ...]
    """Entry hashes of the quarantines that hold (no `clear` names them), sorted."""
    tainted_by: tuple[str, ...] = ()
    """Entry hashes of the decisions whose taint holds (no `clear` names them), sorted."""
    head_payloads: tuple[str, ...] = ()
    """Payload digest of each head, in the order of `heads`; "" where the head says it is gone."""
