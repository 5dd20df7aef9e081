"""Writing session images: new ones of both formats, and decisions on the ones that are there."""

import base64
import binascii
import hashlib
import itertools
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from syn.errors import RefusedError
from syn.images.edit import (
    OPERATOR_SEAL,
    EditError,
    SealIds,
    hidden_steps,
    mended,
    no_reason,
    quarantine_change,
    seal,
    tombstone,
)
from syn.images.files import cannot_write, new_folder, replace_file, write_synced
from syn.images.goform import manifest_text
from syn.images.native import (
    TABLE,
    Clearance,
    NativeHead,
    encode_head,
    image_digest,
    signing_payload,
    store_name,
)
from syn.images.native_build import Decisions, RowChangedError, TableBuilder
from syn.images.outside import Signer
from syn.images.pagein import no_such_page
from syn.images.plan import stamped
from syn.images.recall_read import MANIFEST
from syn.images.recall_store import STORE
from syn.images.sources import Folder
from syn.images.store import Checked, Image, NativeImage, RecallImage
from syn.images.strict import CHUNK
from syn.images.table import RECALL_FORMAT, Change, Head, Page


class WriteError(RefusedError):
    """An image that is not written.

    Codes: `not-clean` (it does not check, so nothing is built on it), `in-bundle`, `in-archive`.
    """


_LISTS = "syn image show lists what is sealed and hidden"


@dataclass(frozen=True, slots=True)
class Incoming:
    """A page on its way into an image."""

    page: Page
    body: bytes | None
    """None when the bytes are gone; the row is kept as a record of them."""


def write_native(
    path: Path,
    session: str,
    incoming: Iterable[Incoming],
    decisions: Callable[[], Decisions],
    signer: Signer | None = None,
) -> NativeHead:
    """Write a new `synapse.image/1` directory; it stands complete or not at all.

    Args:
        path: where; nothing may stand there.
        session: the session that the words are bound to.
        incoming: the pages in order.
        decisions: asked once every page was taken.
        signer: a key to sign with.

    Raises:
        ExistsError: something stands there.
        ImageFileError: it cannot be written.
    """
    with new_folder(path) as draft:
        builder = TableBuilder(session)
        with tempfile.TemporaryFile(dir=draft) as rows, (draft / "store").open("wb") as store:
            hasher = hashlib.sha256()
            for item in incoming:
                new = item.body is not None and not builder.knows(item.page.digest)
                rows.write(builder.take(item.page, None if item.body is None else len(item.body)))
                if new and item.body is not None:
                    hasher.update(item.body)
                    store.write(item.body)
            write_synced(store, ())
            name = store_name(hasher.hexdigest())
            head = signed(builder.head(name, builder.end, decisions()), signer)
            with (draft / TABLE).open("wb") as table:
                write_synced(table, _table(head, rows))
        (draft / "store").rename(draft / name)
    return head


def signed(head: NativeHead, signer: Signer | None) -> NativeHead:
    """The head with a signature by the signer, or with none."""
    if signer is None:
        return replace(head, key="", sig="")
    signature = signer.sign(signing_payload(image_digest(head)))
    return replace(head, key=signer.key, sig=base64.b64encode(signature).decode())


def _table(head: NativeHead, rows: BinaryIO) -> Iterator[bytes]:
    yield encode_head(head) + b"\n"
    rows.seek(0)
    while chunk := rows.read(CHUNK):
        yield chunk


def rewrite_native(
    image: NativeImage, pages: Iterable[Page], decisions: Decisions, signer: Signer | None
) -> NativeHead:
    """Replace the table of an image in one step; its store stays as it is.

    Raises:
        ImageFileError: it cannot be written; the old table stands.
        RowChangedError: a row is not the one that its word was made over.
    """
    old = image.head()
    return _replace_table(
        image, pages, lambda built: signed(built.head(old.store, old.size, decisions), signer)
    )


def restore_rows(image: NativeImage, pages: Iterable[Page]) -> None:
    """Put rows back that a rot changed: the head, with its root and signature, stays as it is.

    Raises:
        ImageFileError: it cannot be written; the old table stands.
        RowChangedError: the rows are not those that the head's root was made over.
    """
    old = image.head()

    def same_head(built: TableBuilder) -> NativeHead:
        if built.head(old.store, old.size, Decisions()).root != old.root:
            message = "the rows are not those of the image's root"
            raise RowChangedError("row-changed", message, "syn image verify says more")
        return old

    _replace_table(image, pages, same_head)


def _replace_table(
    image: NativeImage, pages: Iterable[Page], head_of: Callable[[TableBuilder], NativeHead]
) -> NativeHead:
    folder = place_of(image)
    builder = TableBuilder(image.head().session)
    try:
        with tempfile.TemporaryFile(dir=folder) as rows:
            for page in pages:
                rows.write(builder.keep(page))
            head = head_of(builder)
            replace_file(folder / TABLE, _table(head, rows))
    except OSError as error:
        raise cannot_write(folder / TABLE, error) from error
    return head


def place_of(image: Image) -> Path:
    """The directory that an image may be changed in.

    Raises:
        WriteError: it is an archive, or a bundle whose index would no longer fit.
    """
    if not isinstance(image.source, Folder):
        message = f"{image.name} is an archive, which is not changed in place"
        raise WriteError("in-archive", message, "unpack it, or write a copy with --out")
    if isinstance(image, RecallImage) and image.bundled:
        message = f"{image.name} is in a bundle, whose index would no longer fit"
        raise WriteError("in-bundle", message, "syn image upgrade it, or write a copy with --out")
    return image.source.path


def write_recall(
    path: Path, head: Head, pages: Iterable[Page], bodies: Iterable[tuple[str, bytes]]
) -> None:
    """Write a new `recall.v1` directory, in the spelling of the reference program.

    Args:
        path: where; nothing may stand there.
        head: the rest of the manifest; the marker must be the number of pages.
        pages: the rows; one without a word is stamped.
        bodies: address (hex) and bytes, sorted by address.

    Raises:
        ExistsError: something stands there.
        ImageFileError: it cannot be written.
    """
    with new_folder(path) as draft:
        with (draft / STORE).open("wb") as file:
            write_synced(file, store_pieces(bodies))
        rows = (stamped(page, RECALL_FORMAT) for page in pages)
        with (draft / MANIFEST).open("wb") as file:
            write_synced(file, (text.encode() for text in manifest_text(head, rows)))


def store_pieces(bodies: Iterable[tuple[str, bytes]]) -> Iterator[bytes]:
    """The pieces of a `cas.json`, entry by entry; an empty body is a null."""
    yield b"{"
    first = True
    for address, body in bodies:
        value = b'"' + binascii.b2a_base64(body, newline=False) + b'"' if body else b"null"
        yield (b"\n  " if first else b",\n  ") + b'"' + address.encode() + b'": ' + value
        first = False
    yield b"}" if first else b"\n}"


def rewrite_manifest(image: RecallImage, head: Head, pages: Iterable[Page]) -> None:
    """Replace the manifest of an image in one step; its store stays as it is.

    Raises:
        ImageFileError: it cannot be written; the old manifest stands.
    """
    rows = (stamped(page, RECALL_FORMAT) for page in pages)
    pieces = (text.encode() for text in manifest_text(head, rows))
    replace_file(place_of(image) / MANIFEST, pieces)


@dataclass(frozen=True, slots=True)
class Decision:
    """Who decides something about one page, and why."""

    position: int
    reason: str
    by: str


def quarantine(
    image: Image, decision: Decision, signer: Signer | None = None, code: str = OPERATOR_SEAL
) -> str:
    """Seal a page, and every other page of the same bytes; gives the page's seal id.

    The image must check as a whole; the page need not, for a page in doubt is what a seal is for.

    Raises:
        WriteError, EditError: the image or the page does not allow it.
    """
    checked = _servable(image)
    page = page_at(image, checked, decision.position)
    if page.sealed and checked.report.page(decision.position) is None:
        message = f"page {decision.position} is sealed already ({page.qid})"
        raise EditError("already-sealed", message, _LISTS)
    sealed = dict(_sealed_rows(image, checked, page.digest, decision.position, code))
    rows = (sealed.get(index, row) for index, row in enumerate(image.pages()))
    if isinstance(image, NativeImage):
        session = checked.head.session
        changes = [
            quarantine_change(session, row, decision.reason, decision.by) for row in sealed.values()
        ]
        _decide(image, rows, signer, changes=tuple(changes))
    else:
        rewrite_manifest(image, checked.head, rows)
    return sealed[decision.position].qid


def _sealed_rows(
    image: Image, checked: Checked, digest: str, position: int, code: str
) -> Iterator[tuple[int, Page]]:
    """The page and the unsealed pages of the same bytes, each sealed under an id of its own."""
    ids = SealIds(checked.last_seal)
    qid = ids.fresh()
    blob = checked.blobs.get(digest)
    for index, page in enumerate(image.pages()):
        if index == position or (page.digest == digest and not page.sealed):
            row = mended(page, index, page.length if blob is None else blob.size)
            yield index, seal(row, qid if index == position else ids.fresh(), code)


def hide(image: Image, decision: Decision, signer: Signer | None = None) -> None:
    """Put a page under a tombstone; its bytes stay.

    Raises:
        WriteError, EditError: the image or the page does not allow it.
    """
    checked = _servable(image)
    page = page_at(image, checked, decision.position)
    _need_clean(checked, decision.position)
    if decision.position in hidden_steps(checked.head.changes):
        message = f"page {decision.position} is under a tombstone already"
        raise EditError("already-hidden", message, _LISTS)
    row = tombstone(checked.head.session, page, decision.reason, decision.by)
    if isinstance(image, NativeImage):
        _decide(image, image.pages(), signer, changes=(row,))
    else:
        head = replace(checked.head, changes=(*checked.head.changes, row))
        rewrite_manifest(image, head, image.pages())


def clear(image: Image, decision: Decision, signer: Signer | None = None) -> str:
    """Open the seal of one page by a decision that names its id; gives the id.

    Raises:
        WriteError, EditError: the image or the page does not allow it; `recall.v1` protects no
            clearance, so none is written there.
    """
    if not isinstance(image, NativeImage):
        message = "recall.v1 protects no clearance, so none is written into it"
        raise EditError("clearance-unprotected", message, "syn image upgrade it first")
    checked = _servable(image)
    page = page_at(image, checked, decision.position)
    _need_clean(checked, decision.position)
    if not page.sealed:
        raise EditError("not-sealed", f"page {decision.position} is not sealed", _LISTS)
    if page.qid in dict(checked.head.cleared):
        raise EditError("already-cleared", f"{page.qid} is cleared already", _LISTS)
    if not decision.reason.strip():
        raise no_reason()
    clearance = Clearance(page.qid, decision.by, decision.reason.strip())
    _decide(image, image.pages(), signer, cleared=(clearance,))
    return page.qid


def _decide(
    image: NativeImage,
    pages: Iterable[Page],
    signer: Signer | None,
    cleared: tuple[Clearance, ...] = (),
    changes: tuple[Change, ...] = (),
) -> NativeHead:
    old = image.head()
    decisions = Decisions(
        old.cleared + cleared, old.changes + changes, image_digest(old), old.origin
    )
    return rewrite_native(image, pages, decisions, signer)


def _servable(image: Image) -> Checked:
    place_of(image)
    checked = image.check()
    if checked.report.blocked is None:
        message = f"{image.name} as a whole does not check; nothing is decided on top of it"
        raise WriteError("not-clean", message, "syn image verify says why")
    return checked


def page_at(image: Image, checked: Checked, position: int) -> Page:
    """The row at a position, as it is written.

    Raises:
        UnknownPageError: there is none.
    """
    rows = itertools.islice(image.pages(), position, None) if position >= 0 else iter(())
    if (page := next(rows, None)) is None:
        raise no_such_page(len(checked.digests), position)
    return page


def _need_clean(checked: Checked, position: int) -> None:
    if checked.report.page(position) is not None:
        remedy = "syn image quarantine it, or scrub --out"
        raise WriteError("not-clean", f"page {position} does not check", remedy)
