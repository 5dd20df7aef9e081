"""Notes, checkpoints, cosignatures and proofs against a reader written from the specification."""

import pytest

from syn.canon import note, tlogproof, witness
from syn.canon.merkle import inclusion_proof
from syn.canon.tlogproof import TlogProof
from syn.errors import SynError
from syn.keys import signing, trust, vkey
from syn.keys.vkey import VerifierKey
from tests.support import c2sp
from tests.support.mutate import mutations
from tests.support.proofs import ORIGIN, log, private_key, publisher, signed, witness_bytes

LOG_KEY = vkey.render(VerifierKey(ORIGIN, 1, private_key(1).public))
AUDITOR_KEY = vkey.render(VerifierKey("auditor.example/w", 4, private_key(2).public))
LETTERS = b"\n \r\t+/=A0\xe2\x80\x94\x00-_"
KEYS = [LOG_KEY, AUDITOR_KEY]
TRUST = trust.parse("\n".join(KEYS).encode())


def cosigned(size: int) -> note.Note:
    auditor = signing.cosigner(private_key(2), "auditor.example/w", 1_700_000_000)
    stranger = signing.note_signer(private_key(3), "stranger.example/k")
    return signed(log(size), stranger, publisher(), auditor)


def ours(data: bytes) -> list[str] | None:
    """The names of known keys that signed, or None when the note is refused."""
    try:
        value = note.parse(data)
        verified = note.verify(value, TRUST.note_verifiers(value))
    except SynError:
        return None
    return [item.signature.name for item in verified]


def theirs(data: bytes) -> list[str] | None:
    try:
        return c2sp.open_note(data, KEYS)[1]
    except c2sp.RejectedError:
        return None


@pytest.mark.parametrize("size", [1, 2, 7, 8, 300])
def test_a_witness_opens_in_the_other_reader(size: int) -> None:
    source = log(size)
    origin, index, extra = c2sp.open_proof(witness_bytes(source), [LOG_KEY])
    assert (origin, index, extra) == (ORIGIN, size - 1, source.leaves[-1])


def test_every_leaf_of_a_log_opens_in_the_other_reader() -> None:
    source = log(11)
    hashes = source.leaf_hashes()
    for index, leaf in enumerate(source.leaves):
        proof = TlogProof(None, index, inclusion_proof(hashes, index), signed(source))
        assert c2sp.open_proof(tlogproof.render(proof), [LOG_KEY], leaf)[1] == index


def test_cosignatures_open_in_the_other_reader() -> None:
    data = note.render(cosigned(5))
    assert theirs(data) == ours(data) == [ORIGIN, "auditor.example/w"]


def test_mutated_notes_have_one_verdict() -> None:
    data = note.render(cosigned(5))
    seen = set()
    for changed in mutations(data, 4000, LETTERS):
        mine, other = ours(changed), theirs(changed)
        if mine != other:
            # The one difference: we take only one spelling of Base64.
            with pytest.raises(note.NoteError, match="canonical Base64"):
                note.parse(changed)
        seen.add(tuple(mine) if mine else None)
    assert len(seen) >= 2


def test_a_witness_round_trips_through_the_product() -> None:
    source = log(9)
    data = tlogproof.render(witness.publish(source.leaves, cosigned(9)))
    opened = witness.open_witness(data, TRUST.note_verifiers(tlogproof.parse(data).note))
    assert opened.record == source.records[-1]
