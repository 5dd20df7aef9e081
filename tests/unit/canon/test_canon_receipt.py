"""Receipts: the codec, and what `check` proves."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from syn.canon import checkpoint, digest, head, json, merkle, receipt
from syn.canon.checkpoint import Checkpoint
from syn.canon.head import HeadLog
from syn.canon.receipt import Receipt, ReceiptError
from syn.errors import SynError
from syn.model.finding import Json
from tests.support.proofs import checkpoint_of, head_record, hexdigest, log, signed

ROWS = tuple(b'["fact","id-%d"]' % number for number in range(5))
ENTRIES = tuple(sorted(digest.sha256(b"%d" % number) for number in range(7)))
ENTRY = ENTRIES[4]


def source() -> HeadLog:
    """A log whose last record commits to the rows and entries above."""
    before = log(3)
    record = replace(head_record(), facts=head.facts_root(ROWS), entries=head.entries_root(ENTRIES))
    linked = head.link(record, before)
    return HeadLog((*before.records, linked), (*before.leaves, head.encode(linked)), ())


def issue() -> Receipt:
    whole = source()
    return Receipt(
        row=ROWS[2].decode(),
        entry='{"v":1}',
        record=whole.leaves[-1].decode(),
        note=signed(whole),
        row_proof=receipt.include([merkle.leaf_hash(row) for row in ROWS], 2),
        entry_proof=receipt.include(
            [merkle.leaf_hash(digest.raw(item)) for item in ENTRIES], ENTRIES.index(ENTRY)
        ),
        record_proof=receipt.include(whole.leaf_hashes(), 3),
    )


def signed_checkpoint(value: Receipt) -> Checkpoint:
    return checkpoint.parse(value.note.text)


def test_encode_and_decode_are_inverse() -> None:
    data = receipt.encode(issue())
    assert receipt.decode(data) == issue()
    assert data.endswith(b"}\n")
    assert len(receipt.receipt_id(data)) == 32


def test_a_receipt_checks() -> None:
    value = receipt.decode(receipt.encode(issue()))
    record = receipt.check(value, signed_checkpoint(value), ENTRY)
    assert record == source().records[-1]
    assert signed_checkpoint(value) == checkpoint_of(source())


def test_another_entry_does_not_check() -> None:
    with pytest.raises(merkle.ProofError):
        receipt.check(issue(), signed_checkpoint(issue()), ENTRIES[0])


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("proof-root", lambda value: replace(value, row='["fact","id-9"]')),
        ("proof-root", lambda value: replace(value, row_proof=replace(value.row_proof, index=1))),
        ("head-form", lambda value: replace(value, record="{")),
        ("head-field", lambda value: replace(value, record="{}")),
        (
            "proof-root",
            lambda value: replace(value, record=value.record.replace("aaaa", "aaab", 1)),
        ),
        ("receipt-checkpoint", lambda value: replace(value, record=source().leaves[1].decode())),
        (
            "receipt-checkpoint",
            lambda value: replace(value, record_proof=receipt.include(log(3).leaf_hashes(), 2)),
        ),
        (
            "proof-root",
            lambda value: replace(value, record_proof=replace(value.record_proof, index=2)),
        ),
    ],
)
def test_a_changed_receipt_does_not_check(code: str, change: Callable[[Receipt], Receipt]) -> None:
    with pytest.raises(SynError) as caught:
        receipt.check(change(issue()), checkpoint_of(source()), ENTRY)
    assert caught.value.code == code


def test_a_record_that_is_not_the_last_does_not_check() -> None:
    """Two equal leaves: the older position proves inclusion, yet is not the newest state."""
    leaf = source().leaves[-1]
    leaves = (*source().leaves[:2], leaf, leaf)
    value = replace(
        issue(), record_proof=receipt.include([merkle.leaf_hash(item) for item in leaves], 2)
    )
    with pytest.raises(ReceiptError, match="last"):
        receipt.check(value, checkpoint_of(HeadLog((), leaves, ())), ENTRY)


def fields() -> dict[str, Json]:
    value = json.decode(receipt.encode(issue())[:-1])
    assert isinstance(value, dict)
    return value


PROOF: dict[str, Json] = {"index": 0, "size": 1, "hashes": []}
LONG: dict[str, Json] = {**PROOF, "hashes": [1] * 64}


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "synapse.receipt/2"},
        {"row": 1},
        {"record": None},
        {"more": 1},
        {"proofs": []},
        {"proofs": {"row": PROOF, "entry": PROOF}},
        {"proofs": {"row": PROOF, "entry": PROOF, "record": {**PROOF, "index": True}}},
        {"proofs": {"row": PROOF, "entry": PROOF, "record": {**PROOF, "index": True, "size": 2}}},
        {"proofs": {"row": PROOF, "entry": PROOF, "record": {**PROOF, "size": True}}},
        {"proofs": {"row": PROOF, "entry": PROOF, "record": {**PROOF, "index": 1}}},
        {"proofs": {"row": PROOF, "entry": PROOF, "record": {**PROOF, "size": 0}}},
        {"proofs": {"row": PROOF, "entry": PROOF, "record": {**PROOF, "more": 0}}},
        {"proofs": {"row": PROOF, "entry": PROOF, "record": {**PROOF, "hashes": ["AA=="]}}},
        {"proofs": {"row": PROOF, "entry": PROOF, "record": {**PROOF, "hashes": [1]}}},
    ],
)
def test_decode_is_strict(change: dict[str, Json]) -> None:
    with pytest.raises(ReceiptError) as caught:
        receipt.decode(json.encode(fields() | change) + b"\n")
    assert caught.value.code == "receipt-form"


@pytest.mark.parametrize(
    ("code", "data"),
    [
        ("receipt-form", receipt.encode(issue())[:-1]),
        ("receipt-form", receipt.encode(issue())[:-1] + b" "),
        ("receipt-form", receipt.encode(issue()).replace(b":", b": ", 1)),
        ("receipt-form", b"[]\n"),
        ("receipt-form", b"\n"),
        pytest.param("receipt-limit", b"x" * (receipt.MAX_BYTES + 1), id="over 16 MiB"),
        (
            "receipt-limit",
            json.encode(fields() | {"proofs": {"row": LONG, "entry": LONG, "record": LONG}})
            + b"\n",
        ),
        ("note-form", json.encode(fields() | {"checkpoint": hexdigest("a")}) + b"\n"),
    ],
)
def test_decode_refuses_other_bytes(code: str, data: bytes) -> None:
    with pytest.raises(SynError) as caught:
        receipt.decode(data)
    assert caught.value.code == code


def test_63_hashes_are_accepted() -> None:
    value = replace(issue(), row_proof=receipt.Inclusion(0, 9, (b"h" * 32,) * 63))
    assert receipt.decode(receipt.encode(value)) == value
