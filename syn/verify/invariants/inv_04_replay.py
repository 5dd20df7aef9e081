"""INV-4: the journal gives one state, in whatever order independent decisions are replayed."""

from syn.model.finding import Finding
from syn.verify.evidence import Evidence, ReplayEvidence
from syn.verify.invariant import Checked, Invariant, plural


def _check(evidence: Evidence) -> Checked:
    replay = evidence.replay
    if replay is None or not replay.entries:
        return Checked("", {}, (), skip="there is no decision to replay")
    if replay.unordered:
        return _without_order(replay)
    findings = [
        Finding(
            code="replay-diverges",
            subject=fact,
            expected="one state, whatever the order of independent decisions",
            actual="another state in another legal order",
            remedy="this is a fault of syn or of its ledger reader: please report it",
        )
        for fact in replay.diverging
    ]
    if len(replay.digests) > 1:
        findings.append(
            Finding(
                code="replay-digests",
                subject="ledger",
                expected=replay.digests[0],
                actual=", ".join(replay.digests[1:]),
                remedy="this is a fault of syn or of its ledger reader: please report it",
            )
        )
    return Checked(
        summary=f"{plural(replay.entries, 'decision')} replayed in "
        f"{plural(replay.orders, 'legal order')}: {replay.digests[0][:19]}…",
        evidence={
            "entries": replay.entries,
            "orders": replay.orders,
            "state": replay.digests[0],
        },
        findings=tuple(findings),
    )


def _without_order(replay: ReplayEvidence) -> Checked:
    findings = tuple(
        Finding(
            code="no-legal-order",
            subject=writer,
            path=f".synapse/ledger/{writer}",
            expected="entries that can be put one after the other",
            actual="two histories that contradict each other",
            remedy="INV-3 names the entries; restore the segments from git",
            severity="unknown",
        )
        for writer in replay.unordered
    )
    summary = f"{plural(replay.entries, 'decision')} have no legal order"
    return Checked(summary, {"entries": replay.entries, "orders": 0}, findings)


INVARIANT = Invariant(
    number=4,
    title="replay determinism",
    integrity="B",
    when="deep",
    check=_check,
    explanation=(
        "The decisions are replayed one by one into a scratch state, by a second implementation, "
        "in different orders that all respect `prev`, `after` and `names`; every order gives the "
        "state that is derived from all of them at once. It proves that the state depends on the "
        "decisions alone. It does not prove that the decisions are all there (INV-3, INV-12), nor "
        "that the facts are theirs (INV-2)."
    ),
)
