"""What a verification leaves behind in files: reports, summaries, evidence."""

from syn.canon import json as canonical
from syn.model.report import Report

EVIDENCE = "synapse.evidence/1"
"""Schema of the file that `--evidence` writes."""


def evidence_bundle(report: Report) -> bytes:
    """Both sides of a comparison with a witness, as canonical JSON that ends in LF.

    It holds both notes and both records as they are, so that anybody can check the signatures
    and see that they contradict each other.
    """
    compared = next(item for item in report.invariants if item.id == "INV-12")
    return (
        canonical.encode(
            {
                "schema": EVIDENCE,
                "workspace": report.subject.workspace,
                "status": report.witness_status,
                "comparison": compared.evidence,
                "findings": [
                    {
                        "code": f.code,
                        "subject": f.subject,
                        "expected": f.expected,
                        "actual": f.actual,
                    }
                    for f in compared.findings
                    if not f.local
                ],
            }
        )
        + b"\n"
    )
