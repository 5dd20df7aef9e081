"""`synapse.image/1`: encoding and strict reading of its head and rows (docs/formats/image.md).

`image.jsonl` holds canonical JSON lines: the head, then one row a page. The word of a page is the
last member of its row and hashes the exact bytes before it, so no spelling of a row can change
without its word. The head binds the words (Merkle root), clearances, context changes, the store,
the session and the image before it; the image digest is the head's. Pure.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from syn.canon.digest import is_digest, tagged_json
from syn.canon.json import CanonError, decode, encode
from syn.images.malformed import MalformedError
from syn.images.table import NATIVE_FORMAT, QUARANTINE, TOMBSTONE, Change, Head
from syn.model.finding import Json

TABLE = "image.jsonl"
STORE_PREFIX, STORE_SUFFIX = "store-", ".bin"


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
    values = read_object(line, -1)
    if values.get("format") != NATIVE_FORMAT:
        raise malformed_row(-1, "unknown-version", f"expected the format {NATIVE_FORMAT!r}")
    check_members(values, _HEAD_TYPES, _HEAD_REQUIRED, -1)
    store = values["store"]
    check_members(store, {"name": str, "size": int}, frozenset({"name", "size"}), -1)
    for name in ("root", "previous"):
        if values.get(name, "") and not is_digest(values[name]):
            raise malformed_row(-1, "wrong-type", f"expected a digest as {name}")
    if not is_store_name(store["name"]):
        raise malformed_row(-1, "unsafe-name", "expected a store named store-<16 hex>.bin")
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
    check_members(row, _CLEARANCE_TYPES, frozenset(_CLEARANCE_TYPES), -1)
    return Clearance(row["qid"], row["by"], row["reason"])


def _change(row: Any) -> Change:
    check_members(row, _CHANGE_TYPES, _CHANGE_REQUIRED, -1)
    if row["action"] not in {TOMBSTONE, QUARANTINE}:
        raise malformed_row(-1, "tombstone-action", "expected a known action of a context change")
    return Change(
        row["id"],
        row["step"],
        address_of(row["digest"], -1),
        row["reason"],
        row["requested_by"],
        row["action"],
        row.get("witness", ""),
        row.get("trust_epoch", 0),
    )


def read_object(line: bytes, number: int) -> dict[str, Any]:
    """A canonical JSON object; row `number`, or the head when it is negative."""
    try:
        value = decode(line)
    except CanonError as error:
        raise malformed_row(number, "not-canonical", error.message) from error
    if not isinstance(value, dict):
        raise malformed_row(number, "wrong-type", "expected an object")
    return value


def check_members(
    values: Any, types: Mapping[str, type], required: Iterable[str], number: int
) -> None:
    """Refuse unknown members, other types and missing members."""
    if type(values) is not dict:
        raise malformed_row(number, "wrong-type", "expected an object")
    for name, value in values.items():
        wanted = types.get(name)
        if wanted is None:
            raise malformed_row(number, "unknown-member", "a member that the format does not know")
        if type(value) is not wanted:
            raise malformed_row(number, "wrong-type", f"{name} is of another type")
    if missing := sorted(frozenset(required) - values.keys()):
        raise malformed_row(number, "missing-member", f"there is no {missing[0]}")


def address_of(digest: str, number: int) -> str:
    """The 64 hex digits of a written digest."""
    if not is_digest(digest):
        raise malformed_row(number, "address-malformed", "expected a digest `sha256:<hex>`")
    return digest.removeprefix("sha256:")


def malformed_row(number: int, code: str, message: str) -> MalformedError:
    """The refusal of row `number`, or of the head when it is negative."""
    where = "head" if number < 0 else f"page {number}"
    return MalformedError(code, f"{TABLE}: {where}: {message}", TABLE, number + 2)
