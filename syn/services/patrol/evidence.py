"""Segments, receipts and images: what has no source to be derived from again."""

from collections.abc import Iterator

from syn.canon import checkpoint as checkpoints
from syn.canon import receipt as receipts
from syn.errors import CannotError, RefusedError
from syn.ledger.entry import Defect, decode
from syn.model.finding import Finding
from syn.model.problem import display_path
from syn.services.keptimages import check_kept, image_outside, kept_images
from syn.services.pagein import CellClass
from syn.services.patrol.fault import CellFault, as_fault, erased, fault
from syn.services.patrol.look import Look
from syn.services.reading import LEDGER, read_plain

TORN = "torn-tail"
"""Code of a last line that a crash cut off."""


def check_writer(look: Look, writer: str) -> Iterator[CellFault]:
    """The segments of one writer: each by itself, and against HEAD's."""
    folder = f"{LEDGER.decode()}{writer}/"
    covered = covered_by_checkpoint(look, writer)
    for found in (*look.reading.ledger.findings, *look.reading.ledger_files.shrunk):
        if found.severity != "warning" and (found.path + "/").startswith(folder):
            yield as_fault("ledger", _class_of(found, covered=covered), found)


def check_strays(look: Look) -> Iterator[CellFault]:
    """Files below the ledger's folder that are no segments."""
    for found in look.reading.ledger.findings:
        if found.code == "segment-name":
            yield as_fault("ledger", "tampered", found)


def _class_of(found: Finding, *, covered: bool) -> CellClass:
    if found.code == TORN:
        return "tampered" if covered else "repairable"
    return "erasure" if found.severity == "unknown" else "tampered"


def covered_by_checkpoint(look: Look, writer: str) -> bool:
    """Whether a head record speaks of an entry after the last whole one here."""
    chains = {chain.writer: chain for chain in look.reading.ledger.ledger.chains}
    here = chains[writer].tail.length if writer in chains else 0
    lengths = (
        item.length
        for log in look.logs
        for record in log.log.records
        for item in record.segments
        if item.writer == writer
    )
    return max(lengths, default=0) > here


def check_receipt(look: Look, path: str) -> Iterator[CellFault]:
    """One stored receipt: its form, its name, its proofs, and its decision in this ledger."""
    evidence = look.reading.inventory.evidence
    entry = next((item for item in evidence if display_path(item.path) == path), None)
    if entry is None:
        return
    try:
        data = read_plain(look.reading.snapshot, entry)
    except (CannotError, RefusedError) as error:
        yield erased("receipt", path, error)
        return
    try:
        decision = _proven(data, path)
    except RefusedError as error:
        yield _tampered(path, error.code, "a receipt whose proofs hold", error.message)
        return
    known = {digest for digest, _ in look.reading.ledger.ledger.entries()}
    if decision not in known:
        yield _tampered(path, "receipt-decision", f"the decision {decision}", "it is not here")


def _proven(data: bytes, path: str) -> str:
    """The hash of the decision that a receipt is about, once its proofs hold."""
    receipt = receipts.decode(data)
    decision = decode(receipt.entry.encode())
    if isinstance(decision, Defect):
        raise receipts.ReceiptError("receipt-form", f"its entry is none: {decision.actual}")
    receipts.check(receipt, checkpoints.parse(receipt.note.text), decision[0])
    name = path.rpartition("/")[2].removesuffix(".json")
    if name != receipts.receipt_id(data):
        raise receipts.ReceiptError(
            "receipt-name", f"its bytes have the id {receipts.receipt_id(data)}"
        )
    return decision[0]


def _tampered(path: str, code: str, expected: str, actual: str) -> CellFault:
    remedy = f"bring it back: git checkout HEAD -- {path}"
    return fault("receipt", "tampered", code, path, expected=expected, actual=actual, remedy=remedy)


_GRAVEST: tuple[CellClass, ...] = ("erasure", "tampered", "repairable", "unchecked")


def check_image(look: Look, path: str) -> Iterator[CellFault]:
    """One session image kept with the workspace."""
    image = next((image for image in look.images if image.path == path), None)
    if image is None:
        return
    report, found = check_kept(
        look.workspace.root, look.reading, image, image_outside(look.reading)
    )
    counts = report.counts if report else {"erasure": 1}
    worst: CellClass = next((cls for cls in _GRAVEST if counts.get(cls)), "tampered")
    for finding in found:
        yield as_fault("image", _image_class(finding, worst), finding)


def _image_class(found: Finding, worst: CellClass) -> CellClass:
    """The class that stands in a page's finding; an image's own faults have its worst page's."""
    if found.severity == "warning":
        return "unchecked" if found.code == "word-missing" else "stale"
    named = found.subject.rpartition(": ")[2]
    return next((cls for cls in _GRAVEST if cls == named), worst)


def check_image_strays(look: Look) -> Iterator[CellFault]:
    """What lies under `images/` without being part of one."""
    for finding in kept_images(look.reading)[1]:
        cls: CellClass = "stale" if finding.severity == "warning" else "erasure"
        yield as_fault("image", cls, finding)
