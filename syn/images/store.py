"""Session images on disk: opening, checking, handing out a page.

An opened image is a resource: what it holds is read anew at every call, so two readings are two
readings. Writing is `syn.images.write`.
"""

import binascii
import hashlib
import itertools
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, TypeAlias

from syn.errors import UsageError
from syn.images import bundle as bundles
from syn.images.files import ImageFileError
from syn.images.goform import manifest_text
from syn.images.malformed import MalformedError
from syn.images.native import TABLE, NativeHead, parse_head
from syn.images.native_row import read_row
from syn.images.native_verify import verify_native
from syn.images.outside import Outside
from syn.images.pagein import Conditions, Served, check_page_in, serve
from syn.images.recall_read import MANIFEST, ManifestReader
from syn.images.recall_store import STORE
from syn.images.recall_verify import Hashing, verify_recall
from syn.images.report import ImageReport, refused_report
from syn.images.sources import Archive, Folder, Section, Source, Watch
from syn.images.strict import CHUNK
from syn.images.survey import ImageFault
from syn.images.table import NATIVE_FORMAT, RECALL_FORMAT, Blob, Head, Page
from syn.images.word import native_prefix
from syn.model.problem import display_path

BACKUP = "backup"
"""Folder inside an image's directory for what a repair replaced."""


class UnknownImageError(UsageError):
    """Nothing stands at that path (`unknown-image`)."""


@dataclass(frozen=True, slots=True)
class Checked:
    """One verification of an image, with what it learned."""

    report: ImageReport
    head: Head
    blobs: Mapping[str, Blob]
    last_seal: int
    """The number of the highest seal id in use."""
    digests: Sequence[str]
    """The digest that each row names."""


class RecallImage:
    """A `recall.v1` image, alone or in a bundle."""

    format: Final = RECALL_FORMAT

    def __init__(self, source: Source) -> None:
        self.source = source
        self.name = source.name

    @property
    def bundled(self) -> bool:
        """Whether an index of parts stands beside the image."""
        return bundles.INDEX in self.source.names()

    def check(self, outside: Outside | None = None) -> Checked:
        """Verify everything; see `syn.images.recall_verify`.

        Raises:
            MalformedError: the image is refused as a whole.
            ImageFileError: a file cannot be read.
        """
        with self._need(MANIFEST) as manifest, self._need(STORE) as store:
            result = verify_recall(self.name, manifest, store, outside, beside=self._beside)
        return Checked(result.report, result.head, result.blobs, result.last_seal, result.digests)

    def _need(self, name: str) -> Section:
        file = self.source.open(name)
        if file is None:
            code = "store-absent" if name == STORE else "manifest-absent"
            raise MalformedError(code, f"the image has no {name}", name)
        return file

    def _beside(self, head: Head) -> Iterator[ImageFault]:
        yield from self._bundle_faults(head)
        own = {BACKUP, bundles.INDEX, *bundles.PARTS}
        # A bundle's archive may lie beside its parts: it is an image of its own.
        archives = {n for n in self.source.names() if n.endswith(bundles.ARCHIVE_SUFFIX)}
        yield from _strays(self.source.names(), own | archives)

    def _bundle_faults(self, head: Head) -> Iterator[ImageFault]:
        names = set(self.source.names())
        if not self.bundled:
            yield from bundles.index_faults(names)
            return
        with self._need(bundles.INDEX) as index:
            bundle = bundles.parse_bundle(index)
        sessions = {MANIFEST: head.session}
        if bundles.DRIVE in self.source.names():
            with self._need(bundles.DRIVE) as drive:
                sessions[bundles.DRIVE] = bundles.parse_drive(drive)
        present = [name for name in bundles.PARTS if name in self.source.names()]
        files = {name: self._part(name) for name in present}
        for fault in bundles.bundle_faults(bundle, files, sessions):
            yield self._explained(fault, bundle, head)

    def _part(self, name: str) -> bundles.PartFile:
        with self._need(name) as file:
            hashing = Hashing(file)
            while hashing.read(CHUNK):
                pass
        return bundles.PartFile(hashing.size, hashing.digest())

    def _explained(self, fault: ImageFault, bundle: bundles.Bundle, head: Head) -> ImageFault:
        """A stale index is a warning when tombstones added since explain the manifest."""
        if fault.code != "part-mismatch" or fault.subject != MANIFEST:
            return fault
        listed = next(part for part in bundle.parts if part.name == MANIFEST)
        for keep in range(len(head.changes) - 1, -1, -1):
            before = replace(head, changes=head.changes[:keep])
            data = hashlib.sha256()
            for piece in manifest_text(before, self.pages()):
                data.update(piece.encode())
            if data.hexdigest() == listed.digest:
                actual = f"{len(head.changes) - keep} tombstones added since"
                return ImageFault(
                    "index-stale", MANIFEST, fault.expected, actual, "warning", pages=()
                )
        return fault

    def pages(self) -> Iterator[Page]:
        """The rows in order, unchecked.

        Raises:
            MalformedError: the manifest is refused.
        """
        with self._need(MANIFEST) as manifest:
            yield from ManifestReader(manifest).pages()

    def body(self, digest: str, blobs: Mapping[str, Blob]) -> bytes | None:
        """The bytes at an address as they are now, or None; the caller hashes them."""
        blob = blobs.get(digest)
        if blob is None:
            return None
        if blob.place < 0:
            return b""
        with self._need(STORE) as store:
            text = store.read_at(blob.place, blob.span)
        try:
            return binascii.a2b_base64(text, strict_mode=True)
        except binascii.Error:
            return None


class NativeImage:
    """A `synapse.image/1` image."""

    format: Final = NATIVE_FORMAT

    def __init__(self, source: Source) -> None:
        self.source = source
        self.name = source.name

    def check(self, outside: Outside | None = None) -> Checked:
        """Verify everything; see `syn.images.native_verify`.

        Raises:
            MalformedError: the image is refused as a whole.
            ImageFileError: a file cannot be read.
        """
        with self._table() as table, self._store() as store:
            result = verify_native(self.name, table.lines(), store, outside, beside=self._beside)
        return Checked(
            result.report, result.head.as_head(), result.blobs, result.last_seal, result.digests
        )

    def head(self) -> NativeHead:
        """The head as it is written.

        Raises:
            MalformedError: it is none.
        """
        with self._table() as table:
            return parse_head(next(table.lines(), b"").removesuffix(b"\n"))

    def _table(self) -> Section:
        file = self.source.open(TABLE)
        if file is None:
            raise MalformedError("table-absent", f"the image has no {TABLE}", TABLE)
        return file

    def _store(self) -> Section:
        name = self.head().store
        file = self.source.open(name)
        if file is None:
            raise MalformedError("store-absent", f"the image has no {name}", name)
        return file

    def _beside(self, head: NativeHead) -> Iterator[ImageFault]:
        return _strays(self.source.names(), {TABLE, head.store, BACKUP})

    def pages(self) -> Iterator[Page]:
        """The rows in order, unchecked; a single flipped bit of a row is put back.

        Raises:
            MalformedError: a row is none.
        """
        with self._table() as table:
            lines = table.lines()
            prefix = native_prefix(parse_head(next(lines, b"").removesuffix(b"\n")).session)
            for number, line in enumerate(lines):
                yield read_row(line.removesuffix(b"\n"), prefix, number).page

    def body(self, digest: str, blobs: Mapping[str, Blob]) -> bytes | None:
        """The bytes at an address as they are now, or None; the caller hashes them."""
        blob = blobs.get(digest)
        if blob is None:
            return None
        with self._store() as store:
            return store.read_at(blob.place, blob.size)


def _strays(names: Iterable[str], own: Set[str]) -> Iterator[ImageFault]:
    """The files that are none of the image's own: a warning each."""
    for name in names:
        if name not in own:
            actual = display_path(os.fsencode(name))
            yield ImageFault("stray-file", "folder", "the image's own files", actual, "warning", ())


Image: TypeAlias = RecallImage | NativeImage
_PACKED = bundles.ARCHIVE_SUFFIX


def open_image(path: Path, watch: Watch | None = None) -> Image:
    """The image at a path: a directory of either format, or a `.faksession` file.

    Args:
        path: where it is.
        watch: told of the bytes that are read from it.

    Raises:
        UnknownImageError: nothing is there.
        ImageFileError: what is there is no image, or cannot be read.
        MalformedError: an archive that is none.
    """
    try:
        if path.is_dir():
            return _image_in(Folder(path, watch))
        if path.is_file():
            return RecallImage(Archive(path, watch))
    except OSError as error:
        raise ImageFileError("cannot-read", f"cannot read {path}: {error.strerror}") from error
    what = "no directory and no file" if path.exists() else "nothing"
    message = f"expected an image, got {what} at {path}"
    raise UnknownImageError(
        "unknown-image", message, f"name the directory of an image, or a {_PACKED}"
    )


def _image_in(folder: Folder) -> Image:
    names = set(folder.names())
    if TABLE in names:
        return NativeImage(folder)
    if names & {MANIFEST, STORE, bundles.INDEX}:
        return RecallImage(folder)
    message = f"expected {MANIFEST} or {TABLE} in {folder.name}, got neither"
    raise ImageFileError("not-an-image", message, "name the directory of one image")


def check_image(
    path: Path, outside: Outside | None = None, watch: Watch | None = None
) -> ImageReport:
    """The report on the image at a path; a refusal is a report too.

    Raises:
        UnknownImageError: nothing is there.
        ImageFileError: it cannot be read, or is no image.
    """
    try:
        return open_image(path, watch).check(outside).report
    except MalformedError as error:
        return refused_report(path.name, error)


def page_in(
    image: Image, position: int, given: Conditions, outside: Outside | None = None
) -> Served:
    """Hand out exactly the bytes of one page.

    Raises:
        UnknownPageError: there is no such page.
        PageRefusedError: the image or the page does not check, or a decision keeps the page in.
        MalformedError: the image is refused as a whole.
    """
    checked = image.check(outside)
    page = next(itertools.islice(image.pages(), position, None), None) if position >= 0 else None
    notes = check_page_in(checked.report, checked.head, page, position, given)
    assert page is not None  # noqa: S101 - an absent page is refused above
    body = image.body(page.digest, checked.blobs)
    return serve(page, b"" if body is None else body, given, notes)
