"""Small session images of our own, in both formats, and ways to look at one without our reader."""

import base64
import hashlib
import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from syn.images.edit import tombstone
from syn.images.goform import manifest_text
from syn.images.native import TABLE, NativeHead, encode_head, store_name
from syn.images.native_build import Decisions, TableBuilder
from syn.images.outside import KeyCheck, Outside, Signer
from syn.images.plan import stamped
from syn.images.recall_verify import check_recall
from syn.images.record import Item, Recorder
from syn.images.report import ImageReport
from syn.images.store import check_image
from syn.images.table import RECALL_FORMAT, Change, FactRef, Head, Page
from syn.images.write import signed, store_pieces

SESSION = "small-session"
PAYLOAD = "sha256:" + "ab" * 32

ITEMS = (
    Item("read_note", b"the fee is 25\nand more below"),
    Item("read_mail", b"please wire it to the other account", seal="TRUST_VIOLATION"),
    Item("read_kb", b"gold tier: 2 bags", "durable", witness="etag:kb-1"),
    Item("read_offer", b"5 off until tick 9", "bounded", 9),
    Item("read_note", b"the fee is 25\nand more below"),
    Item("read_file", b"key=abcdefgh", seal="SECRET_EXFIL"),
)

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
SIGNER = Signer("SHA256:test", KEY.sign)


def check_key(key: str, message: bytes, signature: bytes) -> bool | None:
    """The port for the one key that the tests trust."""
    if key != SIGNER.key:
        return None
    try:
        KEY.public_key().verify(signature, message)
    except InvalidSignature:
        return False
    return True


_: KeyCheck = check_key
TRUSTED = Outside(check_key, signed=True)


def recorded(items: Iterable[Item] = ITEMS) -> tuple[list[Page], dict[str, bytes]]:
    """The rows and the bodies of a session."""
    recorder = Recorder()
    found = [(recorder.page(item), item.body) for item in items]
    return [page for page, _ in found], {page.digest: body for page, body in found}


def recall_files(
    items: Iterable[Item] = ITEMS, *, hidden: tuple[int, ...] = (3,)
) -> tuple[bytes, bytes]:
    """The two files of a `recall.v1` image."""
    pages, bodies = recorded(items)
    changes = tuple(tombstone(SESSION, pages[step], "stale", "operator") for step in hidden)
    return recall_bytes(Head(SESSION, len(pages), (), changes), pages, bodies)


def recall_bytes(
    head: Head, pages: Iterable[Page], bodies: dict[str, bytes], *, stamp: bool = True
) -> tuple[bytes, bytes]:
    """The two files of a `recall.v1` image with these parts; rows without a word are stamped."""
    rows = (stamped(page, RECALL_FORMAT) if stamp else page for page in pages)
    manifest = "".join(manifest_text(head, rows)).encode()
    return manifest, b"".join(store_pieces(sorted(bodies.items())))


def check_files(manifest: bytes, store: bytes) -> ImageReport:
    """The report on two files."""
    return check_recall("image", io.BytesIO(manifest), io.BytesIO(store))


def write_files(folder: Path, manifest: bytes, store: bytes) -> Path:
    """A `recall.v1` folder."""
    folder.mkdir()
    (folder / "manifest.json").write_bytes(manifest)
    (folder / "cas.json").write_bytes(store)
    return folder


def native_lines(
    pages: Iterable[Page],
    bodies: dict[str, bytes],
    *,
    changes: tuple[Change, ...] = (),
    signer: Signer | None = SIGNER,
    session: str = SESSION,
) -> tuple[NativeHead, list[bytes], bytes]:
    """Head, row lines and store of a `synapse.image/1` image with these parts."""
    builder = TableBuilder(session)
    store, rows = bytearray(), []
    for page in pages:
        body = bodies.get(page.digest)
        if body is not None and not builder.knows(page.digest):
            store += body
        rows.append(builder.take(page, None if body is None else len(body)))
    name = store_name(hashlib.sha256(store).hexdigest())
    head = builder.head(name, len(store), Decisions((), changes))
    return signed(head, signer), rows, bytes(store)


def write_native_files(folder: Path, head: NativeHead, rows: Iterable[bytes], store: bytes) -> Path:
    """A `synapse.image/1` folder."""
    folder.mkdir()
    (folder / TABLE).write_bytes(encode_head(head) + b"\n" + b"".join(rows))
    (folder / head.store).write_bytes(store)
    return folder


def native_image(
    folder: Path, items: Iterable[Item] = ITEMS, *, signer: Signer | None = SIGNER
) -> Path:
    """A small `synapse.image/1` folder with a tombstone and, for its third page, a fact."""
    pages, bodies = recorded(items)
    if len(pages) > 2:
        pages[2] = pages[2]._replace(fact=FactRef("kb-1", PAYLOAD))
    changes = tuple(tombstone(SESSION, page, "stale", "operator") for page in pages[-1:])
    head, rows, store = native_lines(pages, bodies, changes=changes, signer=signer)
    return write_native_files(folder, head, rows, store)


def check_folder(folder: Path, outside: Outside | None = TRUSTED) -> ImageReport:
    """The report on a folder, with the key that the tests trust."""
    return check_image(folder, outside)


def content(manifest: bytes, store: bytes) -> Any:
    """What two files say to a forgiving reader; None when they say nothing."""
    try:
        bodies = {key: base64.b64decode(text or "") for key, text in json.loads(store).items()}
        return json.loads(manifest), bodies
    except ValueError:
        return None


def codes(report: ImageReport) -> set[str]:
    """The codes of everything in a report that is not a warning."""
    return {finding.code for finding in report.findings if finding.severity != "warning"}
