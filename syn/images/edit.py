"""Edits of a page table: seals, tombstones, clearances.

Values in, values out; all but a clearance move only towards the stricter state.
"""

from dataclasses import dataclass, field

from syn.errors import RefusedError, UsageError
from syn.images.descriptor import is_reason, is_seal_id, sealed_descriptor
from syn.images.survey import change_id
from syn.images.table import (
    BOUNDED,
    DURABILITY,
    QUARANTINE,
    QUARANTINED,
    TOMBSTONE,
    Change,
    Page,
)

OPERATOR_SEAL = "OPERATOR"
"""Reason code of a seal that a person asked for."""
SCRUB_SEAL = "TRUST_VIOLATION"
"""Reason code of a seal that a scrub puts on a page that does not check."""
TAMPER = "metadata tamper"
REVOKED = "refuted witness"


class EditError(RefusedError):
    """An edit that is refused.

    Codes: `already-sealed`, `not-sealed`, `already-hidden`, `already-cleared`, `no-reason`,
    `clearance-unprotected`.
    """


def no_reason() -> EditError:
    """The error for a decision that says no reason."""
    return EditError("no-reason", "expected a reason, got none", "say why: -m REASON")


class ReasonError(UsageError):
    """A seal reason that is no code (`bad-reason`)."""


@dataclass(slots=True)
class SealIds:
    """Hands out seal ids that nothing in the image carries."""

    last: int
    taken: set[str] = field(default_factory=set)

    def fresh(self) -> str:
        """The next id: one above the highest."""
        self.last += 1
        return f"q{self.last}"

    def keep(self, qid: str) -> str:
        """An id that a page carries already, when no page before it did; else a fresh one."""
        if not is_seal_id(qid) or qid in self.taken:
            qid = self.fresh()
        self.taken.add(qid)
        return qid


def seal(page: Page, qid: str, reason: str, detail: str = "") -> Page:
    """The page sealed: taint, descriptor and utility follow; the word is to be stamped.

    Raises:
        ReasonError: `reason` is no code of capitals, digits and underscores.
    """
    if not is_reason(reason):
        message = "expected a reason code like TRUST_VIOLATION"
        raise ReasonError("bad-reason", message, "capitals, digits and underscores, a letter first")
    return page._replace(
        taint=QUARANTINED,
        sealed=True,
        qid=qid,
        reason=reason,
        utility="",
        descriptor=sealed_descriptor(page.role, reason, page.length, detail),
        word="",
        written=tuple(pair for pair in page.written if pair[0] not in {"descriptor", "reason"}),
    )


def mended(page: Page, position: int, size: int) -> Page:
    """A row that is about to be sealed, with the fields that must fit put in order.

    What does not fit becomes the value that claims nothing: the caller seals the row anyway.
    """
    bounded = page.durability == BOUNDED
    fits = page.durability in DURABILITY and bounded == (page.valid_to > 0) and page.valid_to >= 0
    return page._replace(
        step=position,
        length=size,
        durability=page.durability if fits else "",
        valid_to=page.valid_to if fits else 0,
        trust_epoch=page.trust_epoch if page.witness else 0,
        written=(),
    )


def tombstone(session: str, page: Page, reason: str, by: str) -> Change:
    """The context change that hides a page.

    Raises:
        EditError: there is no reason.
    """
    return _change(TOMBSTONE, session, page, reason, by)


def quarantine_change(session: str, page: Page, reason: str, by: str) -> Change:
    """The context change that records why a page was sealed (`synapse.image/1`).

    Raises:
        EditError: there is no reason.
    """
    return _change(QUARANTINE, session, page, reason, by)


def _change(action: str, session: str, page: Page, reason: str, by: str) -> Change:
    if not reason.strip():
        raise no_reason()
    return Change(
        change_id(session, page.step, page.digest),
        page.step,
        page.digest,
        reason.strip(),
        by.strip() or "agent",
        action,
    )


def hidden_steps(changes: tuple[Change, ...]) -> frozenset[int]:
    """The steps that tombstones hide."""
    return frozenset(change.step for change in changes if change.action == TOMBSTONE)
