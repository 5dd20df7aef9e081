"""The patrol scrub of one image: read it off the path, twice before a fault is believed.

With `out` it also writes a copy that is stricter and re-stamped, and lists everything the copy
leaves out. The image itself is never touched.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from syn.images.convert import bare, sorted_bodies
from syn.images.edit import SealIds
from syn.images.malformed import MalformedError
from syn.images.native_build import Decisions
from syn.images.outside import Outside, Signer
from syn.images.plan import (
    PagePlanner,
    Step,
    finish_head,
    plan_head,
    store_steps,
)
from syn.images.report import ImageReport, refused_report
from syn.images.store import Checked, Image, NativeImage, open_image
from syn.images.table import Head, Page
from syn.images.write import Incoming, WriteError, write_native, write_recall
from syn.model.finding import Finding


@dataclass(frozen=True, slots=True)
class ScrubResult:
    """What a scrub found, and what its copy is."""

    report: ImageReport
    """The second reading, when the first found anything."""
    transient: tuple[Finding, ...] = ()
    """Found by one of the two readings only: a fault of the reading, not of the image."""
    steps: tuple[Step, ...] = ()
    """What the copy does with each fault, and everything that it leaves out."""
    after: ImageReport | None = None
    """The report on the copy."""


def scrub(
    path: Path,
    out: Path | None = None,
    signer: Signer | None = None,
    outside: Outside | None = None,
) -> ScrubResult:
    """Scrub the image at a path.

    Raises:
        UnknownImageError, ImageFileError: there is no image, or it cannot be read.
        WriteError: a copy is asked of an image that is refused as a whole (`not-clean`).
        ExistsError: something stands at `out`.
    """
    first, _ = _read(path, outside)
    second, checked = (
        (first, None) if first.verdict == "clean" and out is None else _read(path, outside)
    )
    transient = tuple(sorted(set(first.findings) ^ set(second.findings), key=Finding.sort_key))
    if out is None:
        return ScrubResult(second, transient)
    if checked is None:
        message = f"{path.name} is refused as a whole; there is nothing to copy"
        raise WriteError("not-clean", message, second.findings[0].remedy)
    steps = write_copy(open_image(path), checked, out, signer)
    after, _ = _read(out, None)
    return ScrubResult(second, transient, steps, after)


def _read(path: Path, outside: Outside | None) -> tuple[ImageReport, Checked | None]:
    try:
        checked = open_image(path).check(outside)
    except MalformedError as error:
        return refused_report(path.name, error), None
    return checked.report, checked


def write_copy(
    image: Image, checked: Checked, out: Path, signer: Signer | None
) -> tuple[Step, ...]:
    """Write the stricter copy of an image; gives what was done."""
    # In a table that cannot be trusted no id is: every row is sealed anew, from q1.
    ids = SealIds(0 if checked.report.untrusted else checked.last_seal)
    planner = PagePlanner(checked.report, checked.head, checked.blobs, ids, scrub=True)
    head = plan_head(planner, list(checked.digests))
    if not checked.report.untrusted:
        _reserve(planner, image, checked)
    if isinstance(image, NativeImage):
        _copy_native(image, checked, planner, head, out, signer)
    else:
        _copy_recall(image, checked, planner, head, out)
    planner.steps.extend(store_steps(list(checked.digests), checked.blobs))
    return tuple(planner.steps)


def _reserve(planner: PagePlanner, image: Image, checked: Checked) -> None:
    """The seal ids of clean pages keep their owners, wherever in the table they stand."""
    faulty = {page.position for page in checked.report.pages}
    for position, page in enumerate(image.pages()):
        if page.sealed and position not in faulty:
            planner.ids.taken.add(page.qid)


def _openable(planner: PagePlanner) -> set[str]:
    """The seal ids that a clearance may still open."""
    return set() if planner.report.untrusted else planner.ids.taken - planner.resealed


def _copy_native(
    image: NativeImage,
    checked: Checked,
    planner: PagePlanner,
    head: Head,
    out: Path,
    signer: Signer | None,
) -> None:
    before = image.head()

    def decisions() -> Decisions:
        finished = finish_head(planner, head, list(checked.digests), _openable(planner))
        open_seals = {qid for qid, _ in finished.cleared}
        cleared = tuple(c for c in before.cleared if c.qid in open_seals)
        return Decisions(cleared, finished.changes, checked.report.digest, before.origin)

    def incoming() -> Iterator[Incoming]:
        for page in planner.pages(image.pages()):
            blob = checked.blobs.get(page.digest)
            held = blob is not None and not blob.fault
            yield Incoming(bare(page), image.body(page.digest, checked.blobs) if held else None)

    write_native(out, head.session, incoming(), decisions, signer)


def _copy_recall(
    image: Image, checked: Checked, planner: PagePlanner, head: Head, out: Path
) -> None:
    # The ledger stands behind the rows, and is decided by them: the rows are planned first.
    rows: list[Page] = list(planner.pages(image.pages()))
    finished = finish_head(planner, head, list(checked.digests), _openable(planner))
    write_recall(out, finished, rows, sorted_bodies(image, checked))
