"""Segments, receipts and images: what has no source to be derived from again."""

from collections.abc import Iterator

from syn.model.finding import Finding, Severity
from syn.services.patrol.fault import CellFault, as_fault, fault
from syn.services.patrol.look import Look
from syn.services.recall.pagein import CellClass
from syn.services.recall.reading import LEDGER, POLICY
from syn.services.recall.standing import policy_doubts
from syn.services.sessions.keptimages import check_kept, image_outside, kept_images

TORN = "torn-tail"
"""Code of a last line that a crash cut off."""
STRAYS = "-"
"""Name of the unit that looks for what belongs to nothing."""
HEADS = "heads"
"""Name of the unit of head records and checkpoints; no writer's, since those are hexadecimal."""


def check_ledger(look: Look, name: str) -> Iterator[CellFault]:
    """One unit of the ledger: a writer, the checkpoints over it, or what belongs to neither."""
    if name == HEADS:
        return check_heads(look)
    return check_strays(look) if name == STRAYS else check_writer(look, name)


def check_images(look: Look, name: str) -> Iterator[CellFault]:
    """One unit of images: one of them, or what belongs to none."""
    return check_image_strays(look) if name == STRAYS else check_image(look, name)


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
        for judged in look.judged[0]
        for record in judged.log.log.records
        for item in record.segments
        if item.writer == writer
    )
    return max(lengths, default=0) > here


def check_heads(look: Look) -> Iterator[CellFault]:
    """The policy, and the publishers' logs and checkpoints under it."""
    for doubt in policy_doubts(look.reading):
        yield fault(
            "ledger",
            "tampered",
            doubt.code,
            POLICY.decode(),
            expected="the policy that the ledger records",
            actual=doubt.reason,
            remedy=f"bring it back: git checkout HEAD -- {POLICY.decode()}",
        )
    judged, unread = look.judged
    for found in (*(found for item in judged for found in item.findings), *unread):
        if found.severity != "warning":
            yield as_fault("ledger", _shown(found), found)


def check_receipt(look: Look, path: str) -> Iterator[CellFault]:
    """One stored receipt: its proofs, its decision, and the policy it was signed under."""
    for found in look.receipts.findings:
        if found.path == path:
            yield as_fault("receipt", _shown(found), found)


def _shown(found: Finding) -> CellClass:
    """Evidence cannot be derived again: it is wrong, could not be read, or is worth knowing."""
    classes: dict[Severity, CellClass] = {
        "failure": "tampered",
        "unknown": "unchecked",
        "warning": "stale",
    }
    return classes[found.severity]


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
