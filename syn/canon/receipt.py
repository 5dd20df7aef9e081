"""Receipts: what a checkpoint says of one fact, in a file that needs no repository (design 7).

A receipt is canonical JSON with one final newline. It holds the fact's manifest row and its
decision entry as text, each with its inclusion proof in the head record's `facts` and `entries`
roots, the head record as text with its own proof, and the signed checkpoint. The codec checks form;
`check` checks every proof. Entry hashes are made by the ledger, so the caller gives the entry's.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from syn.canon import base64, digest, head, json, merkle, note
from syn.canon.checkpoint import Checkpoint
from syn.canon.head import HeadRecord
from syn.canon.json import CanonError
from syn.canon.merkle import HASH_SIZE, MAX_PROOF
from syn.canon.note import Note
from syn.errors import RefusedError
from syn.model.finding import Json

SCHEMA = "synapse.receipt/1"
MAX_BYTES = 16 << 20
_FIELDS = frozenset({"schema", "row", "entry", "record", "checkpoint", "proofs"})
_PROOFS = frozenset({"row", "entry", "record"})


class ReceiptError(RefusedError):
    """A receipt that is malformed or does not prove what it says.

    Codes: `receipt-limit`, `receipt-form`, `receipt-checkpoint`, and the codes of `ProofError` and
    `HeadError` for its parts.
    """


@dataclass(frozen=True, slots=True)
class Inclusion:
    """Where a leaf stands in a tree, and its audit path."""

    index: int
    size: int
    hashes: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The parts of a receipt; not verified."""

    row: str
    """The fact's row in the manifest, as its canonical line without newline."""
    entry: str
    """The fact's decision entry, as its canonical line without newline."""
    record: str
    """The head record, as its canonical line without newline."""
    note: Note
    """The signed checkpoint over the log that ends with the record."""
    row_proof: Inclusion
    entry_proof: Inclusion
    record_proof: Inclusion


def include(hashes: Sequence[bytes], index: int) -> Inclusion:
    """The inclusion of leaf `index` in the tree over these leaf hashes.

    Raises:
        IndexError: the tree has no such leaf.
    """
    return Inclusion(index, len(hashes), merkle.inclusion_proof(hashes, index))


def encode(receipt: Receipt) -> bytes:
    """The bytes of a receipt file; `decode(encode(receipt)) == receipt`."""
    value = {
        "schema": SCHEMA,
        "row": receipt.row,
        "entry": receipt.entry,
        "record": receipt.record,
        "checkpoint": note.render(receipt.note).decode(),
        "proofs": {
            "row": _proof_json(receipt.row_proof),
            "entry": _proof_json(receipt.entry_proof),
            "record": _proof_json(receipt.record_proof),
        },
    }
    return json.encode(value) + b"\n"


def decode(data: bytes) -> Receipt:
    """Read a receipt file, strictly; checks its form only.

    Raises:
        ReceiptError: it is no receipt in canonical form, or over 16 MiB.
        NoteError: its checkpoint is no signed note.
    """
    if len(data) > MAX_BYTES:
        raise ReceiptError(
            "receipt-limit", f"expected a receipt of at most 16 MiB, got {len(data)} bytes"
        )
    if not data.endswith(b"\n"):
        raise _form("expected a final newline")
    try:
        fields = json.decode(data[:-1])
    except CanonError as error:
        raise _form(error.message) from error
    if not isinstance(fields, dict) or fields.keys() != _FIELDS or fields["schema"] != SCHEMA:
        raise _form(f"expected exactly the fields of {SCHEMA}")
    proofs = fields["proofs"]
    if not isinstance(proofs, dict) or proofs.keys() != _PROOFS:
        raise _form("expected proofs of row, entry and record")
    return Receipt(
        row=_text(fields, "row"),
        entry=_text(fields, "entry"),
        record=_text(fields, "record"),
        note=note.parse(_text(fields, "checkpoint").encode()),
        row_proof=_proof(proofs["row"]),
        entry_proof=_proof(proofs["entry"]),
        record_proof=_proof(proofs["record"]),
    )


def check(receipt: Receipt, checkpoint: Checkpoint, entry_hash: str) -> HeadRecord:
    """The head record, once row, entry and record are shown to stand under the checkpoint.

    Args:
        receipt: what `decode` gave.
        checkpoint: the parsed text of the receipt's note, after the note was verified.
        entry_hash: the ledger's hash of `receipt.entry`, `sha256:<hex>`.

    Raises:
        HeadError: the record is malformed.
        ProofError: one of the proofs does not hold.
        ReceiptError: the record is not the last one of the checkpoint's log.
    """
    leaf = receipt.record.encode()
    record = head.decode(leaf)
    if not checkpoint.size == record.n == receipt.record_proof.size:
        raise ReceiptError(
            "receipt-checkpoint",
            f"expected the last record of a log of {checkpoint.size}, got record {record.n}",
        )
    _verify(receipt.record_proof, leaf, checkpoint.root)
    if receipt.record_proof.index != record.n - 1:
        raise ReceiptError("receipt-checkpoint", "the record is not the last of its log")
    _verify(receipt.row_proof, receipt.row.encode(), digest.raw(record.facts))
    _verify(receipt.entry_proof, digest.raw(entry_hash), digest.raw(record.entries))
    return record


def receipt_id(data: bytes) -> str:
    """The id of a receipt file: 32 hex digits of its tagged digest."""
    return digest.tagged("receipt/1", data).removeprefix("sha256:")[:32]


def _verify(proof: Inclusion, leaf: bytes, root: bytes) -> None:
    merkle.verify_inclusion(merkle.leaf_hash(leaf), proof.index, proof.size, proof.hashes, root)


def _proof_json(proof: Inclusion) -> dict[str, Json]:
    hashes: list[Json] = [base64.encode(item) for item in proof.hashes]
    return {"index": proof.index, "size": proof.size, "hashes": hashes}


def _proof(value: Json) -> Inclusion:
    match value:
        case {"index": int(index), "size": int(size), "hashes": list(hashes), **rest} if not rest:
            pass
        case _:
            raise _form("expected index, size and hashes of a proof")
    if isinstance(index, bool) or isinstance(size, bool) or not 0 <= index < size:
        raise _form("expected an index below the size")
    if len(hashes) > MAX_PROOF:
        raise ReceiptError("receipt-limit", f"expected at most {MAX_PROOF} hashes in a proof")
    return Inclusion(index, size, tuple(_hash(item) for item in hashes))


def _hash(item: Json) -> bytes:
    data = base64.decode(item) if isinstance(item, str) else None
    if data is None or len(data) != HASH_SIZE:
        raise _form("expected hashes of 32 bytes in canonical Base64")
    return data


def _text(fields: dict[str, Json], key: str) -> str:
    value = fields[key]
    if not isinstance(value, str):
        raise _form(f"expected text as {key}")
    return value


def _form(message: str) -> ReceiptError:
    return ReceiptError("receipt-form", f"not a receipt: {message}")
