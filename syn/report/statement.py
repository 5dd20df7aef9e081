"""A report as an in-toto Statement v1, the payload of `--report` (docs/formats/report.md).

The predicate is the unsigned document: its canonical bytes are what `signable` gives. Subject 1 is
the commit with its tree, subject 2 the manifest; every subject has a name, since common readers
need one. The envelope around it is `syn.canon.dsse`; keys are the caller's.
"""

from collections.abc import Mapping

from syn.canon import statement as intoto
from syn.canon.statement import PAYLOAD_TYPE, Statement, Subject
from syn.errors import RefusedError
from syn.model.finding import Json
from syn.model.report import Report
from syn.report.document import SCHEMA, Document, to_json
from syn.report.members import ReportFormatError
from syn.report.parse import from_json

__all__ = [
    "PAYLOAD_TYPE",
    "PREDICATE_TYPE",
    "NoCommitError",
    "StatementMismatchError",
    "of_report",
    "payload",
    "read",
    "resource_uri",
    "subjects",
]

PREDICATE_TYPE = f"synapse:{SCHEMA.removeprefix('synapse.')}"
"""The type URI of the predicate: `synapse:verify-report/1`."""


class NoCommitError(RefusedError):
    """No commit holds exactly what was checked, so none can be named as verified."""

    def __init__(self) -> None:
        super().__init__(
            "no-commit",
            "expected a commit that holds exactly the checked inputs and evidence, got none",
            "commit the work tree first, or verify a commit: syn verify --ref HEAD",
        )


class StatementMismatchError(RefusedError):
    """A Statement whose subjects, type or predicate do not go together."""

    def __init__(self, message: str) -> None:
        super().__init__("statement-mismatch", message, "do not rely on this file")


def of_report(report: Report) -> Statement:
    """The Statement that says this report of its commit, tree and manifest.

    Raises:
        NoCommitError: the report names no commit.
    """
    return Statement(subjects(report), PREDICATE_TYPE, _predicate(to_json(report)))


def payload(report: Report) -> bytes:
    """The canonical bytes of `of_report`: what the envelope carries."""
    return intoto.encode(of_report(report))


def read(data: bytes) -> Report:
    """The report in a payload, whose signature the caller has verified.

    Raises:
        StatementError: the bytes are no Statement.
        StatementMismatchError: another predicate type, or subjects that the report does not name.
        ReportFormatError: the predicate is no report.
    """
    found = intoto.parse(data)
    if found.predicate_type != PREDICATE_TYPE:
        raise StatementMismatchError(
            f"expected the predicate type {PREDICATE_TYPE}, got {found.predicate_type!r:.80}"
        )
    if not found.predicate.keys().isdisjoint({"sig", "public_key"}):
        raise ReportFormatError("predicate", "expected the unsigned document")
    report = from_json({**found.predicate, "sig": None, "public_key": None})
    if not report.subject.commit or found.subjects != subjects(report):
        raise StatementMismatchError("the subjects are not the commit, tree and manifest reported")
    return report


def subjects(report: Report) -> tuple[Subject, Subject]:
    """What a Statement about this report is about.

    Raises:
        NoCommitError: the report names no commit, or has no manifest to name.
    """
    subject, manifest = report.subject, report.manifest_digest
    if not (subject.commit and subject.tree and manifest):
        raise NoCommitError
    return (
        Subject(resource_uri(report), (("gitCommit", subject.commit), ("gitTree", subject.tree))),
        Subject("manifest", (("sha256", manifest.removeprefix("sha256:")),)),
    )


def resource_uri(report: Report) -> str:
    """The workspace as a URI: `urn:uuid:<id>`."""
    return f"urn:uuid:{report.subject.workspace}"


def _predicate(document: Document) -> Mapping[str, Json]:
    return {k: v for k, v in document.items() if k not in ("sig", "public_key")}
