"""Reading somebody else's report, strictly (docs/formats/report.md, "Reading").

A document is accepted only when it says exactly what `to_json` would say of the value it was read
into, and when its parts do not contradict each other: a report that passes over an invariant that
fails is refused, whoever signed it.
"""

import re
from collections.abc import Callable, Iterator
from typing import get_args

from syn.canon.json import CanonError
from syn.model.config import Profile
from syn.model.finding import (
    Finding,
    IntegrityClass,
    InvariantResult,
    Json,
    Level,
    Severity,
    Status,
    TrustRoot,
    Verdict,
)
from syn.model.report import CheckpointState, Report, Subject
from syn.report.document import LOCAL_FINDINGS, SCHEMA, Document, signable, to_json
from syn.report.members import (
    ReportFormatError,
    choice,
    digest_or_none,
    exact,
    id_or_none,
    items,
    matching,
    members_of,
    natural,
    text,
)

_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?Z\Z")
_FINDING = ("code", "subject", "path", "line", "expected", "actual", "remedy", "severity")
_SUBJECT = (
    *("workspace", "name", "git_ref", "worktree", "inputs_hash", "evidence_hash"),
    *("object_format", "commit", "tree"),
)
_PREDICATE = (
    *("tool_version", "profile", "verdict", "level", "level_reason", "trust_root"),
    *("manifest_digest", "invariants", "checkpoint", "witness_status", "limits", "baseline"),
    *("local", "ts"),
)


def from_json(document: Document) -> Report:
    """The report that a document states; its signature is not looked at.

    Raises:
        ReportFormatError: a member is missing, unknown or of another shape; a text has another
            form than `to_json` gives it; the parts contradict each other.
    """
    top = exact(document, "report", ("schema", "subject", "predicate", "sig", "public_key"))
    if top["schema"] != SCHEMA:
        raise ReportFormatError("schema", f"expected {SCHEMA}, got {top['schema']!r:.80}")
    try:
        signable(document)
    except CanonError as error:
        raise ReportFormatError("report", error.message) from error
    subject = _subject(top["subject"])
    report = _report(subject, exact(top["predicate"], "predicate", _PREDICATE))
    unsigned = {**top, "sig": None, "public_key": None}
    if to_json(report) != unsigned:
        raise ReportFormatError("report", "expected the order and form that `to_json` gives it")
    for contradiction in contradictions(report):
        raise ReportFormatError("report", contradiction)
    return report


def signature(document: Document) -> tuple[str, str] | None:
    """The signature and public key a document carries, or None when it is unsigned.

    Raises:
        ReportFormatError: only one of the two is there, or one is no text.
    """
    sig, key = document.get("sig"), document.get("public_key")
    if sig is None and key is None:
        return None
    return text(sig, "sig"), text(key, "public_key")


def contradictions(report: Report) -> Iterator[str]:
    """Where the parts of a report do not go together; none in a report that `syn` made."""
    numbers = [int(result.id.removeprefix("INV-")) for result in report.invariants]
    if not numbers:
        yield "no invariant was checked"
    if numbers != sorted(set(numbers)):
        yield "the invariants are not in order"
    statuses = {result.status for result in report.invariants}
    if Status.FAIL in statuses and report.verdict != "fail":
        yield f"an invariant fails, and the verdict is {report.verdict}"
    if Status.INCOMPLETE in statuses and report.verdict == "pass":
        yield "an invariant is incomplete, and the verdict is pass"
    if report.verdict == "fail" and report.level is not Level.L0:
        yield f"the verdict is fail, and the level is {report.level.name}"
    for result in report.invariants:
        failures = [finding for finding in result.findings if finding.severity == "failure"]
        if failures and result.status is not Status.FAIL:
            yield f"{result.id} holds a failure, and its status is {result.status.value}"


def _report(subject: Subject, members: Document) -> Report:
    local = dict(members_of(members["local"], "predicate.local"))
    own = _own_findings(local.pop(LOCAL_FINDINGS, None))
    results = items(members["invariants"], "predicate.invariants", _invariant(own))
    known = {result.id for result in results}
    if stray := sorted(set(own) - known):
        raise ReportFormatError("predicate.local", f"findings of {stray[0]}, which was not checked")
    return Report(
        subject=subject,
        tool_version=text(members["tool_version"], "predicate.tool_version"),
        profile=choice(members["profile"], "predicate.profile", get_args(Profile)),
        verdict=choice(members["verdict"], "predicate.verdict", get_args(Verdict)),
        level=Level[choice(members["level"], "predicate.level", tuple(Level.__members__))],
        level_reason=text(members["level_reason"], "predicate.level_reason"),
        trust_root=choice(members["trust_root"], "predicate.trust_root", get_args(TrustRoot)),
        manifest_digest=digest_or_none(members["manifest_digest"], "predicate.manifest_digest"),
        invariants=results,
        ts=matching(members["ts"], "predicate.ts", _TIME),
        checkpoint=_checkpoint(members["checkpoint"]),
        witness_status=text(members["witness_status"], "predicate.witness_status"),
        limits=items(members["limits"], "predicate.limits", text),
        local=local,
        baseline=digest_or_none(members["baseline"], "predicate.baseline"),
    )


def _subject(value: Json) -> Subject:
    members = exact(value, "subject", _SUBJECT)
    commit = id_or_none(members["commit"], "subject.commit")
    tree = id_or_none(members["tree"], "subject.tree")
    if bool(commit) != bool(tree):
        raise ReportFormatError("subject", "expected both of commit and tree, or neither")
    return Subject(
        workspace=text(members["workspace"], "subject.workspace"),
        name=text(members["name"], "subject.name"),
        git_ref=text(members["git_ref"], "subject.git_ref"),
        worktree=choice(members["worktree"], "subject.worktree", ("clean", "dirty", "none")),
        inputs_hash=digest_or_none(members["inputs_hash"], "subject.inputs_hash"),
        evidence_hash=digest_or_none(members["evidence_hash"], "subject.evidence_hash"),
        commit=commit,
        tree=tree,
        object_format=choice(members["object_format"], "subject.object_format", ("sha1",)),
    )


def _checkpoint(value: Json) -> CheckpointState | None:
    if value is None:
        return None
    where = "predicate.checkpoint"
    names = ("origin", "size", "root", "key", "commit", "unanchored", "authorized")
    members = exact(value, where, names)
    authorized = members["authorized"]
    if not isinstance(authorized, bool):
        raise ReportFormatError(f"{where}.authorized", "expected true or false")
    return CheckpointState(
        origin=text(members["origin"], f"{where}.origin"),
        size=natural(members["size"], f"{where}.size"),
        root=digest_or_none(members["root"], f"{where}.root"),
        key=text(members["key"], f"{where}.key"),
        commit=id_or_none(members["commit"], f"{where}.commit"),
        unanchored=natural(members["unanchored"], f"{where}.unanchored"),
        authorized=authorized,
    )


def _invariant(
    own: dict[str, tuple[Finding, ...]],
) -> Callable[[Json, str], InvariantResult]:
    names = ("id", "title", "class", "status", "summary", "evidence", "findings")

    def read(value: Json, where: str) -> InvariantResult:
        members = exact(value, where, names)
        statuses = tuple(status.value for status in Status)
        number = matching(members["id"], f"{where}.id", re.compile(r"INV-[1-9]\d{0,2}\Z"))
        findings = items(members["findings"], f"{where}.findings", _finding)
        return InvariantResult(
            id=number,
            title=text(members["title"], f"{where}.title"),
            integrity=choice(members["class"], f"{where}.class", get_args(IntegrityClass)),
            status=Status(choice(members["status"], f"{where}.status", statuses)),
            summary=text(members["summary"], f"{where}.summary"),
            evidence=members_of(members["evidence"], f"{where}.evidence"),
            findings=findings + own.get(number, ()),
        )

    return read


def _own_findings(value: Json) -> dict[str, tuple[Finding, ...]]:
    where = f"predicate.local.{LOCAL_FINDINGS}"
    grouped: dict[str, tuple[Finding, ...]] = {}
    for item in items(value, where, members_of):
        number = text(item.get("invariant"), f"{where}.invariant")
        rest = {name: inner for name, inner in item.items() if name != "invariant"}
        grouped[number] = (*grouped.get(number, ()), _finding(rest, where, local=True))
    return grouped


def _finding(value: Json, where: str, *, local: bool = False) -> Finding:
    members = exact(value, where, _FINDING)
    return Finding(
        code=text(members["code"], f"{where}.code"),
        subject=text(members["subject"], f"{where}.subject"),
        path=text(members["path"], f"{where}.path"),
        line=natural(members["line"], f"{where}.line"),
        expected=text(members["expected"], f"{where}.expected"),
        actual=text(members["actual"], f"{where}.actual"),
        remedy=text(members["remedy"], f"{where}.remedy"),
        severity=choice(members["severity"], f"{where}.severity", get_args(Severity)),
        local=local,
    )
