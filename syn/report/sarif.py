"""A report as SARIF 2.1.0, for code review (OASIS SARIF v2.1.0, docs/formats/report.md).

One rule per finding code, one result per finding. A finding without a file stands on
`synapse.toml`, since viewers need a file; one without a line stands on line 1.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import count
from urllib.parse import quote

from syn.canon.digest import tagged_json
from syn.model.finding import Finding, InvariantResult, Json, Severity, Status
from syn.model.report import Report
from syn.report.document import Document
from syn.report.escape import encodable, printable

SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
FINGERPRINT = "synapseFinding/v1"
NO_FILE = "synapse.toml"

_LEVEL: dict[Severity, str] = {"failure": "error", "warning": "warning", "unknown": "none"}
_BRACKET = re.compile(r"(\\*)([\[\]])")
_KIND: dict[Severity, str] = {"failure": "fail", "warning": "fail", "unknown": "open"}


def to_sarif(report: Report) -> Document:
    """The log with its one run."""
    found = [(result, f) for result in report.invariants for f in _ordered(result)]
    codes = sorted({finding.code for _, finding in found})
    numbers = {code: n for n, code in enumerate(codes)}
    marks = _fingerprints([finding for _, finding in found])
    run: Document = {
        "tool": {"driver": _driver(report, found, codes)},
        "columnKind": "unicodeCodePoints",
        "automationDetails": {"id": "syn-verify/"},
        "invocations": [_invocation(report)],
        "results": [
            _result(result, finding, numbers[finding.code], mark)
            for (result, finding), mark in zip(found, marks, strict=True)
        ],
        "properties": {
            "verdict": report.verdict,
            "level": report.level.name,
            "trustRoot": report.trust_root,
            "manifestDigest": report.manifest_digest,
        },
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _driver(
    report: Report, found: Sequence[tuple[InvariantResult, Finding]], codes: Sequence[str]
) -> Document:
    return {
        "name": "syn",
        "fullName": "Synapse verify",
        "semanticVersion": report.tool_version,
        "rules": [_rule(code, [pair for pair in found if pair[1].code == code]) for code in codes],
    }


def _rule(code: str, found: Sequence[tuple[InvariantResult, Finding]]) -> Document:
    invariants = sorted({(result.id, result.title) for result, _ in found})
    failure = any(finding.severity == "failure" for _, finding in found)
    named = ", ".join(f"{number} {title}" for number, title in invariants)
    tags: list[Json] = [number for number, _ in invariants]
    return {
        "id": code,
        "shortDescription": {"text": _message(code.replace("-", " "))},
        "fullDescription": {"text": _message(f"{code.replace('-', ' ')} ({named})")},
        "defaultConfiguration": {"level": "error" if failure else "warning"},
        "properties": {"tags": tags},
    }


def _result(result: InvariantResult, finding: Finding, number: int, mark: str) -> Document:
    location: Document = {
        "physicalLocation": {
            "artifactLocation": {"uri": _uri(finding.path or NO_FILE), "uriBaseId": "%SRCROOT%"},
            "region": {"startLine": max(finding.line, 1)},
        }
    }
    if finding.subject:
        location["logicalLocations"] = [{"fullyQualifiedName": encodable(finding.subject)}]
    return {
        "ruleId": finding.code,
        "ruleIndex": number,
        "kind": _KIND[finding.severity],
        "level": _LEVEL[finding.severity],
        "message": {"text": _message(sentence(result, finding))},
        "locations": [location],
        "partialFingerprints": {FINGERPRINT: mark},
        "properties": {"invariant": result.id, "local": finding.local},
    }


def sentence(result: InvariantResult, finding: Finding) -> str:
    """A finding as one line: what, about whom, expected, actual, remedy."""
    parts = [f"{result.id} {finding.code}"]
    if finding.subject:
        parts.append(f": {finding.subject}")
    if finding.expected:
        parts.append(f"; expected {finding.expected}")
    if finding.actual:
        parts.append(f"; actual {finding.actual}")
    if finding.remedy:
        parts.append(f"; remedy: {finding.remedy}")
    return "".join(parts)


def _invocation(report: Report) -> Document:
    notes: list[Json] = [
        {
            "level": "error",
            "descriptor": {"id": result.id},
            "message": {"text": _message(f"{result.id} {result.title}: {result.summary}")},
        }
        for result in report.invariants
        if result.status is Status.INCOMPLETE
    ]
    return {
        "executionSuccessful": report.verdict != "incomplete",
        "endTimeUtc": report.ts,
        "toolExecutionNotifications": notes,
    }


def _ordered(result: InvariantResult) -> Iterator[Finding]:
    return iter(sorted(result.findings, key=Finding.sort_key))


def _fingerprints(findings: Sequence[Finding]) -> list[str]:
    """What stays the same when a line moves: code, subject, path, and which of the equal ones."""
    seen: dict[tuple[str, str, str], count[int]] = {}
    marks = []
    for finding in findings:
        key = (finding.code, encodable(finding.subject), encodable(finding.path))
        nth = next(seen.setdefault(key, count(1)))
        marks.append(tagged_json("finding/1", [*key, nth]).removeprefix("sha256:"))
    return marks


def _message(line: str) -> str:
    """Text in which nothing is a placeholder (SARIF 3.11.5) or a link (3.11.6)."""
    shown = _BRACKET.sub(r"\1\1\\\2", printable(line))
    return shown.replace("{", "{{").replace("}", "}}")


def _uri(path: str) -> str:
    return quote(encodable(path), safe="/")
