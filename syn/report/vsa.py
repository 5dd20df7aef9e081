"""A verification summary, SLSA VSA v1 (https://slsa.dev/verification_summary/v1), for `--vsa`.

It says PASSED with the level reached, or FAILED. There is no third word in that format, so a run
that could not check everything gives none: "could not read" is neither a pass nor an accusation.
The levels are `SYNAPSE_LEVEL_0` to `_4`; names that begin with `SLSA_` are not ours to give.
"""

from dataclasses import dataclass

from syn.canon import statement as intoto
from syn.canon.digest import sha256
from syn.canon.statement import Statement, Subject
from syn.errors import CannotError
from syn.model.finding import Json, Level
from syn.model.report import Report
from syn.report import statement as report_statement
from syn.report.members import ReportFormatError, choice, items, members_of, text
from syn.report.statement import StatementMismatchError

PREDICATE_TYPE = "https://slsa.dev/verification_summary/v1"
VERIFIER = "synapse:verify"
"""The `verifier.id` where the caller names no other; consumers bind it to a key."""
_FAILED = "FAILED"


class NoSummaryError(CannotError):
    """A run that could not check everything has no summary."""

    def __init__(self) -> None:
        super().__init__(
            "incomplete",
            "expected a pass or a failure to summarise, got an incomplete run",
            "use --report, which can say incomplete, or make the evidence readable",
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """What somebody's verification summary claims."""

    subjects: tuple[Subject, ...]
    verifier: str
    resource: str
    time_verified: str
    policy: str
    passed: bool
    levels: tuple[str, ...]


def of_report(
    report: Report, *, verifier: str = VERIFIER, resource: str = "", required: Level | None = None
) -> Statement:
    """The summary of a run.

    Args:
        report: the run.
        verifier: URI of the verifier, which consumers bind to the signing key.
        resource: URI of the workspace; `urn:uuid:<id>` when it is empty.
        required: the level that was asked for; a pass below it is summarised as FAILED.

    Raises:
        NoSummaryError: the run is incomplete.
        NoCommitError: no commit holds exactly what was checked.
    """
    if report.verdict == "incomplete":
        raise NoSummaryError
    subjects = report_statement.subjects(report)
    enough = required is None or report.level.value >= required.value
    passed = report.verdict == "pass" and enough
    level = f"SYNAPSE_LEVEL_{report.level.value}" if passed else _FAILED
    predicate: dict[str, Json] = {
        "verifier": {"id": verifier, "version": {"syn": report.tool_version}},
        "timeVerified": report.ts,
        "resourceUri": resource or report_statement.resource_uri(report),
        "policy": {"uri": policy_uri(report, required)},
        "inputAttestations": [{"digest": {"sha256": _statement_hex(report)}}],
        "verificationResult": "PASSED" if passed else _FAILED,
        "verifiedLevels": [level],
    }
    return Statement(subjects, PREDICATE_TYPE, predicate)


def payload(
    report: Report, *, verifier: str = VERIFIER, resource: str = "", required: Level | None = None
) -> bytes:
    """The canonical bytes of `of_report`: what the envelope carries."""
    return intoto.encode(of_report(report, verifier=verifier, resource=resource, required=required))


def policy_uri(report: Report, required: Level | None) -> str:
    """What the run was held to: `synapse:profile/strict?require=L3`."""
    asked = f"?require={required.name}" if required is not None else ""
    return f"synapse:profile/{report.profile}{asked}"


def read(data: bytes, *, verifier: str, resource: str) -> Summary:
    """The summary in a payload, whose signature the caller has verified.

    Unknown members are ignored, as the specification asks.

    Raises:
        StatementError: the bytes are no Statement.
        StatementMismatchError: another predicate type, verifier or resource than expected, or a
            result and levels that contradict each other.
        ReportFormatError: a member is missing or of another type.
    """
    found = intoto.parse(data)
    if found.predicate_type != PREDICATE_TYPE:
        raise StatementMismatchError(
            f"expected the predicate type {PREDICATE_TYPE}, got {found.predicate_type!r:.80}"
        )
    members = dict(found.predicate)
    result = choice(members.get("verificationResult"), "verificationResult", ("PASSED", _FAILED))
    summary = Summary(
        subjects=found.subjects,
        verifier=_member(members.get("verifier"), "verifier", "id"),
        resource=text(members.get("resourceUri"), "resourceUri"),
        time_verified=text(members.get("timeVerified"), "timeVerified"),
        policy=_member(members.get("policy"), "policy", "uri"),
        passed=result == "PASSED",
        levels=items(members.get("verifiedLevels"), "verifiedLevels", text),
    )
    _expect("verifier", verifier, summary.verifier)
    _expect("resource", resource, summary.resource)
    if summary.passed == (_FAILED in summary.levels) or not summary.levels:
        raise StatementMismatchError("the result and the verified levels contradict each other")
    return summary


def _expect(what: str, expected: str, actual: str) -> None:
    if expected != actual:
        raise StatementMismatchError(f"expected the {what} {expected}, got {actual!r:.120}")


def _member(value: Json, where: str, name: str) -> str:
    members = members_of(value, where)
    if name not in members:
        raise ReportFormatError(where, f"expected the member {name!r}")
    return text(members[name], f"{where}.{name}")


def _statement_hex(report: Report) -> str:
    return sha256(report_statement.payload(report)).removeprefix("sha256:")
