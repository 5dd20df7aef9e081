"""`syn report verify`: somebody else's report, under a key from outside, about this very commit."""

from collections.abc import Iterator
from dataclasses import dataclass

from syn.canon import base64, statement
from syn.errors import RefusedError
from syn.keys.public import PublicKey
from syn.keys.sshsig import NAMESPACE_REPORT
from syn.keys.trust import Trust
from syn.model.finding import Finding, InvariantResult, Json, Level, Verdict
from syn.model.report import Report
from syn.report import vsa
from syn.report.document import Document, finding_json
from syn.report.members import load
from syn.report.seal import open_report, open_summary
from syn.services.proving.verifying import Request, verify
from syn.services.recall.indexing import Progress
from syn.services.workspace import Workspace
from syn.verify.registry import all_invariants


class SubjectError(RefusedError):
    """A genuine report of something else (`report-workspace`, `report-subject`)."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What a report or a summary says, under a trusted key."""

    kind: str
    """`report` or `vsa`."""
    verdict: Verdict
    level: Level
    workspace: str
    commit: str
    signers: tuple[PublicKey, ...]
    report: Report | None = None
    """None for a summary."""


def read_stated(data: bytes, trust: Trust, verifier: str, resource: str) -> Stated:
    """Open a report, an envelope with a report, or a verification summary.

    Args:
        data: the file.
        trust: keys from outside the repository.
        verifier: the `verifier.id` that a summary has to name.
        resource: the `resourceUri` that it has to name; "" takes any workspace's own.

    Raises:
        SynError: it is none of these, or not under a trusted key, or of another verifier.
    """
    keys = trust.for_namespace(NAMESPACE_REPORT)
    if _is_summary(data):
        return _summary(data, keys, verifier, resource)
    opened = open_report(data, keys)
    subject = opened.report.subject
    return Stated(
        "report",
        opened.report.verdict,
        opened.report.level,
        subject.workspace,
        subject.commit,
        opened.signers,
        opened.report,
    )


def _is_summary(data: bytes) -> bool:
    """Which reader to take; decides nothing else, since nothing is verified yet."""
    document = load(data)
    encoded = document.get("payload")
    payload = base64.decode_either(encoded) if isinstance(encoded, str) else None
    if payload is None:
        return False
    return statement.parse(payload).predicate_type == vsa.PREDICATE_TYPE


def _summary(data: bytes, keys: tuple[PublicKey, ...], verifier: str, resource: str) -> Stated:
    payload = base64.decode_either(str(load(data)["payload"])) or b""
    named = str(statement.parse(payload).predicate.get("resourceUri", ""))
    opened = open_summary(data, keys, verifier=verifier, resource=resource or named)
    summary = opened.summary
    commits = [hex_ for s in summary.subjects for name, hex_ in s.digest if name == "gitCommit"]
    levels = [int(text[-1]) for text in summary.levels if text.startswith("SYNAPSE_LEVEL_")]
    return Stated(
        "vsa",
        "pass" if summary.passed else "fail",
        Level(max(levels, default=0)),
        summary.resource.removeprefix("urn:uuid:"),
        commits[0] if commits else "",
        opened.signers,
    )


def expect_subject(stated: Stated, workspace: Workspace, commit: str) -> None:
    """Refuse a genuine report of another workspace, or of another commit (a replay).

    Raises:
        SubjectError: it is one.
    """
    if stated.workspace != workspace.config.id:
        raise SubjectError(
            "report-workspace",
            f"expected a report of {workspace.config.id}, got one of {stated.workspace}",
            "run it in the workspace that the report is of, or outside of any",
        )
    if stated.commit != commit:
        raise SubjectError(
            "report-subject",
            f"expected a report of commit {commit}, got one of {stated.commit or 'no commit'}",
            f"--ref {stated.commit or 'COMMIT'} says that an older one is meant",
        )


@dataclass(frozen=True, slots=True)
class Recheck:
    """The same question asked here."""

    report: Report
    differences: tuple[Document, ...]
    """What the given report says otherwise: `{"what", "expected", "actual"}`, expected being what
    was found here."""
    skipped: tuple[str, ...]
    """Invariants of the given report that were not asked here."""


def recheck(
    workspace: Workspace, given: Report, request: Request, progress: Progress | None = None
) -> Recheck:
    """Verify the report's commit here and compare what both say of it.

    Args:
        workspace: a clone that holds the commit.
        given: the report.
        request: how to ask; its `outside` decides whether INV-9 and INV-12 can be asked again.
        progress: told how far it is.
    """
    own = verify(workspace, request, progress=progress)
    mine = {result.id: result for result in own.invariants}
    differences: list[Document] = [*_members(given, own)]
    for result in given.invariants:
        if result.id in mine:
            differences += _invariant(result, mine[result.id])
    skipped = tuple(result.id for result in given.invariants if result.id not in mine)
    return Recheck(own, tuple(differences), skipped)


def was_deep(report: Report) -> bool:
    """Whether a report comes from a `--deep` run: it holds an invariant that only those ask."""
    deep = {invariant.id for invariant in all_invariants() if invariant.when == "deep"}
    return any(result.id in deep for result in report.invariants)


def _members(given: Report, own: Report) -> Iterator[Document]:
    pairs = (
        ("inputs_hash", own.subject.inputs_hash, given.subject.inputs_hash),
        ("evidence_hash", own.subject.evidence_hash, given.subject.evidence_hash),
        ("tree", own.subject.tree, given.subject.tree),
        ("manifest_digest", own.manifest_digest, given.manifest_digest),
    )
    for name, expected, actual in pairs:
        if expected != actual:
            yield {"what": name, "expected": expected, "actual": actual}


def _invariant(given: InvariantResult, own: InvariantResult) -> Iterator[Document]:
    """Status and findings; what holds on one machine only is left out on both sides."""
    local = any(finding.local for finding in (*given.findings, *own.findings))
    if given.status is not own.status and not local:
        yield {"what": given.id, "expected": own.status.value, "actual": given.status.value}
    mine, theirs = _comparable(own.findings), _comparable(given.findings)
    if mine != theirs:
        yield {"what": f"{given.id} findings", "expected": mine, "actual": theirs}


def _comparable(findings: tuple[Finding, ...]) -> list[Json]:
    found = sorted((f for f in findings if not f.local), key=Finding.sort_key)
    return [finding_json(finding) for finding in found]
