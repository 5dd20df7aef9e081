"""Checking a whole `synapse.image/1` image: rows in order, bodies beside them, then the head.

What a verdict stands on, from the inside out: the word of each page over its exact bytes, the body
under it, the Merkle root over the words, the head, and, when the caller has one, a key or an anchor
from outside. Memory is one small record a page, whatever the bodies weigh.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syn.canon import base64
from syn.canon.digest import raw
from syn.canon.merkle import leaf_hash
from syn.images.classify import Fault, is_plain, page_faults
from syn.images.descriptor import (
    SEAL_DETAILS,
    benign_descriptor,
    first_line,
    sealed_descriptor,
)
from syn.images.malformed import MalformedError
from syn.images.native import NativeHead, image_digest, parse_head, signing_payload
from syn.images.native_plain import MAX_BODY, Bodies, PlainRows, Store, root_over
from syn.images.native_row import Row, encode_page, read_row
from syn.images.outside import KeyCheck, Outside, SignatureState, StaleCheck
from syn.images.report import Collected, ImageReport, Limit, refused_report
from syn.images.survey import ImageFault, Survey
from syn.images.table import NATIVE_FORMAT, Blob, FactRef, Page
from syn.images.word import native_prefix

MAX_MENDS = 256
"""Rows of one image in which a flipped bit is looked for; after that a row is what it says."""


@dataclass(frozen=True, slots=True)
class NativeResult:
    """What a verification knows beside its report, for page-in, scrub and repair."""

    report: ImageReport
    head: NativeHead
    blobs: Mapping[str, Blob]
    last_seal: int
    digests: Sequence[str]


def verify_native(
    name: str,
    lines: Iterable[bytes],
    store: Store,
    outside: Outside | None = None,
    *,
    beside: Callable[[NativeHead], Iterable[ImageFault]] = lambda _: (),
) -> NativeResult:
    """Check every page, the root, the ledger, the clearances, the store and the signature.

    Args:
        name: what the report calls the image.
        lines: the lines of `image.jsonl`, each with its LF.
        store: the bodies.
        outside: keys and anchor.
        beside: faults of what lies beside the two files.

    Raises:
        MalformedError: the head is none, or a line is no line.
    """
    outside = outside or Outside()
    reader = iter(lines)
    head = parse_head(_line(next(reader, b"")))
    table = _Table(
        Collected(name, NATIVE_FORMAT), native_prefix(head.session), store, outside.staleness
    )
    while (line := table.rows.run(reader)) is not None:
        table.take(len(table.survey.digests), line)
    collected = table.collected
    for position, fault in table.survey.page_faults():
        collected.add(position, (fault,))
    collected.image.extend(table.survey.image_faults(head.as_head(), table.bodies.rotten()))
    collected.image.extend(table.root_faults(head))
    collected.image.extend(table.store_faults(head))
    signature, faults = _signature(head, outside)
    collected.image.extend(faults)
    collected.image.extend(beside(head))
    report = _report(table, head, signature)
    survey = table.survey
    return NativeResult(report, head, table.bodies, survey.last_seal, survey.digests)


def _line(line: bytes) -> bytes:
    if not line.endswith(b"\n"):
        raise MalformedError("torn-line", "image.jsonl: the last line is torn", "image.jsonl")
    return line[:-1]


@dataclass(slots=True)
class _Table:
    collected: Collected
    prefix: bytes
    store: Store
    stale: StaleCheck | None = None
    survey: Survey = field(default_factory=Survey)
    mends: int = MAX_MENDS
    gaps: list[tuple[int, int]] = field(default_factory=list)
    rows: PlainRows = field(init=False)

    def __post_init__(self) -> None:
        self.rows = PlainRows(self.prefix, self.store, self.survey)

    @property
    def bodies(self) -> Bodies:
        """What was read of the store."""
        return self.rows.bodies

    def take(self, position: int, line: bytes) -> None:
        """One row: its word, its body, its fields."""
        try:
            row = read_row(_line(line), self.prefix, position, mend=self.mends > 0)
        except MalformedError as error:
            self.mends -= 1
            self.collected.add(position, (Fault(f"row-{error.code}", "tampered"),))
            self.rows.leaves += leaf_hash(b"")
            self.survey.add(_NO_PAGE, position)
            return
        page = row.page
        self.rows.leaves += leaf_hash(_word_bytes(page.word))
        if row.rotted:
            self.collected.add(position, (Fault("bit-rotted", "repairable", "the row", "one bit"),))
        self.mends -= row.rotted or page.word != row.computed
        if page.fact is not None and self.stale is not None:
            self.staleness(position, page.fact, self.stale)
        blob = self.body(page)
        self.survey.add(page, position)
        # The common case is over here; everything else is asked rule by rule.
        if blob is None or page.word != row.computed or not is_plain(page, position, blob):
            check = _WordCheck(row, self.prefix, position)
            self.collected.add(position, page_faults(page, position, blob, check))

    def staleness(self, position: int, fact: FactRef, stale: StaleCheck) -> None:
        """A page from a fact that is not what it was: a warning, and not served."""
        if (state := stale(fact)) != "fresh":
            fault = ImageFault(
                "page-stale", f"page {position}", "the fact as it was", state, "warning", ()
            )
            self.collected.image.append(fault)

    def body(self, page: Page) -> Blob | None:
        """The body of a page, read and hashed once for all pages that share it."""
        if page.offset < 0:
            return None
        known = self.bodies.others.get(page.digest)
        if known is not None and known.place == page.offset:
            return known
        plain = self.bodies.plain(page.digest)
        if plain is not None and plain.place == page.offset:
            body = self.store.view_at(plain.place, plain.size)
            blob = plain._replace(line=first_line(body))
        else:
            blob = self.read(page)
        self.bodies.others[page.digest] = blob
        return blob

    def read(self, page: Page) -> Blob:
        """Read the body of one page at its place."""
        if not 0 <= page.length <= MAX_BODY:
            return Blob(0, "", "", "blob-mismatch")
        body = self.store.view_at(page.offset, page.length)
        actual = hashlib.sha256(body).hexdigest()
        if actual != page.digest:
            return Blob(len(body), "", actual, "blob-mismatch")
        rows = self.rows
        if page.offset != rows.end:
            self.gaps.append((rows.end, page.offset))
        rows.end = max(rows.end, page.offset + page.length)
        return Blob(len(body), first_line(body), page.digest, "", page.offset)

    def root_faults(self, head: NativeHead) -> Iterator[ImageFault]:
        """The root over the stored words: rows added, dropped, moved or forged do not fit it."""
        actual = "sha256:" + root_over(self.rows.leaves).hex()
        if actual != head.root:
            yield ImageFault("root-mismatch", "page table", head.root, actual)

    def store_faults(self, head: NativeHead) -> Iterator[ImageFault]:
        """Bytes that no page accounts for, and a store of another size."""
        size = self.store.size()
        if size != head.size:
            yield ImageFault("store-size", "store", f"{head.size} bytes", f"{size} bytes")
        if self.bodies.rotten():
            return
        for start, end in self.gaps:
            yield ImageFault("store-gap", "store", f"a body at {start}", f"the next one at {end}")
        if (end := self.rows.end) != size and not self.collected.faults:
            yield ImageFault("store-gap", "store", f"an end at {end}", f"{size} bytes")


_NO_PAGE = Page(-1, "", "", "", 0, 0, sealed=False)


def _word_bytes(word: str) -> bytes:
    try:
        return raw(word)
    except ValueError:
        return b""


@dataclass(frozen=True, slots=True)
class _WordCheck:
    """The word of one row against its bytes; a field that re-derives is tried in its place."""

    row: Row
    prefix: bytes
    position: int

    def __call__(self, page: Page, blob: Blob) -> Iterator[Fault]:
        if page.word == self.row.computed:
            if page.length != blob.size:
                yield Fault("len-mismatch", "tampered", f"{blob.size} bytes", f"{page.length}")
            return
        for name, candidate in derivable(page, blob, self.position):
            if encode_page(candidate, self.prefix)[1] == page.word:
                yield Fault("field-rotted", "repairable", f"the {name} that re-derives", "another")
                return
        yield Fault("word-mismatch", "tampered", self.row.computed, page.word)


def derivable(page: Page, blob: Blob, position: int) -> Iterator[tuple[str, Page]]:
    """The page with one derived field put back."""
    yield "step", page._replace(step=position)
    yield "len", page._replace(length=blob.size)
    if page.sealed:
        for detail in ("", *SEAL_DETAILS):
            text = sealed_descriptor(page.role, page.reason, page.length, detail)
            yield "descriptor", page._replace(descriptor=text)
    else:
        yield "descriptor", page._replace(descriptor=benign_descriptor(page.role, blob.line))


def _signature(head: NativeHead, outside: Outside) -> tuple[SignatureState, list[ImageFault]]:
    digest = image_digest(head)
    faults = []
    if outside.anchor and outside.anchor != digest:
        faults.append(ImageFault("anchor-mismatch", "image", outside.anchor, digest))
    state = _signature_state(head, digest, outside.check_key)
    if state == "invalid":
        faults.append(ImageFault("signature-invalid", "image", "a signature that holds", "another"))
    elif outside.signed and state != "valid":
        faults.append(ImageFault("signature-missing", "image", "a trusted signature", state))
    return state, faults


def _signature_state(head: NativeHead, digest: str, check_key: KeyCheck | None) -> SignatureState:
    if not head.sig and not head.key:
        return "none"
    if (signature := base64.decode(head.sig)) is None:
        return "invalid"
    held = check_key(head.key, signing_payload(digest), signature) if check_key else None
    if held is None:
        return "untrusted"
    return "valid" if held else "invalid"


def _limits(signature: SignatureState) -> tuple[Limit, ...]:
    anchor = Limit("anchor", "an older image of the same session put back")
    if signature == "valid":
        return (anchor,)
    key = Limit("key", "words and root computed anew over edited rows: no trusted signature")
    return (key, anchor)


def _report(table: _Table, head: NativeHead, signature: SignatureState) -> ImageReport:
    collected, survey = table.collected, table.survey
    return ImageReport(
        name=collected.name,
        format=NATIVE_FORMAT,
        verdict=collected.verdict(),
        session=head.session,
        total=len(survey.digests),
        bodies=table.bodies.total(),
        sealed=sum(survey.qids.values()),
        hidden=len({change.step for change in head.changes}),
        pages=collected.verdicts(),
        findings=collected.findings(),
        blocked=collected.blocked(),
        untrusted=collected.untrusted(),
        digest=image_digest(head),
        signature=signature,
        limits=_limits(signature),
    )


def check_native(
    name: str, lines: Iterable[bytes], store: Store, outside: Outside | None = None
) -> ImageReport:
    """`verify_native`, with a refusal as a report."""
    try:
        return verify_native(name, lines, store, outside).report
    except MalformedError as error:
        return refused_report(name, error, NATIVE_FORMAT)
