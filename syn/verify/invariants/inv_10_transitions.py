"""INV-10: every version of a fact in history was decided on, and every decision was allowed."""

from syn.verify.evidence import Evidence
from syn.verify.invariant import Checked, Invariant, plural


def _check(evidence: Evidence) -> Checked:
    transitions = evidence.transitions
    if transitions is None or not (transitions.facts or transitions.findings):
        return Checked("", {}, (), skip="no decision was made on any fact")
    accepted = len(transitions.acknowledged)
    listed = f", {accepted} acknowledged or expunged" if accepted else ""
    return Checked(
        summary=f"{plural(transitions.versions, 'version')} of "
        f"{plural(transitions.facts, 'fact')} in history{listed}",
        evidence={
            "facts": transitions.facts,
            "versions": transitions.versions,
            "acknowledged": accepted,
        },
        findings=(*transitions.findings, *transitions.acknowledged),
    )


INVARIANT = Invariant(
    number=10,
    title="transitions",
    integrity="B",
    when="deep",
    check=_check,
    explanation=(
        "From the first commit that holds a decision on a fact, every change of it along every "
        "parent edge is a path of decisions, each used once, or is named by an acknowledgement; "
        "and every decision was one that the fact's state allowed. So an edit that was committed "
        "and taken back is found. It says nothing of versions that were never committed, nor of "
        "history before the first decision; acknowledged and expunged versions stay listed."
    ),
)
