"""Receipts: issue one from the newest checkpoint, and check one without a repository (design 7)."""

from dataclasses import dataclass, replace

from syn.canon import checkpoint as checkpoints
from syn.canon import digest, head, json, merkle
from syn.canon import note as notes
from syn.canon import receipt as canon
from syn.canon.checkpoint import Checkpoint
from syn.canon.digest import sha256
from syn.canon.head import HeadRecord
from syn.canon.note import Verified, Verifier
from syn.canon.receipt import Receipt, ReceiptError
from syn.errors import RefusedError, SynError, UsageError
from syn.index.rows import FACT
from syn.keys.trust import Trust
from syn.ledger.build import Draft
from syn.ledger.entry import Defect, HashedEntry, decode, encode
from syn.ledger.heads import recorded
from syn.model.finding import Json
from syn.model.ledger import Entry
from syn.model.problem import display_path
from syn.services.proving.checkpoints import covering
from syn.services.proving.collect import Pass, pass_over
from syn.services.proving.judging import Judged
from syn.services.recall.indexing import read_workspace
from syn.services.recall.reading import RECEIPTS, read_plain
from syn.services.trust.witnesses import NoCheckpointError, view_head
from syn.services.workspace import Workspace
from syn.services.writing.decision import Decision, FileChange
from syn.services.writing.exclusive import exclusively
from syn.services.writing.recorder import actor, recorder
from syn.services.writing.transaction import record

FOLDER = RECEIPTS.decode()


class NotCoveredError(RefusedError):
    """The newest checkpoint says nothing of the fact that a receipt could carry."""

    def __init__(self, fact: str, why: str) -> None:
        super().__init__(
            "receipt-not-covered",
            f"{fact}: {why} at the newest checkpoint",
            "record the fact, then syn checkpoint",
        )


@dataclass(frozen=True, slots=True)
class Issued:
    """A receipt that was made, or that was there already."""

    id: str
    path: str
    data: bytes
    record: HeadRecord
    made: bool


def issue(workspace: Workspace, fact: str) -> Issued:
    """Write what the newest checkpoint says of a fact into a receipt, and record that.

    Raises:
        NoCheckpointError: none covers HEAD.
        NotCoveredError: the fact is not in it.
    """
    with exclusively(workspace):
        view = view_head(workspace)
        best = covering(view.judged)
        if best is None or not best.authorized:
            raise NoCheckpointError("no signed checkpoint covers HEAD")
        data, newest = _make(workspace, best, fact)
        identifier = canon.receipt_id(data)
        path = f"{FOLDER}{identifier}.json"
        if (workspace.root / path).exists():
            return Issued(identifier, path, data, newest, False)
        draft = Draft(
            actor=actor(workspace),
            via="cli",
            action="receipt",
            fact=fact,
            path=path,
            source=sha256(data),
            reason=f"receipt at record {newest.n} of {best.log.publisher}",
        )
        decision = Decision(
            (draft,), (FileChange(path, data, ""),), message=f"receipt for {fact}"[:200]
        )
        record(workspace, read_workspace(workspace), decision, recorder(workspace))
        return Issued(identifier, path, data, newest, True)


def _make(workspace: Workspace, best: Judged, fact: str) -> tuple[bytes, HeadRecord]:
    newest, note, checkpoint = best.log.record, best.log.note, best.log.checkpoint
    if newest is None or note is None or checkpoint is None:
        raise NoCheckpointError("no signed checkpoint covers HEAD")
    leaves = best.log.log.leaf_hashes()[: checkpoint.size]
    with pass_over(workspace, newest.commit) as done:
        row, row_proof = _row(done, fact)
        line, entry_proof = _entry(done, fact)
    receipt = Receipt(
        row=row,
        entry=line,
        record=best.log.log.leaves[checkpoint.size - 1].decode(),
        note=note,
        row_proof=row_proof,
        entry_proof=entry_proof,
        record_proof=canon.include(leaves, checkpoint.size - 1),
    )
    data = canon.encode(receipt)
    # A record that does not say what its commit holds gives no receipt: nobody could verify it.
    check_proofs(data)
    return data, newest


def _row(done: Pass, fact: str) -> tuple[str, canon.Inclusion]:
    """The fact's row in the manifest, and where it stands among the fact rows."""
    member = json.encode({"id": fact})[1:-1]
    hashes: list[bytes] = []
    found = -1
    row = ""
    for line in done.projection.lines(FACT):
        if member in line and _member(line, "id") == fact:
            found, row = len(hashes), line.decode().rstrip("\n")
        hashes.append(merkle.leaf_hash(line[:-1]))
    if found < 0:
        raise NotCoveredError(fact, "there is no such fact")
    return row, canon.include(hashes, found)


def _member(line: bytes, name: str) -> Json:
    value = json.decode(line.rstrip(b"\n"))
    return value.get(name) if isinstance(value, dict) else None


def _entry(done: Pass, fact: str) -> tuple[str, canon.Inclusion]:
    """The fact's decision, and where it stands among the sorted entry hashes."""
    entries = dict(done.reading.ledger.ledger.entries())
    state = recorded(entries.items()).get(fact)
    if state is None or state.deleted or state.forked or len(state.heads) != 1:
        raise NotCoveredError(fact, "there is no single decision on it")
    hashes = sorted(entries)
    leaves = [merkle.leaf_hash(digest.raw(item)) for item in hashes]
    place = hashes.index(state.heads[0])
    return encode(entries[state.heads[0]]).decode(), canon.include(leaves, place)


# Checking


@dataclass(frozen=True, slots=True)
class CheckedReceipt:
    """A receipt all of whose proofs hold."""

    id: str
    fact: str
    path: str
    payload: str
    entry: HashedEntry
    record: HeadRecord
    checkpoint: Checkpoint
    verified: tuple[Verified, ...]
    """Signatures under the keys that were given; none where only the proofs were checked."""


def check_trusted(data: bytes, trust: Trust) -> CheckedReceipt:
    """Check a receipt under keys from outside.

    Raises:
        SynError: it is malformed, or proves nothing under these keys.
    """
    return check(data, trust.note_verifiers(canon.decode(data).note))


def check(data: bytes, verifiers: tuple[Verifier, ...]) -> CheckedReceipt:
    """Check a receipt under these verifiers; without any of them nothing verifies.

    Raises:
        SynError: it is malformed, or one of its proofs does not hold, or a stranger signed it.
    """
    # The checkpoint is signed by a key from outside, before anything it says is looked at.
    verified = notes.verify(canon.decode(data).note, verifiers)
    return replace(check_proofs(data), verified=verified)


def check_proofs(data: bytes) -> CheckedReceipt:
    """Check what a receipt proves under its checkpoint, whoever signed that.

    Raises:
        SynError: it is malformed, or one of its proofs does not hold.
    """
    receipt = canon.decode(data)
    checkpoint = checkpoints.parse(receipt.note.text)
    # 1. Record, row and entry stand under the checkpoint.
    decoded = decode(receipt.entry.encode())
    if isinstance(decoded, Defect):
        raise ReceiptError("receipt-entry", f"expected {decoded.expected}, got {decoded.actual}")
    newest = canon.check(receipt, checkpoint, decoded[0])
    if newest.ws not in checkpoint.origin.split("/"):
        raise ReceiptError(
            "receipt-workspace", f"the log {checkpoint.origin} is not of {newest.ws}"
        )
    # 2. Row and entry are about the same fact and state the same payload.
    row = json.decode(receipt.row.encode())
    if not isinstance(row, dict):
        raise ReceiptError("receipt-row", "expected an object as row")
    entry = decoded[1]
    _agree(row, entry)
    return CheckedReceipt(
        id=canon.receipt_id(data),
        fact=entry.fact,
        path=entry.path,
        payload=entry.payload,
        entry=decoded,
        record=newest,
        checkpoint=checkpoint,
        verified=(),
    )


def _agree(row: dict[str, Json], entry: Entry) -> None:
    said = (row.get("table"), row.get("id"), row.get("path"), row.get("payload_digest"))
    decided = ("fact", entry.fact, entry.path, entry.payload)
    if said != decided:
        raise ReceiptError(
            "receipt-mismatch", "the row and the decision are not about the same fact as it was"
        )


class UnknownReceiptError(UsageError):
    """No stored receipt, or several, have an id that starts like this (`unknown-receipt`)."""

    def __init__(self, name: str, found: int) -> None:
        how_many = f"{found} receipts start" if found else "no receipt starts"
        super().__init__(
            "unknown-receipt", f"{how_many} with {name!r:.80}", "syn receipt list lists them"
        )


def stored(workspace: Workspace, name: str = "") -> list[dict[str, Json]]:
    """The receipts in the work tree as they say of themselves; nothing of it is verified.

    With the start of an id, that one alone, with its text.

    Raises:
        UnknownReceiptError: none, or several, are called that.
    """
    reading = read_workspace(workspace)
    entries = (e for e in reading.inventory.evidence if e.path.startswith(RECEIPTS))
    files = [(entry.path, read_plain(reading.snapshot, entry)) for entry in entries]
    if not name:
        return [_stored(path, data) for path, data in files]
    found = [(p, data) for p, data in files if canon.receipt_id(data).startswith(name)]
    if len(found) != 1:
        raise UnknownReceiptError(name, len(found))
    ((path, data),) = found
    return [{**_stored(path, data), "text": data.decode("utf-8", "replace")}]


def _stored(path: bytes, data: bytes) -> dict[str, Json]:
    item: dict[str, Json] = {
        "id": canon.receipt_id(data),
        "type": "receipt",
        "title": "unreadable",
        "path": display_path(path),
    }
    try:
        receipt = canon.decode(data)
        newest = head.decode(receipt.record.encode())
        row = json.decode(receipt.row.encode())
    except SynError as error:
        return {**item, "fact": "", "record": 0, "commit": "", "problem": error.message}
    fact = row.get("id") if isinstance(row, dict) else ""
    title = f"{fact} at record {newest.n}"
    shown: dict[str, Json] = {"title": title, "fact": fact, "record": newest.n}
    return {**item, **shown, "commit": newest.commit}
