"""What `syn image` answers, as JSON objects."""

from collections.abc import Iterable

from syn.images.parity import Parity, Replica
from syn.images.plan import Step
from syn.images.report import finding_json, report_json
from syn.images.scrub import ScrubResult
from syn.model.finding import Json


def step_json(step: Step) -> dict[str, Json]:
    """A step of a plan as JSON."""
    return {
        "action": step.action,
        "subject": step.subject,
        "code": step.code,
        "detail": step.detail,
    }


def scrub_json(result: ScrubResult) -> dict[str, Json]:
    """A scrub as one JSON object."""
    return {
        "report": report_json(result.report),
        "transient": [finding_json(finding) for finding in result.transient],
        "steps": [step_json(step) for step in result.steps],
        "after": report_json(result.after) if result.after is not None else None,
    }


def parity_json(rows: Iterable[Parity]) -> dict[str, Json]:
    """A parity audit as a list object."""
    items: list[Json] = [
        {
            "id": row.resource,
            "outcome": row.outcome,
            "authoritative": _replica_json(row.authoritative),
            "against": [_replica_json(other) for other in row.against],
            "witness_protected": row.protected,
        }
        for row in rows
    ]
    return {"items": items, "total": len(items), "next": None}


def _replica_json(row: Replica | None) -> Json:
    if row is None:
        return None
    return {
        "image": row.copy,
        "page": row.position,
        "digest": row.digest,
        "sound": row.sound,
        "served": row.served,
    }
