"""Attacks on checkpoints, witnesses and signatures, each with the one reason it fails for.

Numbers are those of the list of attacks that the project answers to; the end-to-end tests run the
same ones through the command line.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from syn.canon import checkpoint, cosignature, head, merkle, note, tlogproof, witness
from syn.canon.note import Note, NoteSignature, Verifier
from syn.canon.witness import Witness
from syn.errors import Cause, SynError
from syn.keys import signing, sshsig, trust
from tests.support.proofs import (
    ORIGIN,
    WORKSPACE,
    checkpoint_of,
    log,
    private_key,
    publisher,
    signed,
    witness_bytes,
)

PIN = trust.parse(f"{private_key(1).public.line()}\n{private_key(2).public.line()}\n".encode())
NOBODY = trust.Trust(())
LOG = log(5)
GOOD = witness.publish(LOG.leaves, signed(LOG))


def open_pinned(data: bytes, pins: trust.Trust = PIN) -> Witness:
    """What an auditor does with a file and the keys pinned outside the repository."""
    return witness.open_witness(data, pins.note_verifiers(tlogproof.parse(data).note))


def resigned(text: str) -> bytes:
    """The good witness around another text, signed by the real key."""
    return tlogproof.render(replace(GOOD, note=note.sign(text, [publisher()])))


def with_note(value: Note) -> bytes:
    return tlogproof.render(replace(GOOD, note=value))


def with_text(change: Callable[[str], str]) -> bytes:
    """The good witness, its text changed under the old signature."""
    return with_note(replace(GOOD.note, text=change(GOOD.note.text)))


def bad_signature(value: Note) -> Note:
    first = value.signatures[0]
    damaged = bytes([first.signature[0] ^ 1]) + first.signature[1:]
    return replace(value, signatures=(replace(first, signature=damaged), *value.signatures[1:]))


def cosigned_at(seconds: int) -> Note:
    return note.extend(GOOD.note, [signing.cosigner(private_key(2), "auditor.example/w", seconds)])


def replayed() -> Note:
    """A genuine cosignature whose time was moved."""
    value = cosigned_at(1_700_000_000)
    publisher_line, cosignature_line = value.signatures
    later = (1_800_000_000).to_bytes(8, "big") + cosignature_line.signature[8:]
    return replace(value, signatures=(publisher_line, replace(cosignature_line, signature=later)))


def text_with(size: str = "5", root: str = "", more: str = "") -> str:
    lines = GOOD.note.text.split("\n")
    return f"{lines[0]}\n{size}\n{root or lines[2]}\n{more}"


@dataclass(frozen=True)
class Attack:
    """A file that an auditor must not accept, and why."""

    number: int
    name: str
    code: str
    cause: Cause
    data: bytes
    pins: trust.Trust = PIN


REFUSED, CANNOT = Cause.REFUSED, Cause.CANNOT
STRANGER = signing.note_signer(private_key(9), "stranger.example/k")
ATTACKS = [
    Attack(25, "unknown key only", "note-unknown-key", CANNOT, witness_bytes(LOG, STRANGER)),
    Attack(
        26,
        "known key bad, unknown key good",
        "note-bad-signature",
        REFUSED,
        with_note(bad_signature(note.extend(GOOD.note, [STRANGER]))),
    ),
    Attack(
        28,
        "key only in the repository",
        "note-unknown-key",
        CANNOT,
        witness_bytes(LOG),
        NOBODY,
    ),
    *(
        Attack(
            29,
            f"size {size[:20]}",
            "checkpoint-size",
            REFUSED,
            resigned(text_with(size)),
        )
        for size in ("0300", "+3", "-1", "", str(2**64), "5 ", "0x5")
    ),
    Attack(
        30,
        "root of 31 bytes",
        "checkpoint-root",
        REFUSED,
        resigned(text_with(root="A" * 42)),
    ),
    Attack(
        30,
        "root in another spelling",
        "checkpoint-root",
        REFUSED,
        resigned(text_with(root="A" * 42 + "B=")),
    ),
    Attack(
        31,
        "extension line added",
        "note-bad-signature",
        REFUSED,
        with_text(lambda text: f"{text}extension\n"),
    ),
    Attack(
        31,
        "extension line signed",
        "checkpoint-extension",
        REFUSED,
        resigned(text_with(more="extension\n")),
    ),
    Attack(
        32,
        "extra is another record",
        "proof-root",
        REFUSED,
        tlogproof.render(replace(GOOD, extra=log(5, seed=3).leaves[-1])),
    ),
    Attack(
        32,
        "extra and proof of an older record",
        "witness-index",
        REFUSED,
        tlogproof.render(
            replace(
                GOOD,
                extra=LOG.leaves[2],
                index=2,
                hashes=merkle.inclusion_proof(LOG.leaf_hashes(), 2),
            )
        ),
    ),
    Attack(
        34,
        "too many hashes",
        "tlogproof-limit",
        REFUSED,
        tlogproof.render(replace(GOOD, hashes=(b"h" * 32,) * 65)),
    ),
    Attack(
        34,
        "2 MiB",
        "tlogproof-limit",
        REFUSED,
        tlogproof.render(GOOD) + b"x" * (2 << 20),
    ),
    Attack(
        34,
        "too many signatures",
        "note-limit",
        REFUSED,
        with_note(replace(GOOD.note, signatures=GOOD.note.signatures * 101)),
    ),
    Attack(
        35,
        "cosignature under another time",
        "note-bad-signature",
        REFUSED,
        with_note(replayed()),
    ),
]


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda item: f"{item.number}-{item.name}")
def test_an_auditor_refuses(attack: Attack) -> None:
    with pytest.raises(SynError) as caught:
        open_pinned(attack.data, attack.pins)
    assert (caught.value.code, caught.value.cause) == (attack.code, attack.cause)


def test_the_good_witness_is_accepted() -> None:
    assert open_pinned(tlogproof.render(GOOD)).record == LOG.records[-1]
    assert len(open_pinned(with_note(cosigned_at(5))).verified) == 2


def test_21_two_roots_of_one_size_are_a_fork() -> None:
    first = open_pinned(witness_bytes(LOG))
    second = open_pinned(witness_bytes(log(5, seed=3)))
    assert checkpoint.compare(first.checkpoint, second.checkpoint) == "forked"
    assert witness.log_relation(LOG.leaf_hashes(), second.checkpoint) == "rewritten"


def test_22_a_smaller_log_is_behind_the_pin() -> None:
    pinned = checkpoint_of(LOG)
    assert checkpoint.compare(pinned, checkpoint_of(log(3))) == "older"
    assert witness.log_relation(log(3).leaf_hashes(), pinned) == "behind"


def test_23_an_older_genuine_witness_still_proves_what_it_says() -> None:
    older = open_pinned(witness_bytes(log(3)))
    assert witness.log_relation(LOG.leaf_hashes(), older.checkpoint) == "extension"
    assert checkpoint.compare(checkpoint_of(LOG), older.checkpoint) == "older"


def test_24_a_witness_of_another_log_is_told_apart() -> None:
    other = open_pinned(witness_bytes(LOG))
    with pytest.raises(SynError) as caught:
        witness.expect_workspace(other, "00000000-0000-0000-0000-000000000000")
    assert caught.value.code == "witness-workspace"
    bob = checkpoint_of(LOG, origin=f"example.org/{WORKSPACE}/bob")
    assert checkpoint.compare(checkpoint_of(LOG), bob) == "other-log"


def test_27_a_key_with_the_same_id_is_still_another_key() -> None:
    """Four bytes collide easily: the line then counts as the pinned key's, and does not verify."""
    pinned = publisher(1)
    forged = NoteSignature(ORIGIN, pinned.key_id, private_key(9).sign(GOOD.note.text.encode()))
    value = replace(GOOD.note, signatures=(forged,))
    with pytest.raises(SynError) as caught:
        note.verify(value, PIN.note_verifiers(value))
    assert caught.value.code == "note-bad-signature"


def test_27_two_pinned_keys_with_one_name_and_id_are_refused() -> None:
    keys = [
        Verifier(ORIGIN, b"\1\2\3\4", 1, private_key(number).public.raw, lambda _text, _sig: True)
        for number in (1, 2)
    ]
    with pytest.raises(SynError) as caught:
        note.verify(GOOD.note, keys)
    assert caught.value.code == "note-ambiguous-key"


def test_33_a_proof_from_the_empty_tree_is_no_verdict() -> None:
    with pytest.raises(SynError) as caught:
        merkle.verify_consistency(0, 5, (), merkle.EMPTY_ROOT, checkpoint_of(LOG).root)
    assert (caught.value.code, caught.value.cause) == ("proof-empty", CANNOT)


def test_36_one_cosigner_under_two_names_counts_once() -> None:
    value = note.extend(
        GOOD.note,
        [
            signing.cosigner(private_key(2), "auditor.example/w1", 10),
            signing.cosigner(private_key(2), "auditor.example/w2", 20),
        ],
    )
    verified = open_pinned(with_note(value)).verified
    assert len(verified) == 3
    assert [item.time for item in cosignature.cosigners(verified)] == [20]


def test_a_publishers_own_cosignature_names_the_publishers_key() -> None:
    """Whoever counts cosigners can leave the publisher out by key, whatever name it signs under."""
    value = note.extend(GOOD.note, [signing.cosigner(private_key(1), "independent.example/w", 10)])
    verified = open_pinned(with_note(value)).verified
    assert [item.public for item in cosignature.cosigners(verified)] == [
        verified[0].verifier.public
    ]


@pytest.mark.parametrize("namespace", ["file", "git ", "synapse-report"])
def test_56_a_signature_for_something_else_is_refused(namespace: str) -> None:
    armored = sshsig.sign(private_key(1), b"commit", namespace).encode()
    with pytest.raises(SynError) as caught:
        sshsig.verify(armored, b"commit", "git")
    assert caught.value.code == "sshsig-namespace"


def test_no_signed_format_passes_for_another() -> None:
    """One key signs notes, cosignatures, SSH signatures and envelopes: none verifies as another."""
    key = private_key(1)
    text = GOOD.note.text
    envelope = signing.sign_envelope("t", text.encode(), [key]).signatures[0].sig
    cosigned = signing.cosigner(key, ORIGIN, 5).sign(text.encode())[8:]
    parsed = sshsig.parse(sshsig.sign(key, text.encode(), "git").encode()).signature
    for foreign in (envelope, cosigned, parsed):
        signer = publisher()
        value = Note(text, (NoteSignature(signer.name, signer.key_id, foreign),))
        with pytest.raises(SynError) as caught:
            note.verify(value, PIN.note_verifiers(value))
        assert caught.value.code == "note-bad-signature"


def test_a_head_record_cannot_be_taken_for_another_position() -> None:
    assert head.decode(LOG.leaves[0]).n == 1
    assert head.decode(LOG.leaves[4]).prev == head.leaf_digest(LOG.leaves[3])
