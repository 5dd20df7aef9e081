"""Fixed keys, head records, logs and witnesses for tests of proofs."""

from dataclasses import replace

from syn.canon import checkpoint, head, merkle, note, tlogproof, witness
from syn.canon.checkpoint import Checkpoint
from syn.canon.head import HeadLog, HeadRecord, SegmentHead
from syn.canon.note import Note, Signer
from syn.keys import openssh, signing
from syn.keys.openssh import PrivateKey

WORKSPACE = "7f0c1a52-3c0e-4a56-9f0e-2f6f3f6f9b10"
ORIGIN = f"example.org/{WORKSPACE}/alice"


def private_key(number: int) -> PrivateKey:
    """The fixed key of this number, 0 to 255."""
    return openssh.from_seed(bytes([number]) * 32)


def hexdigest(character: str) -> str:
    """A digest that is one hexadecimal character over and over."""
    return f"sha256:{character * 64}"


def head_record(number: int = 1) -> HeadRecord:
    """A record for the state after `number` decisions, not linked to a log."""
    return HeadRecord(
        ws=WORKSPACE,
        n=1,
        object_format="sha1",
        commit=f"{number:040x}",
        tree=f"{number + 1:040x}",
        projection=1,
        manifest=hexdigest("a"),
        inputs=hexdigest("b"),
        facts=hexdigest("c"),
        entries=hexdigest("d"),
        segments=(SegmentHead("w1", number, hexdigest("e")), SegmentHead("w2", 1, hexdigest("f"))),
        policy=hexdigest("9"),
    )


def log(size: int, seed: int = 0) -> HeadLog:
    """A log of linked records; logs of one seed are prefixes of each other."""
    result = HeadLog((), (), ())
    for number in range(1, size + 1):
        record = head.link(head_record(seed + number), result)
        result = replace(
            result,
            records=(*result.records, record),
            leaves=(*result.leaves, head.encode(record)),
        )
    return result


def checkpoint_of(source: HeadLog, origin: str = ORIGIN) -> Checkpoint:
    """The checkpoint over the whole log."""
    return Checkpoint(origin, len(source.leaves), merkle.root(source.leaves))


def publisher(number: int = 1, origin: str = ORIGIN) -> Signer:
    """The note signer of a fixed key under the log's name."""
    return signing.note_signer(private_key(number), origin)


def signed(source: HeadLog, *signers: Signer, origin: str = ORIGIN) -> Note:
    """The log's checkpoint, signed; by the first fixed key when no signer is given."""
    text = checkpoint.render(checkpoint_of(source, origin))
    return note.sign(text, signers or (publisher(origin=origin),))


def witness_bytes(source: HeadLog, *signers: Signer) -> bytes:
    """A witness of the log's last record."""
    return tlogproof.render(witness.publish(source.leaves, signed(source, *signers)))
