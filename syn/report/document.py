"""The JSON form of a report, `synapse.verify-report/1` (docs/formats/report.md).

Three byte strings come from one document: what is printed, what is signed (`signable`: without the
signature), and what two machines must agree on (`comparable`: without what holds on one machine, at
one moment or for one way of asking only).
"""

from collections.abc import Iterable, Mapping

from syn.canon.json import encode
from syn.model.finding import Finding, InvariantResult, Json
from syn.model.report import CheckpointState, Report, Subject
from syn.report.escape import encodable

SCHEMA = "synapse.verify-report/1"
LOCAL_FINDINGS = "findings"
"""The member of `local` that holds the findings of this machine; reserved for them."""

Document = dict[str, Json]


def to_json(report: Report) -> Document:
    """The unsigned document. Every member is always there; `sig` and `public_key` are null."""
    return {
        "schema": SCHEMA,
        "subject": _subject(report.subject),
        "predicate": _predicate(report),
        "sig": None,
        "public_key": None,
    }


def signed(document: Document, sig: str, public_key: str) -> Document:
    """The document with its signature.

    Args:
        document: as `to_json` gives it.
        sig: base64 of the 64-byte Ed25519 signature over `signable(document)`.
        public_key: the OpenSSH public key line of the signer, without a comment; a hint that
            verifiers do not trust.
    """
    return {**document, "sig": sig, "public_key": public_key}


def signable(document: Document) -> bytes:
    """The canonical bytes that are signed: the document without `sig` and `public_key`."""
    return encode({k: v for k, v in document.items() if k not in ("sig", "public_key")})


def comparable(document: Document) -> bytes:
    """The canonical bytes on which every machine agrees for the same commit and the same tool.

    Left out: the signature, `predicate.local`, `predicate.ts`, `subject.git_ref` and
    `subject.worktree`.
    """
    subject, predicate = document["subject"], document["predicate"]
    if not isinstance(subject, dict) or not isinstance(predicate, dict):
        raise TypeError("expected a document that `to_json` gave or `from_json` accepted")
    return encode(
        {
            "schema": document["schema"],
            "subject": {k: v for k, v in subject.items() if k not in ("git_ref", "worktree")},
            "predicate": {k: v for k, v in predicate.items() if k not in ("local", "ts")},
        }
    )


def finding_json(finding: Finding) -> Document:
    """One finding; text that cannot be encoded is escaped, nothing else is changed."""
    return {
        "code": finding.code,
        "subject": encodable(finding.subject),
        "path": encodable(finding.path),
        "line": finding.line,
        "expected": encodable(finding.expected),
        "actual": encodable(finding.actual),
        "remedy": encodable(finding.remedy),
        "severity": finding.severity,
    }


def _subject(subject: Subject) -> Document:
    return {
        "workspace": subject.workspace,
        "name": encodable(subject.name),
        "git_ref": encodable(subject.git_ref),
        "worktree": subject.worktree,
        "inputs_hash": subject.inputs_hash,
        "evidence_hash": subject.evidence_hash,
        "object_format": subject.object_format,
        "commit": subject.commit,
        "tree": subject.tree,
    }


def _predicate(report: Report) -> Document:
    return {
        "tool_version": report.tool_version,
        "profile": report.profile,
        "verdict": report.verdict,
        "level": report.level.name,
        "level_reason": encodable(report.level_reason),
        "trust_root": report.trust_root,
        "manifest_digest": report.manifest_digest,
        "invariants": [_invariant(result) for result in report.invariants],
        "checkpoint": None if report.checkpoint is None else _checkpoint(report.checkpoint),
        "witness_status": report.witness_status,
        "limits": [encodable(limit) for limit in report.limits],
        "baseline": report.baseline,
        "local": {**_encodable_members(report.local), LOCAL_FINDINGS: _local_findings(report)},
        "ts": report.ts,
    }


def _invariant(result: InvariantResult) -> Document:
    return {
        "id": result.id,
        "title": result.title,
        "class": result.integrity,
        "status": result.status.value,
        "summary": encodable(result.summary),
        "evidence": _encodable_members(result.evidence),
        "findings": [*_findings(f for f in result.findings if not f.local)],
    }


def _findings(findings: Iterable[Finding]) -> list[Document]:
    return [finding_json(finding) for finding in sorted(findings, key=_order)]


def _order(finding: Finding) -> tuple[str, int, str, str, str, str, str, str]:
    """The order of findings as they are written; two that differ never tie."""
    return (
        encodable(finding.path),
        finding.line,
        finding.code,
        encodable(finding.subject),
        encodable(finding.expected),
        encodable(finding.actual),
        encodable(finding.remedy),
        finding.severity,
    )


def _local_findings(report: Report) -> list[Json]:
    return [
        {"invariant": result.id, **finding}
        for result in report.invariants
        for finding in _findings(f for f in result.findings if f.local)
    ]


def _checkpoint(state: CheckpointState) -> Document:
    return {
        "origin": encodable(state.origin),
        "size": state.size,
        "root": state.root,
        "key": state.key,
        "commit": state.commit,
        "unanchored": state.unanchored,
        "authorized": state.authorized,
    }


def _encodable(value: Json) -> Json:
    match value:
        case str():
            return encodable(value)
        case list():
            return [_encodable(item) for item in value]
        case dict():
            return _encodable_members(value)
        case _:
            return value


def _encodable_members(members: Mapping[str, Json]) -> Document:
    return {key: _encodable(value) for key, value in members.items()}
