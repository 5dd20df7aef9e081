"""INV-12: today's history is an append-only extension of what somebody outside saw."""

from syn.model.finding import Finding
from syn.verify.evidence import Evidence, WitnessEvidence
from syn.verify.invariant import Checked, Invariant


def _check(evidence: Evidence) -> Checked:
    witness = evidence.witness
    if witness is None:
        raise RuntimeError("INV-12 runs only where a witness was given")
    return Checked(
        summary=_summary(witness),
        evidence={"status": witness.status, **witness.detail},
        findings=(*witness.findings, *_unsaid(witness)),
    )


_WORDS = {
    "cannot-tell": "whether history extends the witness cannot be told",
    "behind": "history ends before the witness: it was cut back, or is not up to date",
    "other-workspace": "the witness is of another workspace",
}


def _summary(witness: WitnessEvidence) -> str:
    if witness.status != "consistent":
        unlike = f"history is no extension of the witness: {witness.status}"
        return _WORDS.get(witness.status, unlike)
    if witness.outside_key or witness.cosigned:
        return "every log, commit and decision of the witness is still there, in place"
    pinned = "was pinned" if witness.pinned_commit else "nobody pinned"
    return f"history descends from that commit, which {pinned} before this run"


def _unsaid(witness: WitnessEvidence) -> tuple[Finding, ...]:
    """A status that is no pass never passes, even if nobody said why."""
    if witness.status == "consistent" or witness.findings:
        return ()
    return (
        Finding(
            code="witness-unexplained",
            subject=witness.given,
            expected="consistent",
            actual=witness.status,
            remedy="report it: syn should have said why",
        ),
    )


INVARIANT = Invariant(
    number=12,
    title="consistency",
    integrity="B",
    when="since",
    check=_check,
    explanation=(
        "Today's log of head records, git history and every writer's chain extend those of a "
        "witness that is kept outside the repository, by computing alone, without a network. It "
        "proves nothing about what happened before the witness, and nothing about a publisher who "
        "shows two people two histories, unless those two compare witnesses."
    ),
)
