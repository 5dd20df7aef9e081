"""Checks across the rows of an image: ids, aliases, order, marker, ledger, store.

Pure and streaming: one small record a row. Nothing here needs a second look at the rows.
"""

import hashlib
import itertools
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from syn.images.classify import Fault
from syn.images.descriptor import (
    SEAL_DETAILS,
    has_seal_detail,
    is_seal_id,
    sealed_descriptor,
)
from syn.images.search import shown_id
from syn.images.table import (
    NATIVE_FORMAT,
    QUARANTINE,
    TOMBSTONE,
    Blob,
    Change,
    Head,
    Page,
)

SCRUB = "scrub"
"""What the reference program's scrub puts in place of the session when it derives an id."""
SCRUB_REQUESTER = "recall/scrub"

STORE_CODES = frozenset({"store-entry", "orphan-rotten", "address-malformed"})
"""Faults of the store alone: the page table does not depend on them."""

_WITNESS_SEAL, _, _METADATA_SEAL = SEAL_DETAILS


@dataclass(frozen=True, slots=True)
class ImageFault:
    """One thing that is wrong with the image rather than with one page."""

    code: str
    subject: str
    expected: str = ""
    actual: str = ""
    severity: str = "failure"
    pages: tuple[int, ...] | None = None
    """The pages that are not served because of it; None is every page."""


@dataclass(slots=True)
class Survey:
    """What the rows together say; fed row by row, asked once."""

    digests: list[str] = field(default_factory=list)
    steps: list[tuple[int, int]] = field(default_factory=list)
    """Position and step of every row whose step is not its position."""
    qids: Counter[str] = field(default_factory=Counter)
    sealed: set[str] = field(default_factory=set)
    """Addresses sealed for what the bytes say (not for a witness or for edited metadata)."""
    sealed_at: set[int] = field(default_factory=set)
    qid_at: dict[str, list[int]] = field(default_factory=dict)
    wordless: int = 0
    """Rows without a word."""
    resealed: bool = False
    """Whether a scrub or dream sealed a page: it counts ids on even where it gives none out. A
    recorder leaves no durability on what it seals."""
    epochs: list[tuple[int, int]] = field(default_factory=list)
    """Trust epoch and position of every unsealed page under a witness, in record order."""

    def add(self, page: Page, position: int) -> None:
        """Take in one row.

        Of an unsealed one with a word, at its step, only digest and epoch count.
        """
        self.digests.append(page.digest)
        self.wordless += not page.word
        if page.step != position:
            self.steps.append((position, page.step))
        if page.sealed:
            self.sealed_at.add(position)
            self.qids[page.qid] += 1
            self.qid_at.setdefault(page.qid, []).append(position)
            self.resealed = self.resealed or page.durability != "" or has_seal_detail(page)
            if not _sealed_for_the_page(page):
                self.sealed.add(page.digest)
        if page.witness and not page.sealed:
            self.epochs.append((page.trust_epoch, position))

    @property
    def last_seal(self) -> int:
        """The number of the highest seal id in use; 0 when nothing is sealed."""
        return max((int(qid[1:]) for qid in self.qids if is_seal_id(qid)), default=0)

    def page_faults(self) -> Iterator[tuple[int, Fault]]:
        """Faults of single pages that only the others show."""
        for qid, positions in self.qid_at.items():
            if len(positions) > 1:
                fault = Fault("qid-shared", "tampered", "a seal id of its own", shown_id(qid))
                yield from ((position, fault) for position in positions)
        if self.sealed:
            for position, digest in enumerate(self.digests):
                if digest in self.sealed and position not in self.sealed_at:
                    yield position, Fault("alias-unsealed", "tampered", "sealed", "unsealed")
        for position in _out_of_order(self.epochs):
            yield position, Fault("epoch-order", "tampered", "epochs that only grow", "a lower one")

    def image_faults(self, head: Head, blobs: Mapping[str, Blob]) -> Iterator[ImageFault]:
        """Faults of the image as a whole."""
        rows = len(self.digests)
        if head.marker != rows:
            expected, actual = f"world_ver {rows}", f"world_ver {head.marker}"
            yield ImageFault("marker-mismatch", "page table", expected, actual)
        yield from self._order(rows)
        yield from self._seals(head)
        yield from _ledger(head, self.digests)
        yield from _store(set(self.digests), blobs)

    def _order(self, rows: int) -> Iterator[ImageFault]:
        """Rows that stand in another order, or are gone, when the steps show exactly that."""
        if not self.steps:
            return
        steps = list(range(rows))
        for position, step in self.steps:
            steps[position] = step
        if sorted(steps) == list(range(rows)):
            moved = f"{len(self.steps)} rows elsewhere"
            yield ImageFault("page-order", "page table", "rows in the order of their steps", moved)
        elif all(a < b for a, b in itertools.pairwise(steps)):
            yield ImageFault("page-dropped", "page table", "steps without a gap", "a gap")

    def _seals(self, head: Head) -> Iterator[ImageFault]:
        numbers = {int(qid[1:]) for qid in self.qids if is_seal_id(qid)}
        if not self.resealed and numbers and len(numbers) != (last := max(numbers)):
            actual = f"{len(numbers)} of them"
            yield ImageFault("seal-gap", "page table", f"the seals q1 to q{last}", actual)
        for qid, on in head.cleared:
            if on and (qid not in self.qids or not is_seal_id(qid)):
                subject = f"clearance of {shown_id(qid)}"
                yield ImageFault("clearance-unknown", subject, "the id of a sealed page", "no such")


def _out_of_order(epochs: list[tuple[int, int]]) -> list[int]:
    """The positions outside a longest run of epochs that never fall (patience sorting)."""
    tails: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (epoch, _) in enumerate(epochs):
        place = bisect_right(tails, epoch)
        before.append(last[place - 1] if place else -1)
        tails[place : place + 1] = [epoch]
        last[place : place + 1] = [index]
    kept: set[int] = set()
    index = last[-1] if last else -1
    while index >= 0:
        kept.add(index)
        index = before[index]
    return [position for index, (_, position) in enumerate(epochs) if index not in kept]


def _sealed_for_the_page(page: Page) -> bool:
    """Whether a seal is about the page (its witness, its edited fields), not about the bytes."""
    return page.descriptor in {
        sealed_descriptor(page.role, page.reason, page.length, detail)
        for detail in (_WITNESS_SEAL, _METADATA_SEAL)
    }


def change_id(session: str, step: int, digest: str) -> str:
    """The id that a context change has when nothing was moved."""
    text = f"{session}\0{step}\0{digest}"
    return "ctx-" + hashlib.sha256(text.encode()).hexdigest()[:12]


def by_scrub(change: Change) -> bool:
    """Whether the reference program's scrub wrote the row: its name, and the id that it derives."""
    derived = change_id(SCRUB, change.step, change.digest)
    return change.requested_by == SCRUB_REQUESTER and change.id == derived


def _ledger(head: Head, digests: list[str]) -> Iterator[ImageFault]:
    hidden: set[int] = set()
    native = head.version == NATIVE_FORMAT
    for number, change in enumerate(head.changes):
        subject = f"context change {number}"
        yield from _row(change, subject, native=native)
        if change.action == TOMBSTONE:
            if change.step in hidden:
                yield ImageFault(
                    "tombstone-twice", subject, "one row a page", f"page {change.step}"
                )
            hidden.add(change.step)
        scrub = by_scrub(change)
        if not scrub and change.id != change_id(head.session, change.step, change.digest):
            expected = "the id derived from session, step and digest"
            yield ImageFault("tombstone-id", subject, expected, "another id")
        if scrub and not native:
            actual = f"page {change.step} hidden by the program's scrub, under no word"
            yield ImageFault("sealed-without-word", subject, "a new word", actual, pages=())
        yield from _target(change, subject, digests, scrub=scrub)


def _row(change: Change, subject: str, *, native: bool) -> Iterator[ImageFault]:
    known = {TOMBSTONE, QUARANTINE} if native else {TOMBSTONE}
    if change.action not in known:
        yield ImageFault("tombstone-action", subject, TOMBSTONE, "another action")
    if not change.applied:
        yield ImageFault("tombstone-unapplied", subject, "an applied row", "one that is not")
    if not change.reason.strip():
        yield ImageFault("tombstone-reason", subject, "a reason", "none")


def _target(
    change: Change, subject: str, digests: list[str], *, scrub: bool
) -> Iterator[ImageFault]:
    if not 0 <= change.step < len(digests):
        yield ImageFault("tombstone-step", subject, "the step of a page", f"step {change.step}")
    elif digests[change.step] != change.digest:
        pages = tuple(i for i, digest in enumerate(digests) if digest == change.digest)
        expected = f"the digest of page {change.step}"
        actual = f"that of page {pages[0]}" if pages else "that of no page"
        blocked = (change.step, *pages) if scrub else None
        yield ImageFault("tombstone-digest", subject, expected, actual, pages=blocked)


def _store(referenced: set[str], blobs: Mapping[str, Blob]) -> Iterator[ImageFault]:
    for address, blob in blobs.items():
        used = address in referenced
        name = address[:12] if blob.fault != "address-malformed" else "an entry"
        if blob.fault and used:
            yield ImageFault(
                "store-entry", f"store entry {name}", "bytes that hash to it", "others"
            )
        elif blob.fault == "address-malformed":
            yield ImageFault("address-malformed", "a store entry", "64 lower-case hex", "another")
        elif blob.fault:
            yield ImageFault("orphan-rotten", f"store entry {name}", "bytes that hash to it", "rot")
        elif not used:
            expected, actual = "a page that names it", "none"
            yield ImageFault("orphan", f"store entry {name}", expected, actual, "warning", ())
