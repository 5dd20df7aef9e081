"""Stored receipts as INV-8 sees them: each against its own proofs, the policy and the ledger."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from syn.canon import receipt as canon
from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError, SynError
from syn.keys.public import PublicKey
from syn.keys.signing import publisher_verifiers
from syn.ledger.segments import Chain
from syn.model.finding import Finding, Severity
from syn.model.problem import display_path
from syn.services.proving.judging import Ground, Judged, authority_of
from syn.services.proving.logs import find_log, publisher_of
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import RECEIPTS, read_plain, unreadable_finding
from syn.services.trust.policy import usable
from syn.verify.evidence import ReceiptEvidence

if TYPE_CHECKING:
    from syn.services.trust.receipts import CheckedReceipt

_RESTORE = "a receipt is never changed: bring it back: git checkout HEAD -- {path}"


def receipt_evidence(reading: Reading, ground: Ground, judged: Sequence[Judged]) -> ReceiptEvidence:
    """Judge every stored receipt, and every decision that recorded one."""
    decided = {entry.path: entry.source for _, entry in reading.ledger_files.of_action("receipt")}
    findings: list[Finding] = []
    present: set[str] = set()
    for entry in reading.inventory.evidence:
        if not entry.path.startswith(RECEIPTS):
            continue
        path = display_path(entry.path)
        present.add(path)
        try:
            data = read_plain(reading.snapshot, entry)
        except (CannotError, RefusedError) as error:
            findings.append(unreadable_finding(path, error))
            continue
        findings += _judge(path, data, decided.get(path, ""), ground, judged)
    for path in sorted(decided.keys() - present):
        findings.append(
            _finding(path, "receipt-missing", decided[path], "no such file", _remedy(path))
        )
    return ReceiptEvidence(len(present | decided.keys()), tuple(findings))


def _judge(
    path: str, data: bytes, source: str, ground: Ground, judged: Sequence[Judged]
) -> Iterator[Finding]:
    if source != sha256(data):
        yield _finding(
            path,
            "receipt-unrecorded" if not source else "receipt-changed",
            source or "a decision that records it",
            sha256(data),
            "remove it" if not source else _remedy(path),
        )
    if path != f"{RECEIPTS.decode()}{canon.receipt_id(data)}.json":
        yield _finding(path, "receipt-name", canon.receipt_id(data), path, _remedy(path))
    try:
        found = _open(data, ground)
    except SynError as error:
        yield _finding(
            path, error.code, "a receipt whose proofs hold", error.message, _remedy(path)
        )
        return
    yield from _authority(path, found, ground)
    yield from _ledger(path, found, ground.chains.get(found.entry[1].writer))
    yield from _log(path, found, data, judged)


def _open(data: bytes, ground: Ground) -> "CheckedReceipt":
    """Under the publisher keys of the policy, whatever their state is today."""
    # Making receipts takes all that writes; most workspaces have none to check.
    from syn.services.trust.receipts import check, check_proofs

    policy = usable(ground.policy)
    proofs = check_proofs(data)
    return check(data, publisher_verifiers(policy, proofs.checkpoint.origin) if policy else ())


def _authority(path: str, found: "CheckedReceipt", ground: Ground) -> Iterator[Finding]:
    key = PublicKey(found.verified[0].verifier.public)
    try:
        authority = authority_of(key, found.record, ground)
    except (CannotError, RefusedError) as error:
        yield unreadable_finding(path, error)
        return
    if authority == "compromised":
        yield _finding(
            path,
            "receipt-unanchored",
            "a checkpoint by a key in its owner's hands",
            f"{key.fingerprint}, which the policy calls compromised",
            "issue it again under a checkpoint of the new key",
            "warning",
        )
    elif authority == "stranger":
        yield _finding(
            path,
            "receipt-signer",
            "a key that was an active publisher at the record's commit",
            f"{key.fingerprint} was not",
            "remove the receipt, or acknowledge it for the record",
        )


def _ledger(path: str, found: "CheckedReceipt", chain: Chain | None) -> Iterator[Finding]:
    """The decision it shows is in the ledger, at its place."""
    digest, entry = found.entry
    here = chain.hash_at(entry.seq) if chain else None
    if here != digest:
        yield _finding(
            path,
            "receipt-entry",
            f"{digest} as seq {entry.seq} of {entry.writer}",
            here or "no such entry",
            "the ledger is not the one that the receipt was issued from",
        )


def _log(
    path: str, found: "CheckedReceipt", data: bytes, judged: Sequence[Judged]
) -> Iterator[Finding]:
    """The record it rests on is in the publisher's log, at its place."""
    log = find_log([item.log for item in judged], publisher_of(found.checkpoint.origin))
    leaves = log.log.leaves if log else ()
    number = found.record.n
    if len(leaves) < number or leaves[number - 1] != canon.decode(data).record.encode():
        yield _finding(
            path,
            "receipt-record",
            f"record {number} of {publisher_of(found.checkpoint.origin)}",
            "another record, or none",
            "the log is not the one that the receipt was issued from",
        )


def _remedy(path: str) -> str:
    return _RESTORE.format(path=path)


def _finding(
    path: str, code: str, expected: str, actual: str, remedy: str, severity: Severity = "failure"
) -> Finding:
    return Finding(
        code=code,
        subject=path.removeprefix(RECEIPTS.decode()).removesuffix(".json"),
        path=path,
        expected=expected,
        actual=actual,
        remedy=remedy,
        severity=severity,
    )
