"""The ledger by itself: is every chain whole, what was decided, and does replaying it agree."""

from syn.ledger.legality import legality_faults
from syn.ledger.replay import replay
from syn.model.finding import Finding, Json
from syn.report.document import finding_json
from syn.services.recall.answers import Answer
from syn.services.recall.indexing import read_workspace
from syn.services.workspace import Workspace


def audit_verify(workspace: Workspace, ref: str = "") -> Answer:
    """Check every segment and every reference between entries; nothing but the ledger is read.

    The answer's `verdict` is `pass`, `fail` or `incomplete`, as for `syn verify`.
    """
    view = read_workspace(workspace, ref).ledger
    entries = list(view.ledger.entries())
    found = [*view.findings, *(fault.finding() for fault in legality_faults(entries))]
    found.sort(key=Finding.sort_key)
    return {
        "verdict": _verdict(found),
        "writers": [
            {"writer": c.writer, "entries": c.tail.length, "head": c.tail.head, "torn": c.torn}
            for c in view.ledger.chains
        ],
        "entries": len(entries),
        "findings": [finding_json(finding) for finding in found],
    }


def _verdict(findings: list[Finding]) -> str:
    severities = {finding.severity for finding in findings}
    if "failure" in severities:
        return "fail"
    return "incomplete" if "unknown" in severities else "pass"


def audit_replay(workspace: Workspace, ref: str = "") -> Answer:
    """Replay the journal in several legal orders and compare what they add up to.

    It shows that the state depends on the entries alone, not that the entries are true or all
    there.
    """
    view = read_workspace(workspace, ref).ledger
    entries = list(view.ledger.entries())
    done = replay(entries, view.recorded)
    diverging: list[Json] = list(done.diverging)
    unordered: list[Json] = list(done.unordered)
    return {
        "verdict": "fail" if diverging else "incomplete" if unordered else "pass",
        "entries": done.entries,
        "orders": done.orders,
        "digest": done.digest,
        "diverging": diverging,
        "unordered": unordered,
    }
