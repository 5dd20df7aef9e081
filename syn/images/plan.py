"""What a scrub or a repair does with a page that is not clean, decided before anything is written.

Pure. A repair re-derives what derives and re-stamps it; a scrub's copy also takes out of service
what does not check. Neither ever moves a page towards the looser state, and neither touches a body.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from syn.images.classify import is_address, page_faults, recall_word_faults
from syn.images.descriptor import is_reason
from syn.images.edit import SCRUB_SEAL, TAMPER, SealIds, hidden_steps, mended, seal
from syn.images.native_row import encode_page
from syn.images.native_verify import derivable
from syn.images.report import ImageReport, PageVerdict
from syn.images.search import shown_id
from syn.images.survey import by_scrub, change_id
from syn.images.table import (
    NATIVE_FORMAT,
    QUARANTINE,
    TOMBSTONE,
    Blob,
    Change,
    Format,
    Head,
    Page,
)
from syn.images.word import native_prefix, recall_word

Action: TypeAlias = Literal[
    "restamp", "re-derive", "put-back", "restore", "seal", "hide", "drop", "leave"
]
"""`restamp`: a fresh word over the state as it is · `re-derive`: a field from the body ·
`put-back`: the stamped state that the search found, when it is stricter · `restore`: bytes from a
copy, because they hash to the digest · `seal`, `hide`: out of service · `drop`: not in the copy ·
`leave`: a person decides."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a plan does, or leaves, and why."""

    action: Action
    subject: str
    """`page 6`, `context change 0`, `store entry 48ab8c74833a`."""
    code: str
    """The finding that it answers."""
    detail: str = ""


@dataclass(slots=True)
class PagePlanner:
    """Decides page by page; knows the seal ids that are free and the pages to hide."""

    report: ImageReport
    head: Head
    blobs: Mapping[str, Blob]
    ids: SealIds
    scrub: bool
    """Whether what does not check is taken out of service (a scrub's copy), or left (a repair)."""
    offers: bool = False
    """Whether a repair takes up the corrections that the search offers."""
    steps: list[Step] = field(default_factory=list)
    hide: set[int] = field(default_factory=set)
    resealed: set[str] = field(default_factory=set)
    """Ids under which a page was sealed anew; an old clearance must not open them."""

    def pages(self, rows: Iterator[Page]) -> Iterator[Page]:
        """The rows of the new table; a row whose word is "" is to be stamped."""
        verdicts = {page.position: page for page in self.report.pages}
        for position, page in enumerate(rows):
            verdict = verdicts.get(position)
            if self.scrub and self.report.untrusted:
                yield self._closed(page, position, verdict)
                continue
            row = page if verdict is None else self.treat(page, verdict)
            if row.sealed:
                self.ids.taken.add(row.qid)
            yield row

    def _closed(self, page: Page, position: int, verdict: PageVerdict | None) -> Page:
        """A row of a table that does not check as a whole: out of service, whatever it says."""
        if verdict is not None and verdict.cls == "erasure":
            self.hide.add(position)
        code = "untrusted-table" if verdict is None else verdict.faults[0].code
        self.steps.append(Step("seal", f"page {position}", code))
        blob = self.blobs.get(page.digest)
        row = mended(page, position, max(page.length, 0) if blob is None else blob.size)
        reason = page.reason if page.sealed and is_reason(page.reason) else SCRUB_SEAL
        qid = self.ids.fresh()
        self.ids.taken.add(qid)
        return seal(row, qid, reason, TAMPER)

    def treat(self, page: Page, verdict: PageVerdict) -> Page:
        """One row that is not clean."""
        blob = self.blobs.get(page.digest)
        mended = self._mended(page, verdict, blob)
        if mended is not None:
            return mended
        if not self.scrub:
            self._note("leave", verdict, "a person decides")
            return page
        if verdict.cls == "erasure":
            return self._erased(page, verdict)
        if all(fault.code == "word-missing" for fault in verdict.faults):
            self._note("leave", verdict, "no word, and none is made up")
            return page
        return self._sealed(page, verdict)

    def _mended(self, page: Page, verdict: PageVerdict, blob: Blob | None) -> Page | None:
        """The row with its derived data right again, when that is all that was wrong."""
        if verdict.cls == "repairable" and blob is not None:
            fixed = self._rederived(page, verdict.position, blob)
            if fixed is not None:
                self._note("restamp" if fixed == page._replace(word="") else "re-derive", verdict)
                return fixed
        if self.offers and verdict.diagnosis is not None and blob is not None:
            return self._put_back(page, verdict, blob)
        return None

    def _rederived(self, page: Page, position: int, blob: Blob) -> Page | None:
        if self.report.format == NATIVE_FORMAT:
            prefix = native_prefix(self.head.session)
            if encode_page(page, prefix)[1] != page.word:
                for _, candidate in derivable(page, blob, position):
                    if encode_page(candidate, prefix)[1] == page.word:
                        return candidate._replace(word="")
            return page._replace(word="")
        return page._replace(length=blob.size, word="")

    def _put_back(self, page: Page, verdict: PageVerdict, blob: Blob) -> Page | None:
        candidates = verdict.diagnosis.candidates if verdict.diagnosis is not None else ()
        offers = [candidate for candidate in candidates if candidate.correctable]
        if len(offers) != 1:
            return None
        state = offers[0].state
        fixed = page._replace(
            length=state.length, taint=state.taint, sealed=state.sealed, qid=state.qid
        )
        if page_faults(fixed, verdict.position, blob, recall_word_faults):
            return None
        names = ", ".join(change.field for change in offers[0].changes)
        self._note("put-back", verdict, f"{names}, as stamped")
        return fixed

    def _sealed(self, page: Page, verdict: PageVerdict) -> Page:
        self._note("seal", verdict)
        blob = self.blobs.get(page.digest)
        row = mended(page, verdict.position, page.length if blob is None else blob.size)
        qid = self.ids.keep(page.qid)
        self.resealed.add(qid)
        return seal(row, qid, SCRUB_SEAL, TAMPER)

    def _erased(self, page: Page, verdict: PageVerdict) -> Page:
        """A row whose body is gone: hidden, and sealed too when the row itself does not check."""
        self._note("hide", verdict, "no bytes to answer for")
        self.hide.add(verdict.position)
        codes = {fault.code for fault in verdict.faults}
        sound = codes <= {"body-absent", "body-mismatch"} and self._has_its_word(page)
        if sound and is_address(page.digest):
            return page
        row = page._replace(length=max(page.length, 0))
        return self._sealed(row, verdict)

    def _has_its_word(self, page: Page) -> bool:
        if self.report.format == NATIVE_FORMAT:
            return encode_page(page, native_prefix(self.head.session))[1] == page.word
        return recall_word(page) == page.word

    def _note(self, action: Action, verdict: PageVerdict, detail: str = "") -> None:
        code = ", ".join(dict.fromkeys(fault.code for fault in verdict.faults))
        self.steps.append(Step(action, f"page {verdict.position}", code, detail))


def plan_head(planner: PagePlanner, digests: list[str]) -> Head:
    """The head of a scrub's copy: what does not check is dropped, what it hid stays hidden.

    Every page that a wrong context change could have meant is hidden by a right one.
    """
    head, steps = planner.head, planner.steps
    kept: list[Change] = []
    for number, change in enumerate(head.changes):
        wrong = _wrong(change, head, digests)
        if not wrong:
            kept.append(change)
            continue
        steps.append(Step("drop", f"context change {number}", wrong, "its pages are hidden anew"))
        planner.hide.update(i for i, digest in enumerate(digests) if digest == change.digest)
        if 0 <= change.step < len(digests):
            planner.hide.add(change.step)
    if head.marker != len(digests):
        steps.append(Step("re-derive", "world_ver", "marker-mismatch"))
    return replace(head, marker=len(digests), changes=tuple(kept))


def _wrong(change: Change, head: Head, digests: list[str]) -> str:
    known = {TOMBSTONE, QUARANTINE} if head.version == NATIVE_FORMAT else {TOMBSTONE}
    if change.action not in known:
        return "tombstone-action"
    if not change.applied or not change.reason.strip():
        return "tombstone-unapplied"
    if not 0 <= change.step < len(digests):
        return "tombstone-step"
    if digests[change.step] != change.digest:
        return "tombstone-digest"
    derived = change_id(head.session, change.step, change.digest)
    return "" if change.id == derived or by_scrub(change) else "tombstone-id"


def finish_head(planner: PagePlanner, head: Head, digests: list[str], qids: set[str]) -> Head:
    """The head once every page is decided: new tombstones, and clearances that still fit.

    Args:
        planner: after its pages were taken.
        head: from `plan_head`.
        digests: the digests of the rows.
        qids: ids of the sealed pages that were not sealed anew.
    """
    hidden = hidden_steps(head.changes)
    added = tuple(
        Change(
            change_id(head.session, step, digests[step]),
            step,
            digests[step],
            "scrub: the page does not check",
            "syn scrub",
        )
        for step in sorted(planner.hide - hidden)
    )
    cleared = tuple((qid, on) for qid, on in head.cleared if qid in qids)
    planner.steps.extend(
        Step("drop", f"clearance of {shown_id(qid)}", "clearance-unknown")
        for qid, _ in head.cleared
        if qid not in qids
    )
    return replace(head, changes=head.changes + added, cleared=cleared)


def store_steps(digests: list[str], blobs: Mapping[str, Blob]) -> Iterator[Step]:
    """What a scrub's copy leaves out of the store, entry by entry."""
    referenced = set(digests)
    for address, blob in blobs.items():
        name = address[:12] if is_address(address) else "with a malformed address"
        if blob.fault:
            actual = f"{blob.size} bytes, sha256 {blob.actual[:12]}" if blob.actual else "no bytes"
            yield Step("drop", f"store entry {name}", blob.fault, actual)
        elif address not in referenced:
            yield Step("drop", f"store entry {name}", "orphan", f"{blob.size} bytes")


def stamped(page: Page, form: Format) -> Page:
    """A `recall.v1` row with its word, when it is to be stamped; ours are stamped in the build."""
    if page.word or form == NATIVE_FORMAT:
        return page
    return page._replace(word=recall_word(page))
