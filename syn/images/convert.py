"""From one format to the other: upgrade to `synapse.image/1`, export to `recall.v1`."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from syn.images.files import ImageFileError
from syn.images.native import image_digest
from syn.images.native_build import Decisions
from syn.images.outside import Outside, Signer
from syn.images.plan import Step
from syn.images.report import SEALED_WITHOUT_WORD, PageVerdict
from syn.images.store import Checked, Image, NativeImage, RecallImage
from syn.images.table import NATIVE_FORMAT, RECALL_FORMAT, TOMBSTONE, Page
from syn.images.write import Incoming, WriteError, write_native, write_recall
from syn.model.finding import Finding


@dataclass(frozen=True, slots=True)
class Conversion:
    """What a conversion wrote, and what it left behind."""

    digest: str
    """Digest of the image that was written; "" for `recall.v1`, whose digest is in its report."""
    pages: int
    dropped: tuple[Step, ...]


def upgrade(
    image: Image, path: Path, signer: Signer | None = None, outside: Outside | None = None
) -> Conversion:
    """Write an image anew as `synapse.image/1`.

    Only what checks is upgraded: a page that is unchecked, repairable or tampered would get a word
    that it never had. A page whose body is gone stays as a record, and stays an erasure.

    Raises:
        WriteError: the image does not check (`not-clean`), or is of this format already
            (`upgraded-already`).
        ExistsError: something stands at `path`.
    """
    if isinstance(image, NativeImage):
        message = f"{image.name} is {NATIVE_FORMAT} already"
        raise WriteError("upgraded-already", message, "use it as it is")
    checked = image.check(outside)
    _need_whole(image, checked)
    dropped = [*_orphans(checked), *_clearances(checked)]
    decisions = Decisions((), checked.head.changes, checked.report.digest, RECALL_FORMAT)
    session = checked.head.session
    head = write_native(path, session, bodies_of(image, checked), lambda: decisions, signer)
    return Conversion(image_digest(head), head.pages, tuple(dropped))


def _need_whole(image: Image, checked: Checked) -> None:
    report = checked.report
    doubtful = [page.position for page in report.pages if not _only_erased(page)]
    failures = {f.code for f in report.findings if f.severity == "failure" and not _of_page(f)}
    if report.blocked is None or doubtful or failures - {SEALED_WITHOUT_WORD}:
        what = f"page {doubtful[0]}" if doubtful else "the image as a whole"
        message = f"{image.name}: {what} does not check, and nothing gets a word it never had"
        raise WriteError("not-clean", message, "syn image repair, or scrub --out, first")


def _only_erased(page: PageVerdict) -> bool:
    """Whether all that is wrong with a page is that its body is gone."""
    return {fault.code for fault in page.faults} == {"body-absent"}


def _of_page(finding: Finding) -> bool:
    return finding.subject.startswith("page ")


def _orphans(checked: Checked) -> Iterator[Step]:
    referenced = set(checked.digests)
    for address, blob in checked.blobs.items():
        if address not in referenced:
            yield Step("drop", f"store entry {address[:12]}", "orphan", f"{blob.size} bytes")


def _clearances(checked: Checked) -> Iterator[Step]:
    for qid, on in checked.head.cleared:
        if on:
            detail = "recall.v1 protects no clearance; clear it again in the new image"
            yield Step("drop", f"clearance of {qid}", "clearance-unprotected", detail)


def bodies_of(image: Image, checked: Checked) -> Iterator[Incoming]:
    """The pages with their bodies; a body that changed since the check stops the work.

    Raises:
        ImageFileError: bytes are others than a moment ago.
    """
    rows = image.pages()
    for position, page in enumerate(rows):
        blob = checked.blobs.get(page.digest)
        if blob is None or blob.fault:
            yield Incoming(bare(page), None)
            continue
        body = image.body(page.digest, checked.blobs)
        if body is None or len(body) != blob.size:
            message = f"page {position} changed while the image was read"
            raise ImageFileError("cannot-read", message, "try again")
        yield Incoming(bare(page), body)


def bare(page: Page) -> Page:
    """The row without what belongs to its old place: word, offset, spelling."""
    return page._replace(word="", offset=-1, written=())


def export(image: Image, path: Path, outside: Outside | None = None) -> Conversion:
    """Write an image as `recall.v1`, for programs that read that; what it cannot hold is listed.

    Raises:
        WriteError: the image does not check (`not-clean`).
        ExistsError: something stands at `path`.
    """
    checked = image.check(outside)
    _need_whole(image, checked)
    dropped = list(_orphans(checked))
    changes = []
    for number, change in enumerate(checked.head.changes):
        if change.action == TOMBSTONE:
            changes.append(change)
        else:
            detail = "recall.v1 records no reason of a seal"
            dropped.append(Step("drop", f"context change {number}", change.action, detail))
    if isinstance(image, NativeImage):
        detail = "recall.v1 has no place for it"
        dropped.append(Step("drop", "root and signature", "format", detail))
    head = replace(
        checked.head, version=RECALL_FORMAT, marker=len(checked.digests), changes=tuple(changes)
    )
    keep = isinstance(image, RecallImage)
    rows = (page if keep else bare(page)._replace(fact=None) for page in image.pages())
    write_recall(path, head, rows, sorted_bodies(image, checked))
    return Conversion("", len(checked.digests), tuple(dropped))


def sorted_bodies(image: Image, checked: Checked) -> Iterator[tuple[str, bytes]]:
    """The bodies that pages name and that are sound, by address."""
    for address in sorted(set(checked.digests)):
        blob = checked.blobs.get(address)
        if blob is not None and not blob.fault:
            yield address, image.body(address, checked.blobs) or b""
