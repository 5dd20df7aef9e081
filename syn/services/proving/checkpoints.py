"""Checkpoints as INV-3, INV-1 and the level see them: which covers the state, and what it says."""

from collections.abc import Callable, Mapping
from functools import cache

from syn.canon import digest
from syn.canon import note as notes
from syn.canon.head import HeadRecord
from syn.canon.note import NoteError, UnknownKeyError
from syn.git.repository import Repository
from syn.index.rows import PROJECTION
from syn.keys.trust import Trust
from syn.ledger.segments import Chain
from syn.model.finding import Finding
from syn.model.report import CheckpointState
from syn.services.proving.judging import Ground, Judged, judge
from syn.services.proving.logs import PublisherLog, at_record, read_logs
from syn.services.recall.indexing import Reading
from syn.services.trust.policy import policy_of
from syn.verify.evidence import CheckpointEvidence


def ground_of(
    repository: Repository, head_commit: str, reading: Reading, *, deep: bool = False
) -> Ground:
    """What to hold a snapshot's checkpoints against."""

    @cache
    def chains() -> Mapping[str, Chain]:
        return {chain.writer: chain for chain in reading.ledger.ledger.chains}

    return Ground(
        store=repository.store,
        head=head_commit,
        shallow=repository.shallow_commits(),
        policy=policy_of(reading),
        load=chains,
        workspace=reading.config.id,
        deep=deep,
    )


def judge_all(reading: Reading, ground: Ground) -> tuple[tuple[Judged, ...], tuple[Finding, ...]]:
    """Every publisher's log, judged, and what could not be read."""
    logs, unread = read_logs(reading)
    return tuple(judge(log, ground) for log in logs), unread


def covering(judged: tuple[Judged, ...]) -> Judged | None:
    """The checkpoint that covers the state: authorised, with the fewest decisions after it."""
    held = [item for item in judged if item.covers and item.key is not None]
    return min(
        held,
        key=lambda item: (not item.authorized, item.unanchored, item.log.publisher),
        default=None,
    )


def checkpoint_evidence(
    judged: tuple[Judged, ...],
    unread: tuple[Finding, ...],
    trust: Trust | None,
    entries: Callable[[], int],
) -> CheckpointEvidence:
    """What INV-3, the level and the trust root take from the checkpoints.

    `entries` counts all decisions.
    """
    best = covering(judged)
    return CheckpointEvidence(
        count=sum(1 for item in judged if item.log.checkpoint is not None),
        findings=(*unread, *(finding for item in judged for finding in item.findings)),
        unanchored=best.unanchored if best else entries(),
        state=_state(best) if best else None,
        outside_key=bool(best and trust and outside(best.log, trust)),
    )


def _state(judged: Judged) -> CheckpointState | None:
    checkpoint, record = judged.log.checkpoint, judged.log.record
    if checkpoint is None or record is None:
        return None
    return CheckpointState(
        origin=checkpoint.origin,
        size=checkpoint.size,
        root=digest.text(checkpoint.root),
        key=judged.key.fingerprint if judged.key else "",
        commit=record.commit,
        unanchored=judged.unanchored,
        authorized=judged.authorized,
    )


def outside(log: PublisherLog, trust: Trust) -> bool:
    """Whether a checkpoint is signed under a key that the caller brought."""
    if log.note is None:
        return False
    try:
        return bool(notes.verify(log.note, trust.note_verifiers(log.note)))
    except (NoteError, UnknownKeyError):
        return False


def anchor(judged: tuple[Judged, ...], inputs: str) -> HeadRecord | None:
    """The newest signed record over exactly these inputs, or None."""
    found = (
        record
        for item in judged
        if item.key is not None
        for record in reversed(item.log.signed)
        if record.inputs == inputs
    )
    return next(found, None)


def roots_fault(judged: tuple[Judged, ...], inputs: str, facts: str) -> tuple[Finding, ...]:
    """Records over exactly these inputs that name another root over the fact rows."""
    return tuple(
        at_record(item.log, record)(
            code="facts-root",
            expected=facts,
            actual=record.facts,
            remedy="the record is wrong: receipts under it prove nothing; publish anew",
        )
        for item in judged
        if item.key is not None
        for record in item.log.signed
        if record.inputs == inputs and record.projection == PROJECTION and record.facts != facts
    )
