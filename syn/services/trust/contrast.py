"""Both sides of a comparison with a witness, for somebody else to judge (the evidence bundle)."""

from syn.canon import base64, digest, merkle
from syn.canon import note as notes
from syn.canon.head import HeadRecord
from syn.canon.witness import Witness
from syn.errors import CannotError, RefusedError
from syn.keys.public import PublicKey
from syn.model.finding import Json
from syn.services.proving.judging import Ground
from syn.services.proving.logs import PublisherLog


def detail_of(
    ground: Ground, log: PublisherLog | None, found: Witness, consistent: bool
) -> dict[str, Json]:
    """Both sides: enough for somebody else to judge, with both notes where they differ."""
    record, signed = found.record, found.checkpoint
    detail: dict[str, Json] = {
        "witness": {
            "origin": signed.origin,
            "size": signed.size,
            "root": digest.text(signed.root),
            "commit": record.commit,
            "tree": record.tree,
            "signers": [_signer(i.verifier.public, i.signature.name) for i in found.verified],
        },
        "head": ground.head,
        "log_size": len(log.log.leaves) if log else 0,
    }
    if consistent:
        detail["consistency"] = _consistency(log, signed.size)
    else:
        detail["witness_note"] = notes.render(found.note).decode()
        detail["witness_record"] = found.leaf.decode()
        detail["local_note"] = notes.render(log.note).decode() if log and log.note else ""
        detail["local_record"] = _local_record(log, signed.size)
        detail["changed"] = _changed(ground, log, record)
    return detail


def _signer(public: bytes, name: str) -> str:
    return f"{name} {PublicKey(public).fingerprint}"


def _consistency(log: PublisherLog | None, size: int) -> list[Json]:
    """The RFC 6962 proof from the witness to the local checkpoint, for third parties."""
    if log is None or log.checkpoint is None or log.checkpoint.size <= size:
        return []
    hashes = log.log.leaf_hashes()[: log.checkpoint.size]
    return [base64.encode(item) for item in merkle.consistency_proof(hashes, size)]


def _local_record(log: PublisherLog | None, size: int) -> str:
    leaves = log.log.leaves if log else ()
    return leaves[min(size, len(leaves)) - 1].decode() if leaves else ""


def _changed(ground: Ground, log: PublisherLog | None, record: HeadRecord) -> list[Json]:
    """Member by member where the local record of that number differs, and who committed it."""
    records = log.log.records if log else ()
    changed: list[Json] = []
    if len(records) >= record.n:
        local = records[record.n - 1]
        for name in ("commit", "tree", "manifest", "inputs", "policy", "facts", "entries"):
            was, now = getattr(record, name), getattr(local, name)
            if was != now:
                changed.append({"what": name, "expected": was, "actual": now})
    for commit in dict.fromkeys((ground.head, *(r.commit for r in records[record.n - 1 :][:1]))):
        who = _who(ground, commit)
        if who:
            changed.append({"what": "who", "commit": commit, **who})
    return changed


def _who(ground: Ground, commit: str) -> dict[str, Json]:
    try:
        found = ground.store.commit(commit)
        author, committer = found.author.text, found.committer.text
    except (CannotError, RefusedError):
        return {}
    return {"author": author, "committer": committer}
