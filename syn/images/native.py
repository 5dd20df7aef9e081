"""`synapse.image/1`: encoding and strict reading of its head and rows (docs/formats/image.md).

`image.jsonl` holds canonical JSON lines: the head, then one row a page. The word of a page is the
last member of its row and hashes the exact bytes before it, so no spelling of a row can change
without its word. The head binds the words (Merkle root), clearances, context changes, the store,
the session and the image before it; the image digest is the head's. Pure.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from syn.canon.digest import is_digest, tagged_json
from syn.canon.json import CanonError, decode, encode
from syn.images.malformed import MalformedError
from syn.images.table import NATIVE_FORMAT, QUARANTINE, TOMBSTONE, Change, FactRef, Head, Page
from syn.images.word import native_word
from syn.model.finding import Json

TABLE = "image.jsonl"
STORE_PREFIX, STORE_SUFFIX = "store-", ".bin"

_WORD_SIZE = len(',"word":"sha256:') + 64 + len('"}')
_WORD_START = b',"word":"sha256:'


@dataclass(frozen=True, slots=True)
class Clearance:
    """A decision that opens one seal."""

    qid: str
    by: str
    reason: str


@dataclass(frozen=True, slots=True)
class NativeHead:
    """The first line of an `image.jsonl`."""

    session: str
    pages: int
    root: str
    """`sha256:<hex>` RFC 6962 root; leaf data are the 32 bytes of each page's word, in order."""
    store: str
    """Name of the store's file: `store-<first 16 hex of its SHA-256>.bin`."""
    size: int
    """Bytes of the store."""
    cleared: tuple[Clearance, ...] = ()
    changes: tuple[Change, ...] = ()
    previous: str = ""
    """Digest of the image that this one replaces, or of the one it was upgraded from; or ""."""
    origin: str = ""
    """The format it was upgraded from, or "" when it was recorded."""
    key: str = ""
    sig: str = ""
    """Base64 Ed25519 signature over `signing_payload`, or ""."""

    def as_head(self) -> Head:
        """What both formats share of it."""
        cleared = tuple((clearance.qid, True) for clearance in self.cleared)
        return Head(self.session, self.pages, cleared, self.changes, NATIVE_FORMAT)


def image_digest(head: NativeHead) -> str:
    """The digest of the image: everything but the signature over it."""
    return tagged_json("image/1", _head_json(replace(head, key="", sig="")))


def signing_payload(digest: str) -> bytes:
    """The bytes that a signature of an image is made over."""
    return f"synapse/image-signature/1\n{digest}\n".encode()


def encode_head(head: NativeHead) -> bytes:
    """The head's line, without its LF."""
    return encode(_head_json(head))


def _head_json(head: NativeHead) -> dict[str, Json]:
    result: dict[str, Json] = {
        "changes": [_change_json(change) for change in head.changes],
        "cleared": [{"by": c.by, "qid": c.qid, "reason": c.reason} for c in head.cleared],
        "format": NATIVE_FORMAT,
        "pages": head.pages,
        "root": head.root,
        "session": head.session,
        "store": {"name": head.store, "size": head.size},
    }
    return result | {name: value for name, value in _optional(head).items() if value}


def _optional(head: NativeHead) -> dict[str, str]:
    return {
        "previous": head.previous,
        "origin": head.origin,
        "key": head.key,
        "sig": head.sig,
    }


def _change_json(change: Change) -> Json:
    result: dict[str, Json] = {
        "action": change.action,
        "digest": "sha256:" + change.digest,
        "id": change.id,
        "reason": change.reason,
        "requested_by": change.requested_by,
        "step": change.step,
    }
    if change.witness:
        result["witness"] = change.witness
    if change.trust_epoch:
        result["trust_epoch"] = change.trust_epoch
    return result


def encode_page(page: Page, prefix: bytes) -> tuple[bytes, str]:
    """A page's line (without its LF) and its word; `page.word` is not looked at.

    Args:
        page: the row.
        prefix: `syn.images.word.native_prefix` of the session.
    """
    row = encode(_page_json(page))
    word = native_word(prefix, row)
    return row[:-1] + f',"word":"{word}"}}'.encode(), word


def _page_json(page: Page) -> dict[str, Json]:
    result: dict[str, Json] = {
        "descriptor": page.descriptor,
        "digest": "sha256:" + page.digest,
        "len": page.length,
        "quarantined": page.sealed,
        "role": page.role,
        "step": page.step,
        "taint": page.taint,
    }
    if page.offset >= 0:
        result["at"] = page.offset
    if page.fact is not None:
        result["fact"] = {"id": page.fact.id, "payload": page.fact.payload}
    texts = {
        "qid": page.qid,
        "reason": page.reason,
        "durability": page.durability,
        "witness": page.witness,
        "utility": page.utility,
    }
    numbers = {"valid_to": page.valid_to, "trust_epoch": page.trust_epoch}
    result.update({name: value for name, value in texts.items() if value})
    result.update({name: value for name, value in numbers.items() if value})
    return result


@dataclass(frozen=True, slots=True)
class Row:
    """A row as it was read."""

    page: Page
    """`page.word` is the stored word."""
    computed: str
    """The word over the row's exact bytes."""
    rotted: bool = False
    """Whether one bit of the line was flipped; `page` is the row without that error."""


def parse_row(line: bytes, prefix: bytes, number: int) -> Row:
    """Read one page row.

    Raises:
        MalformedError: the row is no canonical JSON object of a page with a word at its end.
    """
    cut = len(line) - _WORD_SIZE
    if cut < 1 or line[cut : cut + len(_WORD_START)] != _WORD_START or line[-2:] != b'"}':
        raise _malformed(number, "no-word", "expected a row that ends with its word")
    stored = line[-73:-2].decode("ascii", "backslashreplace")
    row = line[:cut] + b"}"
    values = _object(row, number)
    return Row(_page(values, stored, number), native_word(prefix, row))


def read_row(line: bytes, prefix: bytes, number: int, *, mend: bool = True) -> Row:
    """Read one page row, with a single flipped bit put back.

    Raises:
        MalformedError: the row is none, and no single bit makes it one.
    """
    try:
        row = parse_row(line, prefix, number)
        if row.page.word == row.computed or not mend:
            return row
        error = None
    except MalformedError as malformed:
        row, error = None, malformed
    fixed = flipped_back(line, prefix) if mend else None
    if fixed is not None:
        whole = parse_row(fixed, prefix, number)
        return Row(whole.page, whole.computed, rotted=True)
    if row is None:
        raise error or _malformed(number, "no-word", "expected a row")
    return row


def flipped_back(line: bytes, prefix: bytes) -> bytes | None:
    """The row that one flipped bit turned into this line, when there is one; its word proves it.

    A single error is corrected as a memory controller does it, but by trying: 256 bits of word
    leave no room for a second row that fits.
    """
    cut = len(line) - _WORD_SIZE
    if cut < 1:
        return None
    row, word = line[:cut] + b"}", line[-73:-2]
    computed = native_word(prefix, row).encode()
    framed = line[:cut] + _WORD_START + word.removeprefix(b"sha256:")[-64:] + b'"}'
    if framed != line and framed[-73:-2] == computed and _bits_apart(framed, line) == 1:
        return framed
    if len(word) == len(computed) and _bits_apart(word, computed) == 1:
        return line[:-73] + computed + line[-2:]
    hasher, at = hashlib.sha256(prefix), 0
    wanted = word.removeprefix(b"sha256:")
    for at in range(cut):
        for bit in range(8):
            trial = hasher.copy()
            trial.update(bytes((row[at] ^ (1 << bit),)) + row[at + 1 :])
            if trial.hexdigest().encode() == wanted:
                return line[:at] + bytes((line[at] ^ (1 << bit),)) + line[at + 1 :]
        hasher.update(row[at : at + 1])
    return None


def _bits_apart(left: bytes, right: bytes) -> int:
    return sum((a ^ b).bit_count() for a, b in zip(left, right, strict=True))


_PAGE_TYPES: Mapping[str, type] = {
    "at": int,
    "descriptor": str,
    "digest": str,
    "durability": str,
    "fact": dict,
    "len": int,
    "qid": str,
    "quarantined": bool,
    "reason": str,
    "role": str,
    "step": int,
    "taint": int,
    "trust_epoch": int,
    "utility": str,
    "valid_to": int,
    "witness": str,
}
_PAGE_REQUIRED = frozenset({"descriptor", "digest", "len", "quarantined", "role", "step", "taint"})


def _page(values: dict[str, Any], word: str, number: int) -> Page:
    _check(values, _PAGE_TYPES, _PAGE_REQUIRED, number)
    get = values.get
    return Page(
        values["step"],
        values["role"],
        values["descriptor"],
        _address(values["digest"], number),
        values["len"],
        values["taint"],
        values["quarantined"],
        get("qid", ""),
        get("reason", ""),
        get("durability", ""),
        get("valid_to", 0),
        get("witness", ""),
        get("trust_epoch", 0),
        _number(get("utility", ""), number),
        word,
        get("at", -1),
        _fact(get("fact"), number),
    )


def _fact(value: Any, number: int) -> FactRef | None:
    if value is None:
        return None
    if value.keys() != {"id", "payload"} or not is_digest(str(value["payload"])):
        raise _malformed(number, "wrong-type", "expected a fact with id and payload digest")
    return FactRef(str(value["id"]), value["payload"])


def _number(text: str, number: int) -> str:
    try:
        float(text or 0)
    except ValueError as error:
        raise _malformed(number, "wrong-type", "expected a number as the utility") from error
    return text


def _address(digest: str, number: int) -> str:
    if not is_digest(digest):
        raise _malformed(number, "address-malformed", "expected a digest `sha256:<hex>`")
    return digest.removeprefix("sha256:")


_HEAD_TYPES: Mapping[str, type] = {
    "changes": list,
    "cleared": list,
    "format": str,
    "key": str,
    "origin": str,
    "pages": int,
    "previous": str,
    "root": str,
    "session": str,
    "sig": str,
    "store": dict,
}
_HEAD_REQUIRED = frozenset({"changes", "cleared", "format", "pages", "root", "session", "store"})
_CHANGE_TYPES: Mapping[str, type] = {
    "action": str,
    "digest": str,
    "id": str,
    "reason": str,
    "requested_by": str,
    "step": int,
    "trust_epoch": int,
    "witness": str,
}
_CHANGE_REQUIRED = frozenset(_CHANGE_TYPES) - {"trust_epoch", "witness"}
_CLEARANCE_TYPES: Mapping[str, type] = {"by": str, "qid": str, "reason": str}


def parse_head(line: bytes) -> NativeHead:
    """Read the first line.

    Raises:
        MalformedError: it is no canonical JSON head of this format.
    """
    values = _object(line, -1)
    if values.get("format") != NATIVE_FORMAT:
        raise _malformed(-1, "unknown-version", f"expected the format {NATIVE_FORMAT!r}")
    _check(values, _HEAD_TYPES, _HEAD_REQUIRED, -1)
    store = values["store"]
    _check(store, {"name": str, "size": int}, frozenset({"name", "size"}), -1)
    for name in ("root", "previous"):
        if values.get(name, "") and not is_digest(values[name]):
            raise _malformed(-1, "wrong-type", f"expected a digest as {name}")
    if not is_store_name(store["name"]):
        raise _malformed(-1, "unsafe-name", "expected a store named store-<16 hex>.bin")
    return NativeHead(
        values["session"],
        values["pages"],
        values["root"],
        store["name"],
        store["size"],
        tuple(_clearance(row) for row in values["cleared"]),
        tuple(_change(row) for row in values["changes"]),
        values.get("previous", ""),
        values.get("origin", ""),
        values.get("key", ""),
        values.get("sig", ""),
    )


def store_name(digest: str) -> str:
    """The name of a store whose SHA-256 is `digest` (hex)."""
    return STORE_PREFIX + digest[:16] + STORE_SUFFIX


def is_store_name(name: str) -> bool:
    """Whether a name is one that `store_name` gives: never a path."""
    middle = name.removeprefix(STORE_PREFIX).removesuffix(STORE_SUFFIX)
    return name == STORE_PREFIX + middle + STORE_SUFFIX and is_digest(
        "sha256:" + middle.ljust(64, "0") if len(middle) == 16 else ""  # noqa: PLR2004 - see above
    )


def _clearance(row: Any) -> Clearance:
    _check(row, _CLEARANCE_TYPES, frozenset(_CLEARANCE_TYPES), -1)
    return Clearance(row["qid"], row["by"], row["reason"])


def _change(row: Any) -> Change:
    _check(row, _CHANGE_TYPES, _CHANGE_REQUIRED, -1)
    if row["action"] not in {TOMBSTONE, QUARANTINE}:
        raise _malformed(-1, "tombstone-action", "expected a known action of a context change")
    return Change(
        row["id"],
        row["step"],
        _address(row["digest"], -1),
        row["reason"],
        row["requested_by"],
        row["action"],
        row.get("witness", ""),
        row.get("trust_epoch", 0),
    )


def _object(line: bytes, number: int) -> dict[str, Any]:
    try:
        value = decode(line)
    except CanonError as error:
        raise _malformed(number, "not-canonical", error.message) from error
    if not isinstance(value, dict):
        raise _malformed(number, "wrong-type", "expected an object")
    return value


def _check(values: Any, types: Mapping[str, type], required: Iterable[str], number: int) -> None:
    if type(values) is not dict:
        raise _malformed(number, "wrong-type", "expected an object")
    for name, value in values.items():
        wanted = types.get(name)
        if wanted is None:
            raise _malformed(number, "unknown-member", "a member that the format does not know")
        if type(value) is not wanted:
            raise _malformed(number, "wrong-type", f"{name} is of another type")
    if missing := sorted(frozenset(required) - values.keys()):
        raise _malformed(number, "missing-member", f"there is no {missing[0]}")


def _malformed(number: int, code: str, message: str) -> MalformedError:
    where = "head" if number < 0 else f"page {number}"
    return MalformedError(code, f"{TABLE}: {where}: {message}", TABLE, number + 2)
