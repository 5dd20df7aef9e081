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
from syn.services.head_record import facts_root
from syn.verify.evidence import CheckpointEvidence, IndexEvidence


@dataclass(frozen=True, slots=True)
class Proofs:
    """The evidence that rests on signatures and history."""

    checkpoints: CheckpointEvidence
    anchored: str
    """Manifest digest in the newest signed record over exactly these inputs, or ""."""
    anchored_projection: str

    def anchor(self, index: IndexEvidence) -> IndexEvidence:
        """INV-1's evidence with the manifest that a checkpoint names."""
        return replace(index, anchored=self.anchored, anchored_projection=self.anchored_projection)


def collect_proofs(
    repository: Repository, head: str, done: Pass, trust: Trust | None, *, deep: bool
) -> Proofs:
    """Judge what is signed in a snapshot whose commit (or whose work tree's HEAD) is `head`."""
    reading = done.reading
    ground = ground_of(repository, head, reading, deep=deep)
    judged, unread = judge_all(reading, ground)
    record = anchor(judged, done.inputs_hash)
    if record is not None and record.projection == PROJECTION:
        unread += roots_fault(judged, done.inputs_hash, facts_root(done))
    return Proofs(
        checkpoints=checkpoint_evidence(judged, unread, ground, trust),
        anchored=record.manifest if record else "",
        anchored_projection=str(record.projection) if record else "",
    )
