"""Page-in: handing out exactly the bytes of one page, or refusing with the reason. Pure."""

import hashlib
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import NoReturn

from syn.errors import RefusedError, UsageError
from syn.images.outside import StaleCheck
from syn.images.report import REMEDIES, ImageReport
from syn.images.table import BOUNDED, NATIVE_FORMAT, FactRef, Head, Page


class PageRefusedError(RefusedError):
    """A page that is not handed out.

    Codes: `image-refused`, `image-tampered`, `page-tampered`, `page-repairable`, `page-unchecked`,
    `page-erasure`, `page-blocked`, `page-hidden`, `page-sealed`, `page-expired`, `page-revoked`,
    `page-stale`, `page-screened`.
    """


class UnknownPageError(UsageError):
    """No page at that position (`unknown-page`)."""


@dataclass(frozen=True, slots=True)
class Served:
    """A page that was handed out, with the bytes that hash to its digest."""

    step: int
    role: str
    descriptor: str
    digest: str
    body: bytes = field(repr=False)
    fact: FactRef | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Conditions:
    """What the caller knows beside the image. The defaults know nothing."""

    as_of: int | None = None
    """The tick that bounded pages are held against."""
    revoked: Collection[str] = ()
    """Witnesses that were refuted."""
    staleness: StaleCheck | None = None
    """The state today of the fact that a page came from."""
    screen: Callable[[bytes], str] | None = None
    """Why bytes may not be handed out even under a clearance, or ""."""


def check_page_in(
    report: ImageReport, head: Head, page: Page | None, position: int, given: Conditions
) -> tuple[str, ...]:
    """Whether a page may be handed out; notes for the caller when it may.

    Raises:
        UnknownPageError: there is no such page.
        PageRefusedError: it may not, and why.
    """
    # 1. The image as a whole.
    if report.verdict == "refused":
        _refuse("image-refused", "the image is refused as a whole", report.findings[0].remedy)
    if page is None:
        raise no_such_page(report.total, position)
    if report.blocked is None:
        message = "the image as a whole does not check; no page of it is served"
        _refuse("image-tampered", message, _SAYS_WHY)
    # 2. The page: its word, its body, its place.
    if (verdict := report.page(position)) is not None:
        codes = ", ".join(dict.fromkeys(fault.code for fault in verdict.faults))
        remedy = REMEDIES[verdict.cls]
        _refuse(f"page-{verdict.cls}", f"page {position} is {verdict.cls}: {codes}", remedy)
    if position in report.blocked:
        message = f"page {position} is named by a context change that is wrong"
        _refuse("page-blocked", message, _SAYS_WHY)
    # 3. What was decided about it.
    if any(change.step == position for change in head.changes if change.action == _HIDES):
        message = f"page {position} is under a tombstone"
        _refuse("page-hidden", message, "nothing takes a tombstone back; syn image show lists it")
    if page.sealed and not _cleared(report, head, page):
        opened = "syn image clear opens it, when a person decides so"
        remedy = (
            opened if report.format == NATIVE_FORMAT else f"in a copy (syn image upgrade), {opened}"
        )
        _refuse("page-sealed", f"page {position} is sealed ({page.reason})", remedy)
    return _outside(page, position, given)


def no_such_page(total: int, position: int) -> UnknownPageError:
    """The error for a position where an image of `total` pages has no page."""
    if not total:
        return UnknownPageError("unknown-page", f"page {position}: the image has no pages")
    message = f"expected a page from 0 to {total - 1}, got {position}"
    return UnknownPageError("unknown-page", message, "syn image show lists the pages")


_HIDES = "tombstone_page"
_SAYS_WHY = "syn image verify says why"


def _cleared(report: ImageReport, head: Head, page: Page) -> bool:
    """Whether a clearance counts: `recall.v1` protects none, so there it never does."""
    return report.format == NATIVE_FORMAT and dict(head.cleared).get(page.qid, False)


def _outside(page: Page, position: int, given: Conditions) -> tuple[str, ...]:
    """What only the caller can know: revocations, the tick, the fact behind the page."""
    if page.witness and page.witness in given.revoked:
        remedy = "ask the tool again under a witness that holds"
        _refuse("page-revoked", f"the witness of page {position} is revoked", remedy)
    notes = []
    if page.durability == BOUNDED:
        if given.as_of is None:
            notes.append(f"valid to tick {page.valid_to}; no tick was given to hold it against")
        elif given.as_of > page.valid_to:
            message = f"page {position} was valid to tick {page.valid_to}"
            _refuse("page-expired", message, "ask the tool again")
    if page.fact is not None:
        if given.staleness is None:
            notes.append("made from a fact; its state today was not asked")
        elif (state := given.staleness(page.fact)) != "fresh":
            remedy = "read the fact itself"
            _refuse("page-stale", f"the fact behind page {position} is {state}", remedy)
    return tuple(notes)


def serve(page: Page, body: bytes, given: Conditions, notes: tuple[str, ...] = ()) -> Served:
    """The page with its bytes, hashed once more on their way out.

    Raises:
        PageRefusedError: the bytes are others than a moment ago, or the caller's screen says no.
    """
    if hashlib.sha256(body).hexdigest() != page.digest:
        message = f"the bytes of page {page.step} changed while they were read"
        _refuse("page-erasure", message, _SAYS_WHY)
    if given.screen is not None and (reason := given.screen(body)):
        message = f"page {page.step} does not pass the screen: {reason}"
        _refuse("page-screened", message, "syn image quarantine seals it")
    return Served(page.step, page.role, page.descriptor, page.digest, body, page.fact, notes)


def _refuse(code: str, message: str, remedy: str) -> NoReturn:
    raise PageRefusedError(code, message, remedy)
