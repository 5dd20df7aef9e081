"""Repair of one image in place: plan, back up, apply, check again.

Derived data is derived again and re-stamped; bodies come back only as bytes that hash to the digest
that the page names, from a copy. What a repair cannot prove it leaves, and says so.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from syn.images.edit import SealIds
from syn.images.files import make_folder, replace_file
from syn.images.native import TABLE
from syn.images.plan import PagePlanner, Step
from syn.images.recall_read import MANIFEST
from syn.images.recall_store import STORE
from syn.images.report import ImageReport
from syn.images.sources import Section
from syn.images.store import BACKUP, Checked, Image, NativeImage, RecallImage
from syn.images.strict import CHUNK
from syn.images.write import (
    WriteError,
    place_of,
    restore_rows,
    rewrite_manifest,
    store_pieces,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a repair would do; nothing is written by making one."""

    report: ImageReport
    steps: tuple[Step, ...]
    restored: Mapping[str, bytes] = field(default_factory=dict, repr=False)
    """Bodies from copies, by address."""
    offers: bool = False

    @property
    def does(self) -> bool:
        """Whether it changes anything."""
        return any(step.action != "leave" for step in self.steps)


@dataclass(frozen=True, slots=True)
class RepairResult:
    """What a repair did."""

    steps: tuple[Step, ...]
    backup: Path | None
    """Where the replaced files are; None when nothing was done."""
    after: ImageReport


def plan_repair(image: Image, copies: Sequence[Image] = (), *, offers: bool = False) -> Plan:
    """Plan the repair of an image.

    Args:
        image: the image.
        copies: other images that may hold the bytes of a body that is gone.
        offers: whether to put back a stamped state that the search found, when it is stricter.

    Raises:
        MalformedError: the image is refused as a whole; no repair knows what it was.
    """
    checked = image.check()
    restored = dict(_restorable(image, checked, copies))
    steps = [
        Step("restore", f"page {position}", "body-absent", f"{len(restored[digest])} bytes")
        for position, digest in enumerate(checked.digests)
        if digest in restored
    ]
    planner = _planner(checked, offers=offers)
    for _ in planner.pages(image.pages()):
        pass
    named = {step.subject for step in steps}
    steps += [step for step in planner.steps if step.subject not in named]
    return Plan(checked.report, tuple(steps), restored, offers)


def _planner(checked: Checked, *, offers: bool) -> PagePlanner:
    ids = SealIds(checked.last_seal)
    return PagePlanner(checked.report, checked.head, checked.blobs, ids, scrub=False, offers=offers)


def _restorable(
    image: Image, checked: Checked, copies: Sequence[Image]
) -> Iterator[tuple[str, bytes]]:
    """Bodies that are gone here, from a copy: bytes that hash to the digest, nothing less."""
    erased = {checked.digests[p.position] for p in checked.report.pages if p.cls == "erasure"}
    if not erased:
        return
    if isinstance(image, NativeImage):
        erased &= {page.digest for page in image.pages() if page.offset >= 0}
    for copy in copies:
        other = copy.check()
        for digest in sorted(erased & other.blobs.keys()):
            body = copy.body(digest, other.blobs)
            if body is not None and hashlib.sha256(body).hexdigest() == digest:
                erased.discard(digest)
                yield digest, body


def apply_repair(image: Image, plan: Plan) -> RepairResult:
    """Apply a plan, after a copy of every file that it replaces; then check again.

    Raises:
        WriteError: the image is no longer the one that was planned for (`changed`), it cannot be
            changed in place (`in-archive`, `in-bundle`), or a store entry has no bytes that could
            be kept (`store-malformed`).
        ImageFileError: a file cannot be written.
    """
    checked = image.check()
    if checked.report.digest != plan.report.digest:
        message = f"{image.name} changed since the plan was made"
        raise WriteError("changed", message, "plan again")
    if not plan.does:
        return RepairResult(plan.steps, None, checked.report)
    backup = _back_up(image, checked.report.digest)
    if isinstance(image, NativeImage):
        _apply_native(image, plan)
    else:
        _apply_recall(image, checked, plan)
    return RepairResult(plan.steps, backup, image.check().report)


def _back_up(image: Image, digest: str) -> Path:
    """Copy the files that a repair may replace into the image's own backup folder."""
    folder = place_of(image) / BACKUP / digest.removeprefix("sha256:")[:12]
    make_folder(folder.parent)
    make_folder(folder)
    names = (TABLE, image.head().store) if isinstance(image, NativeImage) else (MANIFEST, STORE)
    for name in names:
        file = image.source.open(name)
        if file is not None:
            with file:
                replace_file(folder / name, _chunks(file))
    return folder


def _chunks(file: Section) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk


def _apply_recall(image: RecallImage, checked: Checked, plan: Plan) -> None:
    if plan.restored:
        replace_file(place_of(image) / STORE, store_pieces(_bodies(image, checked, plan)))
    if _rows_change(plan):
        planner = _planner(checked, offers=plan.offers)
        rewrite_manifest(image, checked.head, planner.pages(image.pages()))


def _rows_change(plan: Plan) -> bool:
    return any(step.action not in {"leave", "restore"} for step in plan.steps)


def _bodies(image: RecallImage, checked: Checked, plan: Plan) -> Iterator[tuple[str, bytes]]:
    """Every entry of the store, rotten ones too; those that were restored in their place."""
    for address in sorted(checked.blobs.keys() | plan.restored.keys()):
        body = plan.restored.get(address)
        if body is None:
            body = image.body(address, checked.blobs)
        if body is None:
            message = f"{image.name}: a store entry has no bytes that could be kept"
            raise WriteError("store-malformed", message, "syn image scrub --out drops and lists it")
        yield address, body


def _apply_native(image: NativeImage, plan: Plan) -> None:
    head, checked = image.head(), image.check()
    if plan.restored:
        patches = {
            page.offset: plan.restored[page.digest]
            for page in image.pages()
            if page.digest in plan.restored
        }
        store = image.source.open(head.store)
        if store is not None:
            with store:
                replace_file(place_of(image) / head.store, _patched(store, head.size, patches))
    if _rows_change(plan):
        planner = _planner(checked, offers=plan.offers)
        restore_rows(image, planner.pages(image.pages()))


def _patched(store: Section, size: int, patches: Mapping[int, bytes]) -> Iterator[bytes]:
    """The store with bodies put at their places; what lies between stays as it is."""
    at = 0
    for offset in sorted(patches):
        yield from _range(store, at, offset)
        yield patches[offset]
        at = offset + len(patches[offset])
    yield from _range(store, at, size)


def _range(store: Section, start: int, end: int) -> Iterator[bytes]:
    while start < end and (chunk := store.read_at(start, min(CHUNK, end - start))):
        yield chunk
        start += len(chunk)
