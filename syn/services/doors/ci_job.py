"""What a verification leaves behind in a CI job: files for artifacts, and the job's summary."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from syn.canon import json as canonical
from syn.errors import CannotError, SynError
from syn.model.finding import Level
from syn.model.report import Report
from syn.report import annotations, markdown
from syn.report.html import Timeline
from syn.report.verdict import MAX_FINDINGS
from syn.services.doors.ci import Change, changed_lines, shallow_note
from syn.services.files import write_file
from syn.services.proving.reports import Outputs, signed_json, signing_key, write_outputs
from syn.services.trust.keyring import NoKeyError
from syn.services.trust.witnesses import publish
from syn.services.workspace import Workspace

MAX_ANNOTATIONS = 10
"""Of one kind: a runner drops what a step prints beyond."""
MAX_SUMMARY = 1_000_000
"""Bytes of a job summary; GitHub refuses one of more than a mebibyte."""


@dataclass(frozen=True, slots=True)
class Left:
    """What a job leaves behind."""

    files: dict[str, Path]
    """Output's name to file: `report`, `sarif`, and where they could be made `attestation` (signed)
    and `witness`."""
    notes: tuple[str, ...]
    """Why what is missing is missing, one sentence each."""


def write_files(workspace: Workspace, report: Report, folder: Path, required: Level | None) -> Left:
    """Write the report, its SARIF form, and with a key and a checkpoint what those allow.

    Raises:
        CannotError: a file cannot be written.
    """
    for old in (*folder.glob("report.*"), *folder.glob("witness.*")):
        old.unlink()  # of an earlier step of this job
    notes = [shallow_note(workspace, report)]
    document, problem = signed_json(workspace, report)
    notes.append(problem and f"the report is not signed: {problem}")
    files = {"report": folder / "report.json", "sarif": folder / "report.sarif"}
    write_file(files["report"], canonical.encode(document) + b"\n")
    outputs = Outputs(sarif=files["sarif"])
    write_outputs(report, outputs, None, Timeline(), required)
    try:
        key = signing_key(workspace)
        sealed = folder / "report.dsse"
        write_outputs(report, Outputs(report=sealed), key, Timeline(), required)
        files["attestation"] = sealed
    except NoKeyError:
        notes.append("the report is not signed: this job has no key")
    except SynError as error:
        notes.append(f"no attestation: {error.message}")
    try:
        files["witness"] = _witness(workspace, report, folder)
    except SynError as error:
        notes.append(f"no witness: {error.message}")
    return Left(files, tuple(note for note in notes if note))


def _witness(workspace: Workspace, report: Report, folder: Path) -> Path:
    if report.verdict != "pass":
        raise CannotError("no-witness", "the checks do not pass, so nothing is given away")
    if workspace.repository.head().commit != report.subject.commit:
        raise CannotError("no-witness", "HEAD is not the commit that was verified")
    data, _ = publish(workspace)
    path = folder / "witness.tlog-proof"
    write_file(path, data)
    return path


def annotations_of(workspace: Workspace, report: Report, change: Change) -> str:
    """The commands for a runner: a shallow checkout first, then what was found."""
    paths = {finding.path for result in report.invariants for finding in result.findings}
    lines = changed_lines(workspace.repository, change, paths - {""})
    note = shallow_note(workspace, report)
    first = annotations.error("shallow checkout", note) if note else ""
    return first + annotations.render(report, lines, MAX_ANNOTATIONS)


def summary_of(report: Report, change: Change, required: Level | None, notes: Sequence[str]) -> str:
    """The job's summary in Markdown, of bounded size: fewer findings where they would not fit."""
    tail = "".join(f"- {markdown.inert(note)}\n" for note in notes)
    tail = f"\nCommit <code>{markdown.inert(change.head)}</code>\n\n{tail}"
    text = ""
    for limit in (MAX_FINDINGS, 5, 1, 0):
        text = markdown.render(report, required=required, limit=limit) + tail
        if len(text.encode("utf-8", "backslashreplace")) <= MAX_SUMMARY:
            break
    return text


def stopped_summary(message: str, remedy: str) -> str:
    """The summary of a job in which nothing could be checked."""
    more = f"\n\n{markdown.inert(remedy)}" if remedy else ""
    return f"## syn verify: nothing was checked\n\n{markdown.inert(message)}{more}\n"
