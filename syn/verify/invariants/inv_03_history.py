"""INV-3: the record of decisions was not reordered, cut or rewritten."""

from syn.model.finding import Finding
from syn.verify.evidence import Evidence
from syn.verify.invariant import Checked, Invariant, plural


def _check(evidence: Evidence) -> Checked:
    ledger, growth, checkpoints = evidence.ledger, evidence.growth, evidence.checkpoints
    unread = tuple(
        Finding(
            code=item.code,
            subject=item.what,
            expected="evidence that can be read",
            actual=item.message,
            remedy=item.remedy,
            severity="failure" if item.wrong else "unknown",
        )
        for item in evidence.unread
    )
    nothing = not ledger.entries and not checkpoints.count
    return Checked(
        summary=(
            f"{plural(ledger.entries, 'decision')} by {plural(ledger.writers, 'writer')} chained, "
            f"{plural(growth.edges, 'parent edge')} only grew, "
            f"{plural(checkpoints.count, 'checkpoint')}, {checkpoints.unanchored:,} unanchored"
        ),
        evidence={
            "entries": ledger.entries,
            "writers": ledger.writers,
            "edges": growth.edges,
            "every_edge": growth.complete,
            "checkpoints": checkpoints.count,
            "unanchored": checkpoints.unanchored,
        },
        findings=(*ledger.findings, *growth.findings, *checkpoints.findings, *unread),
        skip="there is no decision yet" if nothing else "",
    )


INVARIANT = Invariant(
    number=3,
    title="history",
    integrity="B",
    when="default",
    check=_check,
    explanation=(
        "Every segment is well-formed and hash-chained, its clock does not matter, and along "
        "parent edges and from HEAD to the work tree the ledger, the head records, the policy's "
        "history and the receipts only grow; checkpoint signatures hold. Whoever can rewrite the "
        "whole history and its checkpoints can make another one that holds as well: only a witness "
        "kept elsewhere (`--since`) tells."
    ),
)
