"""Witnesses: a tlog-proof whose leaf is the last head record of its checkpoint (design 7).

`open_witness` is the part of `syn verify --since` that needs nothing but the file and the keys the
caller trusts; comparing it with a repository is the verifier's part.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.canon import checkpoint, head, merkle, note, tlogproof
from syn.canon.checkpoint import Checkpoint
from syn.canon.head import HeadRecord
from syn.canon.merkle import EmptyProofError
from syn.canon.note import Note, Verified, Verifier
from syn.canon.tlogproof import TlogProof
from syn.errors import RefusedError

LogRelation: TypeAlias = Literal["extension", "behind", "rewritten"]


class WitnessError(RefusedError):
    """A proof that is no witness of a workspace.

    Codes: `witness-extra` (no head record), `witness-index` (not the last leaf),
    `witness-workspace` (record and origin, or witness and caller, name two workspaces).
    """


@dataclass(frozen=True, slots=True)
class Witness:
    """A witness whose signatures and proof hold."""

    record: HeadRecord
    leaf: bytes
    checkpoint: Checkpoint
    note: Note
    verified: tuple[Verified, ...]
    """Signatures under keys the caller trusts, at least one."""


def publish(leaves: Sequence[bytes], signed: Note) -> TlogProof:
    """The witness for the last leaf of a log whose checkpoint is `signed`.

    Raises:
        IndexError: the log is empty.
    """
    hashes = [merkle.leaf_hash(leaf) for leaf in leaves]
    index = len(leaves) - 1
    return TlogProof(leaves[index], index, merkle.inclusion_proof(hashes, index), signed)


def open_witness(data: bytes, verifiers: Sequence[Verifier]) -> Witness:
    """Read a witness and check all of it that needs no repository.

    Raises:
        TlogProofError, NoteError, CheckpointError, HeadError: a part is malformed.
        UnknownKeyError: no signature is under a trusted key.
        EmptyProofError: the log was empty.
        ProofError: the record is not the leaf that the checkpoint commits to.
        WitnessError: it is a sound tlog-proof of something else.
    """
    # 1. Form and size caps, before anything is believed.
    proof = tlogproof.parse(data)
    # 2. The note is signed by a key from outside the repository.
    verified = note.verify(proof.note, verifiers)
    signed = checkpoint.parse(proof.note.text)
    if signed.size == 0:
        raise EmptyProofError("proof-empty", "a witness of an empty log proves nothing")
    # 3. `extra` is the leaf, and the last one: a witness states the newest record.
    if proof.extra is None:
        raise WitnessError("witness-extra", "expected a head record in extra, got none")
    if proof.index != signed.size - 1:
        raise WitnessError(
            "witness-index", f"expected the last leaf {signed.size - 1}, got {proof.index}"
        )
    leaf_hash = merkle.leaf_hash(proof.extra)
    merkle.verify_inclusion(leaf_hash, proof.index, signed.size, proof.hashes, signed.root)
    # 4. The leaf is a head record of the log that the checkpoint names.
    record = head.decode(proof.extra)
    if record.n != signed.size:
        raise WitnessError("witness-index", f"expected record {signed.size}, got {record.n}")
    if record.ws not in signed.origin.split("/"):
        raise WitnessError(
            "witness-workspace", f"the log {signed.origin} is not of the workspace {record.ws}"
        )
    return Witness(record, proof.extra, signed, proof.note, verified)


def expect_workspace(witness: Witness, workspace: str) -> None:
    """Refuse a witness of another workspace.

    Raises:
        WitnessError: it is of another one (`witness-workspace`).
    """
    if witness.record.ws != workspace:
        raise WitnessError(
            "witness-workspace",
            f"expected a witness of {workspace}, got one of {witness.record.ws}",
            "use the witness that this workspace published",
        )


def log_relation(hashes: Sequence[bytes], signed: Checkpoint) -> LogRelation:
    """How a log with these leaf hashes stands to a checkpoint of the same origin."""
    if len(hashes) < signed.size:
        return "behind"
    same = merkle.root_of(hashes[: signed.size]) == signed.root
    return "extension" if same else "rewritten"
