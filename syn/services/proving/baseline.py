"""`syn verify --incremental`: start from what a trusted report proved, derive only what changed.

What one file's bytes give is a pure function of them, the rules and this program (`project_bytes`).
A run keeps these projections in a file and signs the file's digest in its report. A later run takes
the projection of a file whose bytes have the same digest from there, when that report is signed by
a trusted key; everything else it does as any run does: every file is read and hashed, ledger,
history, index and proofs are looked at anew. So it finds what a full run finds (ADR 0031).
"""

import contextlib
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

from syn import __version__
from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.errors import CannotError, SynError
from syn.git import durable
from syn.git.snapshot import Snapshot, SnapshotEntry
from syn.keys.openssh import PrivateKey
from syn.keys.public import PublicKey
from syn.keys.sshsig import NAMESPACE_REPORT
from syn.model.config import Config
from syn.model.report import Report
from syn.report.document import to_json
from syn.report.seal import open_report, sign_document
from syn.services.engines.program import program
from syn.services.proving import memo
from syn.services.proving.proofs import Outside
from syn.services.proving.reports import signing_key
from syn.services.recall.indexing import rules_of
from syn.services.recall.projecting import File, Projected, project_bytes, read_file
from syn.services.trust.keyring import keys_here
from syn.services.workspace import Workspace

if TYPE_CHECKING:
    from syn.model.finding import Json

FORMAT = "synapse.baseline/1"
REPORT = "report.json"
LOCAL = "baseline"
"""The member of a report's `local` that this module writes."""
MAX_REPORT = 64 << 20


class BaselineError(CannotError):
    """What was kept cannot be started from; the run derives everything anew, and says why."""

    def __init__(self, reason: str) -> None:
        super().__init__("baseline", reason, "syn verify --incremental keeps a new one")


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
    facts = str(kept.get("facts", "")) if isinstance(kept, dict) else ""
    path = _facts_path(workspace, facts)
    if not facts or not path.is_file():
        raise BaselineError("the projections of the kept report are not here")
    return Baseline(sha256(data), opened.signers[0].fingerprint, report.ts, facts, path)


def _trusted(workspace: Workspace, outside: Outside) -> tuple[PublicKey, ...]:
    if outside.trust is not None:
        return outside.trust.for_namespace(NAMESPACE_REPORT)
    return tuple(item.key for item in keys_here(workspace.around))


def _facts_path(workspace: Workspace, digest: str) -> Path:
    return folder(workspace) / f"facts-{digest.removeprefix('sha256:')[:32]}.jsonl"


def _environment(config: Config) -> bytes:
    """The first line of a file of projections: all that they depend on beside the bytes."""
    return canonical.encode([FORMAT, program(), sys.version, rules_of(config)]) + b"\n"


def incrementally(
    workspace: Workspace, outside: Outside, run: "Callable[[Increment], Report]"
) -> Report:
    """The report of a run that starts from the kept one, or, saying why, from nothing.

    Where a key can sign it, it is kept for the next run with what that can start from.
    """
    baseline, reason = None, ""
    try:
        baseline = open_baseline(workspace, outside)
    except BaselineError as error:
        reason = error.message
    try:
        return _kept(Increment(workspace, baseline, reason), run)
    except BaselineError as error:
        return _kept(Increment(workspace, None, error.message), run)


def _kept(increment: "Increment", run: "Callable[[Increment], Report]") -> Report:
    with increment:
        report = increment.told(run(increment))
        try:
            increment.keep(report)
        except SynError as error:
            return increment.not_kept(report, error.message)
        return report


class Increment:
    """One incremental run: hands out projections, kept or derived, and keeps them for the next.

    Use as a context manager: what was not kept at the end is removed.
    """

    def __init__(self, workspace: Workspace, baseline: Baseline | None, reason: str = "") -> None:
        """`reason` says why there is no baseline."""
        self._workspace = workspace
        self._baseline = baseline
        self._reason = reason
        self._unchanged = self._derived = 0
        self._old: _Kept | None = None
        self._new: _Growing | None = None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def project(
        self,
        snapshot: Snapshot,
        entries: Iterable[SnapshotEntry],
        config: Config,
        moved: Mapping[str, str],
    ) -> Iterator[Projected]:
        """As `project_all`, in the same order.

        Raises:
            BaselineError: what was kept is not what was signed, so none of it counts.
        """
        environment = _environment(config)
        self._new = self._growing()
        self._new.write(environment)
        if self._baseline is not None:
            file = self._stack.enter_context(self._baseline.path.open("rb"))
            self._old = _Kept(file, self._baseline.facts, environment)
        for entry in entries:
            found = read_file(snapshot, entry, moved)
            yield found if isinstance(found, Projected) else self._take(config, found)
        if self._old is not None:
            self._old.finish()

    def _growing(self) -> "_Growing":
        place = folder(self._workspace)
        try:
            place.mkdir(parents=True, exist_ok=True)
            path = place / f"facts.new-{os.getpid()}"
            self._stack.callback(path.unlink, missing_ok=True)
            return _Growing(self._stack.enter_context(path.open("wb")), path)
        except OSError:
            return _Growing(None, Path())

    def _take(self, config: Config, file: File) -> Projected:
        path, data, own = file
        recorded_id = own.get(path, "")
        assert self._new is not None  # noqa: S101 - `project` opened it
        if self._old is not None:
            line, values = self._old.find(path)
            if memo.is_of(values, sha256(data), recorded_id):
                self._unchanged += 1
                self._new.write(line)
                return self._old.parsed(values)
        item = project_bytes(config, file)
        self._derived += 1
        with contextlib.suppress(canonical.CanonError):
            self._new.write(memo.render(item, recorded_id))
        return item

    def told(self, report: Report) -> Report:
        """The report with what it started from, and with the digest of what is kept."""
        new = self._new
        told: dict[str, Json] = {
            "facts": new.digest if new is not None else "",
            "unchanged": self._unchanged,
            "derived": self._derived,
            "reason": self._reason,
        }
        base = self._baseline
        if base is not None:
            told |= {"signer": base.signer, "ts": base.ts}
        local = {**report.local, LOCAL: told}
        return replace(report, local=local, baseline=base.digest if base else "")

    @staticmethod
    def not_kept(report: Report, reason: str) -> Report:
        """The report, saying that the next run cannot start from it."""
        told = report.local[LOCAL]
        assert isinstance(told, dict)  # noqa: S101 - `told` made it
        return replace(report, local={**report.local, LOCAL: {**told, "facts": "", "kept": reason}})

    def keep(self, report: Report) -> None:
        """Sign the report and keep it with the projections, for the next run.

        Raises:
            SynError: there is no key that could sign, or nothing can be written.
        """
        key = signing_key(self._workspace)
        new = self._new
        if new is None or not new.close():
            raise BaselineError("the projections cannot be written")
        self._put(new, report, key)

    def _put(self, new: "_Growing", report: Report, key: PrivateKey) -> None:
        target = _facts_path(self._workspace, new.digest)
        place = folder(self._workspace)
        try:
            new.path.replace(target)
            document = sign_document(to_json(report), key)
            durable.replace(place, REPORT.encode(), canonical.encode(document) + b"\n")
            for other in place.glob("facts-*.jsonl"):
                if other != target:
                    other.unlink(missing_ok=True)
        except OSError as error:
            raise BaselineError(f"{place} cannot be written: {error.strerror}") from error


class _Growing:
    """The projections of this run, as they come."""

    def __init__(self, file: IO[bytes] | None, path: Path) -> None:
        self._file = file
        self.path = path
        self._state = hashlib.sha256()

    @property
    def digest(self) -> str:
        return f"sha256:{self._state.hexdigest()}"

    def write(self, line: bytes) -> None:
        self._state.update(line)
        if self._file is not None:
            try:
                self._file.write(line)
            except OSError:
                self._file = None

    def close(self) -> bool:
        """Whether everything was written."""
        if self._file is None:
            return False
        try:
            self._file.close()
        except OSError:
            return False
        return True


class _Kept:
    """The projections of the baseline, read once from end to end, and hashed on the way.

    Whoever takes a line must call `finish` before anything that came of it counts.
    """

    def __init__(self, file: IO[bytes], digest: str, environment: bytes) -> None:
        self._file = file
        self._digest = digest
        self._state = hashlib.sha256()
        self._line = self._next()
        if self._line != environment:
            raise BaselineError("the kept projections were made by other rules or libraries")
        self._values: list[Any] = [""]

    def _next(self) -> bytes:
        line = self._file.readline()
        self._state.update(line)
        return line

    def find(self, path: str) -> tuple[bytes, list[Any]]:
        """The line of a path, and its values; values that fit no file when there is none."""
        try:
            while self._line and memo.path_of(self._values) < path:
                self._line = self._next()
                self._values = memo.values_of(self._line) if self._line else [""]
            there = memo.path_of(self._values) == path
        except (ValueError, IndexError, TypeError) as error:
            raise _decayed() from error
        return (self._line, self._values) if there else (b"", ["", "", "", ""])

    @staticmethod
    def parsed(values: list[Any]) -> Projected:
        try:
            return memo.parse(values)
        except (ValueError, IndexError, TypeError) as error:
            raise _decayed() from error

    def finish(self) -> None:
        """Read what is left, and hold all of it against the digest that is signed."""
        while self._next():
            pass
        if f"sha256:{self._state.hexdigest()}" != self._digest:
            raise _decayed()


def _decayed() -> BaselineError:
    return BaselineError("the kept projections are not those that the report signs")
