"""The worked examples of the normative documents, recomputed."""

from dataclasses import replace

from syn.canon import checkpoint, digest, head, json, merkle, note, receipt, tlogproof, witness
from syn.canon.head import HeadLog
from syn.canon.receipt import Receipt
from syn.keys import signing, vkey
from syn.keys.vkey import VerifierKey
from tests.support.examples import examples
from tests.support.proofs import (
    ORIGIN,
    checkpoint_of,
    head_record,
    hexdigest,
    log,
    private_key,
    signed,
    witness_bytes,
)

AUDITOR = "auditor.example/w"


def test_canonical_json() -> None:
    shown = examples("canonical-json.md")
    value = json.parse(shown["value"].encode())
    data = json.encode(value)
    assert shown["canonical"] == f"{data.decode()}\n{digest.tagged('example/1', data)}\n"


def test_checkpoint() -> None:
    shown = examples("checkpoint.md")
    source = log(2)
    assert head.parse_log(shown["log"].encode()) == source
    assert shown["leaves"] == "".join(f"{digest.text(item)}\n" for item in source.leaf_hashes())
    assert shown["checkpoint"].encode() == note.render(signed(source))
    assert shown["vkey"] == f"{vkey.render(VerifierKey(ORIGIN, 1, private_key(1).public))}\n"
    found = note.parse(shown["checkpoint"].encode())
    assert checkpoint.parse(found.text) == checkpoint_of(source)


def test_witness() -> None:
    shown = examples("witness.md")
    data = shown["witness"].encode()
    source = log(2)
    auditor = signing.cosigner(private_key(2), AUDITOR, 1_700_000_000)
    cosigned = note.extend(signed(source), [auditor])
    assert data == tlogproof.render(witness.publish(source.leaves, cosigned))
    assert data.startswith(witness_bytes(source))
    key = VerifierKey(AUDITOR, 4, private_key(2).public)
    assert shown["vkey"] == f"{vkey.render(key)}\n"
    publisher = VerifierKey(ORIGIN, 1, private_key(1).public)
    opened = witness.open_witness(data, [signing.note_verifier(item) for item in (publisher, key)])
    assert len(opened.verified) == 2


def example_receipt() -> Receipt:
    rows = [b'["fact","facts/a.md"]', b'["fact","facts/b.md"]']
    entry = '{"v":1}'
    record = replace(
        head_record(), facts=head.facts_root(rows), entries=head.entries_root([hexdigest("e")])
    )
    source = HeadLog((record,), (head.encode(record),), ())
    return Receipt(
        row=rows[1].decode(),
        entry=entry,
        record=source.leaves[0].decode(),
        note=signed(source),
        row_proof=receipt.include([merkle.leaf_hash(row) for row in rows], 1),
        entry_proof=receipt.include([merkle.leaf_hash(digest.raw(hexdigest("e")))], 0),
        record_proof=receipt.include(source.leaf_hashes(), 0),
    )


def test_receipt() -> None:
    shown = examples("receipt.md")
    data = shown["receipt"].encode()
    found = receipt.decode(data)
    assert found == example_receipt()
    assert receipt.check(found, checkpoint.parse(found.note.text), hexdigest("e")).n == 1
    assert shown["id"] == f"{receipt.receipt_id(data)}\n"
