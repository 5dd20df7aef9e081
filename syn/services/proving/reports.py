"""What a verification leaves behind in files: reports, summaries, pages, evidence."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from syn.canon import json as canonical
from syn.errors import SynError
from syn.model.finding import Json, Level
from syn.model.report import Report
from syn.services.files import write_file
from syn.services.workspace import Workspace

if TYPE_CHECKING:
    from syn.keys.openssh import PrivateKey
    from syn.report.document import Document
    from syn.report.html import Timeline

# Most runs write no file and sign nothing: what does is imported where it is done.

EVIDENCE = "synapse.evidence/1"
"""Schema of the file that `--evidence` writes."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The files that a caller asked for; None where it did not."""

    report: Path | None = None
    vsa: Path | None = None
    sarif: Path | None = None
    html: Path | None = None
    badge: Path | None = None
    evidence: Path | None = None

    @property
    def signed(self) -> bool:
        """Whether one of them is an envelope, which nobody can write without a key."""
        return self.report is not None or self.vsa is not None


def signing_key(workspace: Workspace) -> "PrivateKey":
    """The identity key.

    Raises:
        NoKeyError: there is none.
        KeyFileError, LooseKeyError: it cannot be used.
    """
    from syn.services.trust.keyring import NoKeyError, identity
    from syn.services.trust.policy import head_policy, usable

    found = identity(workspace.around, usable(head_policy(workspace)))
    if found is None:
        raise NoKeyError("a report for others is signed, and there is no key here")
    return found.load()


def signed_json(workspace: Workspace, report: Report) -> "tuple[Document, str]":
    """The JSON form, signed when there is a key; why it is not, when a key cannot be used."""
    from syn.report.document import to_json
    from syn.report.seal import sign_document
    from syn.services.trust.keyring import NoKeyError

    document = to_json(report)
    try:
        return sign_document(document, signing_key(workspace)), ""
    except NoKeyError:
        return document, ""
    except SynError as error:
        return document, f"{error.message}; {error.remedy}"


def write_outputs(
    report: Report,
    outputs: Outputs,
    key: "PrivateKey | None",
    timeline: "Timeline | None",
    required: Level | None,
) -> tuple[Path, ...]:
    """Write every file that was asked for; all are made before the first is written.

    Raises:
        NoCommitError: an envelope has to name a commit, and none holds what was checked.
        NoSummaryError: an incomplete run has no verification summary.
        CannotError: a file cannot be written.
    """
    made: list[tuple[Path, bytes]] = []
    if outputs.signed:
        made += _envelopes(report, outputs, key, required)
    if outputs.sarif:
        from syn.report import sarif

        made.append((outputs.sarif, canonical.encode(sarif.to_sarif(report)) + b"\n"))
    if outputs.html:
        from syn.report import html

        page = html.render(report, timeline or html.Timeline(), required=required)
        made.append((outputs.html, page.encode("utf-8", "backslashreplace")))
    if outputs.badge:
        from syn.report import badge

        made.append((outputs.badge, badge.render(report, required=required).encode()))
    if outputs.evidence:
        made.append((outputs.evidence, evidence_bundle(report)))
    for path, data in made:
        write_file(path, data)
    return tuple(path for path, _ in made)


def _envelopes(
    report: Report, outputs: Outputs, key: "PrivateKey | None", required: Level | None
) -> Iterator[tuple[Path, bytes]]:
    from syn.report import statement, vsa
    from syn.report.seal import seal

    keys = [key] if key else []
    if outputs.report:
        yield outputs.report, seal(statement.payload(report), keys)
    if outputs.vsa:
        yield outputs.vsa, seal(vsa.payload(report, required=required), keys)


def evidence_bundle(report: Report) -> bytes:
    """Both sides of a comparison with a witness, as canonical JSON that ends in LF.

    Where they differ it holds both notes and both records as they are, so that anybody can check
    the signatures and see that they contradict each other.
    """
    from syn.report.document import finding_json

    compared = next(item for item in report.invariants if item.id == "INV-12")
    findings: list[Json] = [finding_json(f) for f in compared.findings if not f.local]
    bundle: Document = {
        "schema": EVIDENCE,
        "workspace": report.subject.workspace,
        "status": report.witness_status,
        "comparison": compared.evidence,
        "findings": findings,
    }
    return canonical.encode(bundle) + b"\n"
