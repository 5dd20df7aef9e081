"""The trust ladder: the highest level that all the evidence supports, and why not the next."""

from syn.model.finding import InvariantResult, Level, Status, TrustRoot
from syn.model.report import CheckpointState, Subject
from syn.verify.evidence import Evidence, WitnessEvidence


def level_of(
    evidence: Evidence,
    results: tuple[InvariantResult, ...],
    subject: Subject,
    checkpoint: CheckpointState | None,
) -> tuple[Level, str]:
    """The level a run may claim and the reason why the next one is not reached.

    Any failure, and anything that could not be read, claims L0 (design 9).
    """
    broken = [r.id for r in results if r.status in (Status.FAIL, Status.INCOMPLETE)]
    if broken:
        return Level.L0, f"{', '.join(broken)} did not pass"
    steps = (
        (Level.L1, _audited(evidence, results)),
        (Level.L2, _chained(checkpoint)),
        (Level.L3, _witnessed(evidence, subject)),
        (Level.L4, _identified(evidence, results)),
    )
    reached = Level.L0
    for level, missing in steps:
        if missing:
            return reached, f"{level.name}: {missing}"
        reached = level
    return reached, ""


def trust_root_of(evidence: Evidence) -> TrustRoot:
    """Where the trust of this run comes from; nothing inside the repository counts."""
    witness = evidence.witness
    if witness is not None and witness.status == "consistent" and from_outside(witness):
        return "published-witness"
    if evidence.checkpoints.outside_key and evidence.checkpoints.state is not None:
        return "checkpoint-witnessed"
    return "local-only"


def from_outside(witness: WitnessEvidence) -> bool:
    """A key that the caller brought, a cosigner among them, or a commit pinned before this run."""
    return witness.outside_key or witness.cosigned or witness.pinned_commit


def _audited(evidence: Evidence, results: tuple[InvariantResult, ...]) -> str:
    if not evidence.ledger.entries:
        return "there is no ledger yet (syn adopt records the facts)"
    content = next((r for r in results if r.id == "INV-2"), None)
    return "" if content and content.status is Status.PASS else "INV-2 had nothing to check"


def _chained(checkpoint: CheckpointState | None) -> str:
    if checkpoint is None:
        return "no signed checkpoint covers the state (syn checkpoint)"
    if not checkpoint.authorized:
        return "the checkpoint is not signed by a publisher under the policy"
    return ""


def _witnessed(evidence: Evidence, subject: Subject) -> str:
    if subject.worktree == "dirty":
        return "the work tree differs from HEAD (commit, or verify --ref HEAD)"
    witness = evidence.witness
    if witness is None:
        return "no witness from outside the repository was given (--since W --trust KEY)"
    if witness.status != "consistent":
        return f"the witness is {witness.status}"
    if not from_outside(witness):
        return "the commit was not pinned before this run (syn witness pin)"
    return ""


def _identified(evidence: Evidence, results: tuple[InvariantResult, ...]) -> str:
    identity = next((r for r in results if r.id == "INV-9"), None)
    if evidence.identity is None or not evidence.identity.root or identity is None:
        return "no trust root for identities was given (--root COMMIT, or --since)"
    if not evidence.identity.pinned:
        return "the trust root for identities was not pinned before this run"
    if identity.status is not Status.PASS:
        return f"INV-9: {identity.summary}"
    return ""
