"""Checking a whole `recall.v1` image from its two streams, in one pass over each.

Memory is one small record a page and a blob, whatever the bodies weigh. Pure but for the streams.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from syn.canon.digest import tagged_json
from syn.images.classify import page_faults, recall_word_faults
from syn.images.descriptor import first_line
from syn.images.malformed import MalformedError
from syn.images.outside import Outside
from syn.images.recall_read import ManifestReader
from syn.images.recall_store import Entry, StoreReader
from syn.images.report import Collected, ImageReport, Limit, refused_report
from syn.images.search import DEFAULT_BUDGET, diagnose, shown_id
from syn.images.strict import Stream
from syn.images.survey import ImageFault, Survey
from syn.images.table import RECALL_FORMAT, Blob, Head, Page
from syn.images.word import recall_word

TOTAL_BUDGET = 2_000_000
"""Hashes that the searches over one image may take together."""

LIMITS = (
    Limit("word", "witness, trust epoch, durability, valid_to and utility stand outside the word"),
    Limit("word", "role and descriptor may be edited together; the word is 64 bits and collides"),
    Limit("root", "rows dropped from the end, added from another session or renumbered throughout"),
    Limit("root", "context changes removed; a seal of the program's own scrub or dream undone"),
    Limit("key", "words and ids computed anew over edited rows, clearances or context changes"),
    Limit("anchor", "an older image of the same session put back"),
)
"""What `recall.v1` alone cannot tell; `synapse.image/1` can (docs/formats/image.md)."""


class Hashing:
    """A stream that hashes what is read through it."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()
        self.size = 0

    def read(self, size: int, /) -> bytes:
        """Read on; the bytes are hashed and counted."""
        data = self._stream.read(size)
        self._hash.update(data)
        self.size += len(data)
        return data

    def digest(self) -> str:
        """SHA-256 of what was read, hex."""
        return self._hash.hexdigest()


def blob_of(entry: Entry) -> Blob:
    """What a store entry holds, measured."""
    if entry.body is None:
        return Blob(0, "", "", entry.fault)
    actual = hashlib.sha256(entry.body).hexdigest()
    fault = entry.fault or ("" if actual == entry.key else "blob-mismatch")
    line = "" if fault else first_line(entry.body)
    return Blob(len(entry.body), line, actual, fault, entry.place, entry.span)


def image_digest(manifest: str, store: str) -> str:
    """The digest of a `recall.v1` image as a whole, from the SHA-256 of its two files."""
    return tagged_json("recall-image/1", {"manifest": manifest, "store": store})


@dataclass(frozen=True, slots=True)
class RecallResult:
    """What a verification knows beside its report, for page-in, scrub and repair."""

    report: ImageReport
    head: Head
    blobs: Mapping[str, Blob]
    last_seal: int
    """The highest seal id in use."""
    digests: Sequence[str]
    """The digest that each row names."""


def verify_recall(
    name: str,
    manifest: Stream,
    store: Stream,
    outside: Outside | None = None,
    *,
    beside: Callable[[Head], Iterable[ImageFault]] = lambda _: (),
) -> RecallResult:
    """Check every page, the ledger, the clearances and the store of an image.

    Args:
        name: what the report calls the image.
        manifest: the bytes of `manifest.json`.
        store: the bytes of `cas.json`.
        outside: anchor.
        beside: faults of what lies beside the two files.

    Raises:
        MalformedError: a strict reader refuses one of the two.
    """
    manifest, store = Hashing(manifest), Hashing(store)
    blobs = {entry.key: blob_of(entry) for entry in StoreReader(store).entries()}
    collected, survey = Collected(name, RECALL_FORMAT), Survey()
    mismatched: dict[int, Page] = {}
    reader = ManifestReader(manifest)
    for position, page in enumerate(reader.pages()):
        survey.add(page, position)
        faults = page_faults(page, position, blobs.get(page.digest), recall_word_faults)
        if faults:
            collected.add(position, faults)
            if any(fault.code == "word-mismatch" for fault in faults):
                mismatched[position] = page
    _across(collected, survey, reader.head, blobs)
    _diagnose(collected, mismatched, survey, blobs)
    digest = image_digest(manifest.digest(), store.digest())
    collected.image.extend(_outside_faults(outside or Outside(), digest))
    collected.image.extend(beside(reader.head))
    report = _report(collected, survey, reader.head, blobs, digest)
    return RecallResult(report, reader.head, blobs, survey.last_seal, survey.digests)


def _across(collected: Collected, survey: Survey, head: Head, blobs: Mapping[str, Blob]) -> None:
    for position, fault in survey.page_faults():
        collected.add(position, (fault,))
    collected.image.extend(survey.image_faults(head, blobs))
    if survey.wordless < len(survey.digests):
        _strip(collected)


def _outside_faults(outside: Outside, digest: str) -> Iterator[ImageFault]:
    if outside.anchor and outside.anchor != digest:
        yield ImageFault("anchor-mismatch", "image", outside.anchor, digest)
    if outside.signed:
        yield ImageFault("signature-missing", "image", "a trusted signature", "the format has none")


def _strip(collected: Collected) -> None:
    """A page without a word among pages with one: the word was taken away."""
    for faults in collected.faults.values():
        for index, fault in enumerate(faults):
            if fault.code == "word-missing":
                faults[index] = type(fault)(
                    "word-stripped", "unchecked", "a word, as other pages have", "none"
                )


def _diagnose(
    collected: Collected, pages: Mapping[int, Page], survey: Survey, blobs: Mapping[str, Blob]
) -> None:
    sizes = {address: blob.size for address, blob in blobs.items() if not blob.fault}
    last = survey.last_seal
    missing = (f"q{n}" for n in range(1, min(last, 4096) + 1) if f"q{n}" not in survey.qids)
    qids = tuple(dict.fromkeys((*survey.qids, *missing, f"q{last + 1}")))
    owners = {recall_word(page): position for position, page in pages.items()}
    left = TOTAL_BUDGET
    for position, page in pages.items():
        if left <= 0:
            return
        diagnosis = diagnose(page, sizes, qids, min(left, DEFAULT_BUDGET))
        left -= diagnosis.hashes
        exchanged = owners.get(page.word, -1)
        collected.diagnoses[position] = replace(diagnosis, exchanged=exchanged)


def _report(
    collected: Collected, survey: Survey, head: Head, blobs: Mapping[str, Blob], digest: str
) -> ImageReport:
    return ImageReport(
        name=collected.name,
        format=RECALL_FORMAT,
        verdict=collected.verdict(),
        session=head.session,
        total=len(survey.digests),
        bodies=sum(blob.size for blob in blobs.values()),
        sealed=sum(survey.qids.values()),
        hidden=len({change.step for change in head.changes if change.applied}),
        pages=collected.verdicts(),
        findings=collected.findings(),
        blocked=collected.blocked(),
        untrusted=collected.untrusted(),
        digest=digest,
        limits=(*LIMITS, *_cleared_limit(head)),
    )


def _cleared_limit(head: Head) -> Iterator[Limit]:
    """Clearances that stand in the image: nothing protects them, so page-in honours none."""
    cleared = [shown_id(qid) for qid, on in head.cleared if on]
    if cleared:
        names = ", ".join(cleared[:8])
        yield Limit("key", f"who cleared {names}: no clearance of this format is honoured here")


def check_recall(name: str, manifest: Stream, store: Stream) -> ImageReport:
    """`verify_recall`, with a refusal as a report."""
    try:
        return verify_recall(name, manifest, store).report
    except MalformedError as error:
        return refused_report(name, error, RECALL_FORMAT)
