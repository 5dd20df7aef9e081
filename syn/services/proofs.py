"""What a verification holds the workspace against beside itself: checkpoints and outside keys."""

from dataclasses import dataclass, replace

from syn.git.repository import Repository
from syn.index.rows import PROJECTION
from syn.keys.trust import Trust
from syn.services.checkpoints import (
    anchor,
    checkpoint_evidence,
    ground_of,
    judge_all,
    roots_fault,
)
from syn.services.collect import Pass
from syn.services.comparing import compare
from syn.services.head_record import facts_root
from syn.services.outside import Since
from syn.services.pins import NO_PINS, Pins
from syn.verify.evidence import CheckpointEvidence, IndexEvidence, WitnessEvidence


@dataclass(frozen=True, slots=True)
class Outside:
    """What a caller brings from outside the repository to hold it against."""

    trust: Trust | None = None
    """Keys of `--trust`."""
    since: Since | None = None
    """The witness or commit of `--since`."""
    pins: Pins = NO_PINS
    """What is pinned on this machine; empty where it plays no part."""


NOTHING_FROM_OUTSIDE = Outside()


@dataclass(frozen=True, slots=True)
class Proofs:
    """The evidence that rests on signatures and history."""

    checkpoints: CheckpointEvidence
    anchored: str
    """Manifest digest in the newest signed record over exactly these inputs, or ""."""
    anchored_projection: str
    witness: WitnessEvidence | None

    def anchor(self, index: IndexEvidence) -> IndexEvidence:
        """INV-1's evidence with the manifest that a checkpoint names."""
        return replace(index, anchored=self.anchored, anchored_projection=self.anchored_projection)


def collect_proofs(
    repository: Repository, head: str, done: Pass, outside: Outside, *, deep: bool
) -> Proofs:
    """Judge what is signed in a snapshot whose commit (or whose work tree's HEAD) is `head`."""
    reading = done.reading
    ground = ground_of(repository, head, reading, deep=deep)
    judged, unread = judge_all(reading, ground)
    record = anchor(judged, done.inputs_hash)
    if record is not None and record.projection == PROJECTION:
        unread += roots_fault(judged, done.inputs_hash, facts_root(done))
    logs = [item.log for item in judged]
    since, trust = outside.since, outside.trust
    return Proofs(
        checkpoints=checkpoint_evidence(judged, unread, ground, trust),
        anchored=record.manifest if record else "",
        anchored_projection=str(record.projection) if record else "",
        witness=compare(ground, logs, since, trust, outside.pins) if since else None,
    )
