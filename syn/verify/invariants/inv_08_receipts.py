"""INV-8: every stored receipt still proves what it says, and agrees with the ledger."""

from syn.verify.evidence import Evidence
from syn.verify.invariant import Checked, Invariant, plural


def _check(evidence: Evidence) -> Checked:
    receipts = evidence.receipts
    return Checked(
        summary=f"{plural(receipts.count, 'receipt')} verified and agree with the ledger",
        evidence={"receipts": receipts.count},
        findings=receipts.findings,
        skip=""
        if receipts.count or receipts.findings
        else "nothing to check: no receipt was issued",
    )


INVARIANT = Invariant(
    number=8,
    title="receipts",
    integrity="A",
    when="default",
    check=_check,
    explanation=(
        "Every stored receipt is the one that a decision recorded, its proofs hold up to a "
        "checkpoint that a publisher of the policy signed, and its decision and head record are "
        "those in the ledger and in the log. A receipt says what held at its checkpoint, not what "
        "holds now."
    ),
)
