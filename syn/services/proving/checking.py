"""Verify as both doors offer it: a bounded answer, no file named by the caller."""

from typing import TYPE_CHECKING

from syn.report.document import to_json
from syn.services.proving.verifying import Request
from syn.services.proving.verifying import verify as prove
from syn.services.recall.answers import Answer
from syn.services.workspace import Workspace

if TYPE_CHECKING:
    from syn.model.finding import Json

MAX_FINDINGS = 200


def verify(workspace: Workspace, *, deep: bool, limit: int) -> Answer:
    """The report of `syn verify --json`, with at most `limit` findings; says when some are cut.

    What comes from outside the repository (`--since`, `--trust`) is files of the person's, which
    no tool names: an agent cannot choose what it is held against.
    """
    report = to_json(prove(workspace, Request(deep=deep)))
    return _shortened(report, max(0, min(limit, MAX_FINDINGS)))


def _shortened(report: Answer, room: int) -> Answer:
    predicate = report["predicate"]
    assert isinstance(predicate, dict)  # noqa: S101 - a report has one
    invariants = predicate["invariants"]
    assert isinstance(invariants, list)  # noqa: S101 - a report has them
    shown: list[Json] = []
    cut = False
    for item in invariants:
        assert isinstance(item, dict)  # noqa: S101 - each is an object
        findings = item.get("findings")
        found = findings if isinstance(findings, list) else []
        cut = cut or len(found) > room
        shown.append({**item, "findings": found[:room]})
        room -= min(room, len(found))
    answer: Answer = {**report, "predicate": {**predicate, "invariants": shown}}
    return {**answer, "truncated": True} if cut else answer
