"""The session images that a workspace keeps under `images/`: finding them and checking them."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from syn.errors import CannotError, RefusedError
from syn.git.snapshot import SnapshotEntry
from syn.git.worktree import WorktreeSnapshot
from syn.images.bundle import ARCHIVE_SUFFIX
from syn.images.bundle import INDEX as BUNDLE
from syn.images.native import TABLE
from syn.images.outside import Outside
from syn.images.recall_read import MANIFEST
from syn.images.recall_store import STORE
from syn.images.report import ImageReport
from syn.images.store import BACKUP, check_image
from syn.keys.public import PublicKey
from syn.model.finding import Finding
from syn.model.problem import display_path
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import IMAGES, read_plain, unreadable_finding
from syn.services.sessions.images import staleness_in
from syn.services.trust.policy import policy_of, usable

_MARKS = frozenset({TABLE, MANIFEST, STORE, BUNDLE})
"""A directory that holds one of these files is an image."""


@dataclass(frozen=True, slots=True)
class KeptImage:
    """One image of a workspace."""

    path: str
    """From the root: `images/monday`, `images/monday.faksession`."""
    files: tuple[SnapshotEntry, ...]


def kept_images(reading: Reading) -> tuple[tuple[KeptImage, ...], tuple[Finding, ...]]:
    """The images in a snapshot, by path, and what lies under `images/` without being one."""
    found: dict[str, list[SnapshotEntry]] = {}
    strays: list[Finding] = []
    entries = [e for e in reading.inventory.evidence if e.path.startswith(IMAGES)]
    roots = {str(_folder(entry)) for entry in entries if _name(entry) in _MARKS}
    roots = {root for root in roots if not _is_backup(root, roots)}
    # What is left of an image tells itself what it lacks.
    strays += (_lost(e) for e in reading.inventory.lost_images if _root_of(e, roots) is None)
    for entry in entries:
        root = _root_of(entry, roots)
        if root is None:
            strays.append(_stray(entry))
        elif entry.kind != "file":
            strays.append(_no_file(entry))
        else:
            found.setdefault(root, []).append(entry)
    images = (KeptImage(path, tuple(files)) for path, files in sorted(found.items()))
    return tuple(images), tuple(strays)


def _folder(entry: SnapshotEntry) -> PurePosixPath:
    return PurePosixPath(entry.path.decode("utf-8", "surrogateescape")).parent


def _name(entry: SnapshotEntry) -> str:
    return entry.path.rpartition(b"/")[2].decode("utf-8", "surrogateescape")


def _is_backup(root: str, roots: Iterable[str]) -> bool:
    """Whether a folder is what a repair of an image kept of it."""
    return any(root.startswith(f"{other}/{BACKUP}/") for other in roots)


def _root_of(entry: SnapshotEntry, roots: Iterable[str]) -> str | None:
    path = entry.path.decode("utf-8", "surrogateescape")
    if path.endswith(ARCHIVE_SUFFIX):
        return path
    return max((root for root in roots if path.startswith(f"{root}/")), key=len, default=None)


def _stray(entry: SnapshotEntry) -> Finding:
    path = display_path(entry.path)
    return Finding(
        code="image-stray",
        subject=path,
        path=path,
        expected=f"a file of an image: a folder with {TABLE}, or with {MANIFEST} and {STORE}",
        actual="a file of none",
        remedy="move it elsewhere, or put the image's files beside it",
        severity="warning",
    )


def _lost(entry: SnapshotEntry) -> Finding:
    path = display_path(entry.path)
    return Finding(
        code="image-lost",
        subject=path,
        path=path,
        expected="the file that HEAD holds",
        actual="no file",
        remedy=f"git restore {path} brings it back; git rm and a commit let it go",
    )


def _no_file(entry: SnapshotEntry) -> Finding:
    path = display_path(entry.path)
    return Finding(
        code="not-a-file",
        subject=path,
        path=path,
        expected="a file",
        actual=f"a {entry.kind}",
        remedy="put the file itself there",
    )


def image_outside(reading: Reading, keys: Mapping[str, PublicKey] | None = None) -> Outside:
    """What images are held against: today's record, and the keys of policy and caller.

    Args:
        reading: the snapshot.
        keys: the caller's keys by fingerprint.
    """
    policy = usable(policy_of(reading))
    items = policy.keys if policy else ()
    known = {item.key.fingerprint: item.key for item in items if item.state != "compromised"}
    known |= keys or {}

    def check(key: str, message: bytes, signature: bytes) -> bool | None:
        return known[key].verify(message, signature) if key in known else None

    return Outside(check if known else None, staleness=staleness_in(reading.ledger.recorded))


@contextmanager
def image_on_disk(root: Path | None, reading: Reading, image: KeptImage) -> Iterator[Path]:
    """Where an image can be read: in the work tree itself, or a copy of a commit's files.

    Raises:
        CannotError, RefusedError: a file of it cannot be read.
    """
    if root is not None and isinstance(reading.snapshot, WorktreeSnapshot):
        yield root / image.path
        return
    with tempfile.TemporaryDirectory(prefix="synapse-image-") as folder:
        base = Path(folder)
        for entry in image.files:
            place = base / entry.path.decode("utf-8", "surrogateescape")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(read_plain(reading.snapshot, entry))
        yield base / image.path


def check_kept(
    root: Path | None, reading: Reading, image: KeptImage, outside: Outside
) -> tuple[ImageReport | None, tuple[Finding, ...]]:
    """The report on one image, and its findings as findings of the workspace.

    No report where it could not be read.
    """
    try:
        with image_on_disk(root, reading, image) as place:
            report = check_image(place, outside)
    except (CannotError, RefusedError) as error:
        return None, (unreadable_finding(image.path, error),)
    return report, tuple(_of_workspace(image.path, found) for found in report.findings)


def _of_workspace(path: str, found: Finding) -> Finding:
    """A page without a word is a warning here: it is not served, and nothing is shown of it."""
    severity = "warning" if found.code == "word-missing" else found.severity
    subject = f"{path} {found.subject}"
    remedy = found.remedy.replace("syn image repair", f"syn repair {path}")
    return replace(found, path=path, subject=subject, severity=severity, remedy=remedy)
