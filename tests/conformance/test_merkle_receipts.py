"""A receipt checked with nothing of ours: the standard library, one key and receipt.md."""

import base64
import hashlib
import json
from dataclasses import replace

import pytest

from syn.canon import digest, head, merkle, receipt
from syn.canon.head import HeadLog
from syn.canon.receipt import Receipt
from syn.keys import vkey
from syn.keys.vkey import VerifierKey
from tests.support import c2sp
from tests.support.proofs import ORIGIN, head_record, log, private_key, signed

ROWS = [b'["fact","facts/%d.md"]' % number for number in range(6)]
LINES = [b'{"seq":%d}' % number for number in range(9)]
ENTRIES = sorted(digest.sha256(line) for line in LINES)
KEY = vkey.render(VerifierKey(ORIGIN, 1, private_key(1).public))


def issue(row: int, entry: int) -> bytes:
    before = log(2)
    record = replace(head_record(), facts=head.facts_root(ROWS), entries=head.entries_root(ENTRIES))
    leaves = (*before.leaves, head.encode(head.link(record, before)))
    source = HeadLog((), leaves, ())
    place = ENTRIES.index(digest.sha256(LINES[entry]))
    return receipt.encode(
        Receipt(
            row=ROWS[row].decode(),
            entry=LINES[entry].decode(),
            record=leaves[-1].decode(),
            note=signed(source),
            row_proof=receipt.include([merkle.leaf_hash(item) for item in ROWS], row),
            entry_proof=receipt.include(
                [merkle.leaf_hash(digest.raw(item)) for item in ENTRIES], place
            ),
            record_proof=receipt.include(source.leaf_hashes(), 2),
        )
    )


def independently(data: bytes) -> bool:
    """The steps of receipt.md, by other code. The entry's hash is plain SHA-256 in this test."""
    value = json.loads(data)
    text, _ = c2sp.open_note(value["checkpoint"].encode(), [KEY])
    _, size, root = text.decode().split("\n")[:3]
    record = json.loads(value["record"])

    def proven(name: str, leaf: bytes) -> str:
        proof = value["proofs"][name]
        path = [base64.b64decode(item) for item in proof["hashes"]]
        return c2sp.fold(c2sp.hash_leaf(leaf), proof["index"], proof["size"], path).hex()

    entry = hashlib.sha256(value["entry"].encode()).digest()
    return (
        proven("record", value["record"].encode()) == base64.b64decode(root).hex()
        and record["n"] == int(size) == value["proofs"]["record"]["index"] + 1
        and f"sha256:{proven('row', value['row'].encode())}" == record["facts"]
        and f"sha256:{proven('entry', entry)}" == record["entries"]
    )


@pytest.mark.parametrize(("row", "entry"), [(0, 0), (5, 8), (3, 4)])
def test_a_receipt_needs_no_code_of_ours(row: int, entry: int) -> None:
    data = issue(row, entry)
    assert independently(data)
    assert not independently(swap(data))


def swap(data: bytes) -> bytes:
    """The receipt about another fact."""
    return data.replace(b"facts/", b"facts-", 1)
