"""The report that an incremental run starts from: where it is kept, and whether it holds."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from syn import __version__
from syn.canon.digest import sha256
from syn.errors import SynError
from syn.git import durable
from syn.keys.public import PublicKey
from syn.keys.sshsig import NAMESPACE_REPORT
from syn.model.finding import Json
from syn.model.report import Report
from syn.report.seal import open_report
from syn.services.proving.keptfacts import BaselineError, decayed
from syn.services.proving.proofs import Outside
from syn.services.trust.keyring import keys_here
from syn.services.workspace import Workspace

REPORT = "report.json"
LOCAL = "baseline"
"""The member of a report's `local` that an incremental run writes."""
MAX_REPORT = 64 << 20


@dataclass(frozen=True, slots=True)
class Baseline:
    """A report under a trusted key, and where its projections are kept."""

    digest: str
    """Of the report's bytes."""
    signer: str
    """Fingerprint of the trusted key."""
    ts: str
    facts: str
    """Digest of the file of projections that the report signs."""
    path: Path
    report: Report
    told: Mapping[str, Json]
    """The report's own `local.baseline`."""

    def require_kept(self) -> None:
        """Refuse where the file of projections is not the one that the report signs.

        Raises:
            BaselineError: it is not, or it cannot be read.
        """
        try:
            with self.path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise decayed() from error
        if f"sha256:{digest}" != self.facts:
            raise decayed()


def folder(workspace: Workspace) -> Path:
    """Where the last report and its projections are kept: beside the repository, not in it."""
    return workspace.private_dir / "baseline"


def open_baseline(workspace: Workspace, outside: Outside) -> Baseline:
    """The kept report, when a trusted key signed it and it is of this workspace and program.

    Trusted are the caller's keys (`--trust`), or else the keys of this person.

    Raises:
        BaselineError: there is none, or it cannot be trusted; the message says why.
    """
    try:
        data = durable.read(folder(workspace), REPORT.encode())[: MAX_REPORT + 1]
    except SynError as error:
        raise BaselineError("no report was kept here yet") from error
    try:
        opened = open_report(data.removesuffix(b"\n"), _trusted(workspace, outside))
    except SynError as error:
        raise BaselineError(f"the kept report does not hold: {error.message}") from error
    report = opened.report
    if report.subject.workspace != workspace.config.id:
        raise BaselineError("the kept report is of another workspace")
    if report.tool_version != __version__:
        raise BaselineError(f"the kept report was made by syn {report.tool_version}")
    kept = report.local.get(LOCAL)
    kept = kept if isinstance(kept, dict) else {}
    facts = str(kept.get("facts", ""))
    path = facts_path(workspace, facts)
    if not facts or not path.is_file():
        raise BaselineError("the projections of the kept report are not here")
    signer = opened.signers[0].fingerprint
    return Baseline(sha256(data), signer, report.ts, facts, path, report, kept)


def _trusted(workspace: Workspace, outside: Outside) -> tuple[PublicKey, ...]:
    if outside.trust is not None:
        return outside.trust.for_namespace(NAMESPACE_REPORT)
    return tuple(item.key for item in keys_here(workspace.around))


def facts_path(workspace: Workspace, digest: str) -> Path:
    """Where the projections with this digest are kept."""
    return folder(workspace) / f"facts-{digest.removeprefix('sha256:')[:32]}.jsonl"
