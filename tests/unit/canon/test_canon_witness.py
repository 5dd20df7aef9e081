"""Proof files and witnesses."""

from dataclasses import replace

import pytest

from syn.canon import head, merkle, note, tlogproof, witness
from syn.canon.tlogproof import TlogProof, TlogProofError
from syn.canon.witness import WitnessError
from syn.errors import RefusedError
from syn.keys import signing
from syn.keys.trust import Trust, TrustedKey
from tests.support.proofs import (
    WORKSPACE,
    checkpoint_of,
    log,
    private_key,
    publisher,
    signed,
    witness_bytes,
)

KEYS = Trust((TrustedKey(private_key(1).public, 1),))


def open_with_first_key(data: bytes) -> witness.Witness:
    return witness.open_witness(data, KEYS.note_verifiers(tlogproof.parse(data).note))


def rendered(proof: TlogProof) -> bytes:
    return tlogproof.render(proof)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 41])
def test_a_published_witness_opens(size: int) -> None:
    source = log(size)
    found = open_with_first_key(witness_bytes(source))
    assert found.record == source.records[-1]
    assert found.leaf == source.leaves[-1]
    assert found.checkpoint == checkpoint_of(source)
    assert len(found.verified) == 1
    witness.expect_workspace(found, WORKSPACE)


def test_render_and_parse_are_inverse() -> None:
    proof = witness.publish(log(5).leaves, signed(log(5)))
    for each in (proof, replace(proof, extra=None), replace(proof, extra=b"", hashes=())):
        assert tlogproof.parse(rendered(each)) == each


def test_the_file_has_the_specified_lines() -> None:
    lines = witness_bytes(log(2)).decode().split("\n")
    assert lines[0] == "c2sp.org/tlog-proof@v1"
    assert lines[1].startswith("extra ")
    assert lines[2] == "index 1"
    assert len(lines[3]) == 44
    assert lines[4] == ""
    assert lines[5:7] == [f"example.org/{WORKSPACE}/alice", "2"]


HASH_LINE = "A" * 43 + "=\n"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("tlogproof-form", ""),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v2\nindex 0\n\n"),
        ("tlogproof-form", "\nc2sp.org/tlog-proof@v1\nindex 0\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\r\nindex 0\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\nindex 00\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\nindex -1\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\n7\n\n"),
        ("tlogproof-form", f"c2sp.org/tlog-proof@v1\nindex {2**63}\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\nextra AB==\nindex 0\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\nextra AA==\nextra AA==\nindex 0\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\nindex 0\nextra AA==\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\nextra AA==\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\nindex 0\nAAAA\n\n"),
        ("tlogproof-form", "c2sp.org/tlog-proof@v1\nindex 0\né\n\n"),
        pytest.param(
            "tlogproof-limit",
            f"c2sp.org/tlog-proof@v1\nindex 0\n{HASH_LINE * 64}\n",
            id="64 hashes",
        ),
        pytest.param(
            "tlogproof-limit",
            f"c2sp.org/tlog-proof@v1\nextra {'A' * (1 << 20)}\nindex 0\n\n",
            id="over 1 MiB",
        ),
        ("note-form", "c2sp.org/tlog-proof@v1\nindex 0\n\n"),
    ],
)
def test_parse_is_strict(code: str, text: str) -> None:
    with pytest.raises(RefusedError) as caught:
        tlogproof.parse(text.encode())
    assert caught.value.code == code


def test_an_old_form_error_is_a_proof_error() -> None:
    with pytest.raises(TlogProofError):
        tlogproof.parse(b"\xff\n\n")


def test_63_hashes_are_accepted() -> None:
    proof = replace(witness.publish(log(1).leaves, signed(log(1))), hashes=(b"h" * 32,) * 63)
    assert len(tlogproof.parse(rendered(proof)).hashes) == 63


def test_extra_that_is_missing_is_no_witness() -> None:
    proof = witness.publish(log(3).leaves, signed(log(3)))
    with pytest.raises(WitnessError) as caught:
        open_with_first_key(rendered(replace(proof, extra=None)))
    assert caught.value.code == "witness-extra"


def test_a_proof_of_an_older_leaf_is_no_witness() -> None:
    source = log(3)
    hashes = source.leaf_hashes()
    proof = TlogProof(source.leaves[1], 1, merkle.inclusion_proof(hashes, 1), signed(source))
    with pytest.raises(WitnessError) as caught:
        open_with_first_key(rendered(proof))
    assert caught.value.code == "witness-index"


def log_of(leaves: tuple[bytes, ...]) -> head.HeadLog:
    return head.HeadLog((), leaves, ())


def test_a_record_that_misstates_its_position_is_no_witness() -> None:
    data = witness_bytes(log_of((log(3).leaves[0], log(3).leaves[2])))
    with pytest.raises(WitnessError) as caught:
        open_with_first_key(data)
    assert caught.value.code == "witness-index"


def test_a_record_of_the_right_number_in_the_wrong_place_is_no_witness() -> None:
    """A log may not hold its newest record early: number and place must both be the last."""
    newest, older = log(2).leaves[1], log(2).leaves[0]
    source = log_of((newest, older))
    proof = TlogProof(newest, 0, merkle.inclusion_proof(source.leaf_hashes(), 0), signed(source))
    with pytest.raises(WitnessError, match="last leaf 1, got 0"):
        open_with_first_key(rendered(proof))


def test_a_leaf_that_is_no_head_record_is_no_witness() -> None:
    with pytest.raises(head.HeadError):
        open_with_first_key(witness_bytes(log_of((b"{}",))))


def test_a_log_of_another_workspace_is_no_witness() -> None:
    origin = "example.org/11111111-2222-3333-4444-555555555555/alice"
    source = log(2)
    proof = witness.publish(source.leaves, signed(source, origin=origin))
    with pytest.raises(WitnessError) as caught:
        open_with_first_key(rendered(proof))
    assert caught.value.code == "witness-workspace"


def test_a_witness_of_another_workspace_is_refused_with_its_name() -> None:
    with pytest.raises(WitnessError, match=WORKSPACE) as caught:
        witness.expect_workspace(open_with_first_key(witness_bytes(log(2))), "other")
    assert caught.value.code == "witness-workspace"


def test_the_log_relation() -> None:
    hashes = log(5).leaf_hashes()
    assert witness.log_relation(hashes, checkpoint_of(log(3))) == "extension"
    assert witness.log_relation(hashes, checkpoint_of(log(5))) == "extension"
    assert witness.log_relation(hashes[:2], checkpoint_of(log(3))) == "behind"
    assert witness.log_relation(hashes, checkpoint_of(log(3, seed=9))) == "rewritten"


def test_a_witness_carries_cosignatures() -> None:
    source = log(3)
    both = note.extend(
        signed(source), [signing.cosigner(private_key(2), "auditor.example/w", 1_700_000_000)]
    )
    data = rendered(witness.publish(source.leaves, both))
    keys = Trust((*KEYS.keys, TrustedKey(private_key(2).public, 2)))
    found = witness.open_witness(data, keys.note_verifiers(both))
    assert [item.verifier.type for item in found.verified] == [1, 4]
    only_publisher = witness.open_witness(data, KEYS.note_verifiers(both))
    assert len(only_publisher.verified) == 1
    assert publisher().name == only_publisher.verified[0].verifier.name
