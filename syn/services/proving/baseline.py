"""`syn verify --incremental`: start from what a trusted report proved, derive only what changed.

What one file's bytes give is a pure function of them, the rules and this program (`project_bytes`).
A run keeps these projections in a file and signs the file's digest in its report. A later run takes
the projection of a file whose bytes have the same digest from there, when that report is signed by
a trusted key; everything else it does as any run does: every file is read and hashed, ledger,
history, index and proofs are looked at anew. So it finds what a full run finds (ADR 0031).
"""

import contextlib
import hashlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Self

from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.errors import SynError
from syn.git import durable
from syn.git.snapshot import Snapshot, SnapshotEntry
from syn.index.inputs import inputs_hash
from syn.index.store import SQLITE, IndexUnusable, open_index
from syn.index.store.files import new_file
from syn.keys.openssh import PrivateKey
from syn.model.config import Config
from syn.model.finding import Json, Status
from syn.model.report import Report
from syn.report.document import to_json
from syn.report.seal import sign_document
from syn.services.engines.program import program
from syn.services.proving import memo
from syn.services.proving.collect import Pass
from syn.services.proving.kept_report import (
    LOCAL,
    REPORT,
    Baseline,
    facts_path,
    folder,
    open_baseline,
)
from syn.services.proving.keptfacts import BaselineError, Growing, Kept
from syn.services.proving.proofs import Outside
from syn.services.proving.reports import signing_key
from syn.services.proving.vouched import (
    Clean,
    Proven,
    Read,
    clean_of,
    is_clean,
    learnt,
    read_all,
    signed_digest,
)
from syn.services.recall.indexing import Reading, index_path, refused_digest, rules_of
from syn.services.recall.ledgernote import Note
from syn.services.recall.projecting import File, Projected, project_bytes, read_file
from syn.services.workspace import Workspace

FORMAT = "synapse.baseline/1"


def _environment(config: Config) -> bytes:
    """The first line of a file of projections: all that they depend on beside the bytes."""
    return canonical.encode([FORMAT, program(), sys.version, rules_of(config)]) + b"\n"


def incrementally(
    workspace: Workspace,
    outside: Outside,
    run: "Callable[[Increment], Report]",
    *,
    index: bool,
    shown: bool,
) -> Report:
    """The report of a run that starts from the kept one, or, saying why, from nothing.

    Where a key can sign it, it is kept for the next run with what that can start from. `index` says
    that the live index is only held against the projection, and no row of it is looked at again;
    `shown`, that somebody is shown the decisions and the facts.
    """
    baseline, reason = None, ""
    try:
        baseline = open_baseline(workspace, outside)
    except BaselineError as error:
        reason = error.message
    try:
        return _kept(Increment(workspace, baseline, reason, index=index, shown=shown), run)
    except BaselineError as error:
        return _kept(Increment(workspace, None, error.message, index=index, shown=shown), run)


def _kept(increment: "Increment", run: "Callable[[Increment], Report]") -> Report:
    with increment:
        report = increment.told(run(increment))
        try:
            increment.keep(report)
        except SynError as error:
            return increment.not_kept(report, error.message)
        return report


_KEPT = ("facts", "moved", "root", "rules", "signed")
"""What a report that started from an equal one says as that one did."""


class Increment:
    """One incremental run: hands out projections, kept or derived, and keeps them for the next.

    Use as a context manager: what was not kept at the end is removed.
    """

    def __init__(
        self,
        workspace: Workspace,
        baseline: Baseline | None,
        reason: str = "",
        *,
        index: bool,
        shown: bool = False,
    ) -> None:
        """`reason` says why there is no baseline; `index`: the live index is looked at, once.

        `shown`: somebody is shown decisions and facts, so they are read whatever is known of them.
        """
        self._workspace = workspace
        self._baseline = baseline
        self._reason = reason
        self._index = index
        self._shown = shown
        self._unchanged = self._derived = 0
        self._proven: Proven | None = None
        self._read: Read | None = None
        self._learnt: dict[str, Json] = {}
        self._file = ""
        self._refused = ""
        self._old: Kept | None = None
        self._new: Growing | None = None
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def proven(self, reading: Reading) -> Proven | None:
        """The manifest of what is here, when every input and the index are those of the report.

        Every file is read and hashed for it. Then no row has to be made, encoded or compared: what
        they add up to, and that the index holds it, follows from the bytes alone, and was found by
        a run that a trusted key signed.
        """
        self._refused = refused_digest(reading)
        if not self._index:
            return None
        self._file = _index_file(index_path(self._workspace))
        base = self._baseline
        if base is None or not self._same_rules(reading):
            return None
        if not self._file or base.told.get("index") != self._file:
            return None
        if base.told.get("refused") != self._refused:
            return None
        self._read = read = read_all(reading)
        if read is None:
            return None
        records = [(path.encode(), digest) for path, digest in read.digests.items()]
        root = base.told.get("root")
        same = inputs_hash([*reading.control, *records]) == base.report.subject.inputs_hash
        if same and isinstance(root, str) and root:
            clean = self._clean(base, reading)
            manifest = base.report.manifest_digest
            self._proven = Proven(manifest, read.digests, read.heads, root, clean)
        return self._proven

    def _clean(self, base: Baseline, reading: Reading) -> Clean | None:
        """What the report says of facts and ledger, unless somebody wants to see them."""
        clean = None if self._shown else clean_of(base.report, base.told)
        if clean is not None:
            base.require_kept()
            files = reading.ledger_files
            files.note = Note(files.digest, clean.moved)
            self._unchanged = clean.facts
        return clean

    def signed(self, reading: Reading) -> bool:
        """Whether every signature of these very entries was found to hold, under this policy."""
        base = self._baseline
        if base is None or not self._same_rules(reading):
            return False
        return base.told.get("signed") == signed_digest(reading)

    def _same_rules(self, reading: Reading) -> bool:
        """Whether the report was made by this program, its libraries and these rules."""
        base = self._baseline
        return base is not None and base.told.get("rules") == sha256(_environment(reading.config))

    def learn(self, done: Pass) -> None:
        """Note what the next run can start from, while the rows of this one are at hand."""
        if self._proven is None and self._index:
            rules = sha256(_environment(done.reading.config))
            self._learnt = {**learnt(done), "rules": rules}

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
        self._new = Growing(None, Path()) if self._proven else self._growing()
        self._new.write(environment)
        if self._baseline is not None:
            file = self._stack.enter_context(self._baseline.path.open("rb"))
            self._old = Kept(file, self._baseline.facts, environment)
        for entry in entries:
            item = self._known(entry, moved)
            if item is None:
                found = read_file(snapshot, entry, moved)
                item = found if isinstance(found, Projected) else self._take(config, found)
            yield item
        if self._old is not None:
            self._old.finish()

    def _known(self, entry: SnapshotEntry, moved: Mapping[str, str]) -> Projected | None:
        """The kept projection of a file that was hashed already, where it is of these bytes."""
        if self._read is None or self._old is None:
            return None
        path = entry.path.decode()
        line, values = self._old.find(path)
        if not memo.is_of(values, self._read.digests[path], moved.get(path, "")):
            return None
        assert self._new is not None  # noqa: S101 - `project` opened it
        self._unchanged += 1
        self._new.write(line)
        return self._old.parsed(values, whole=self._proven is None)

    def _growing(self) -> Growing:
        place = folder(self._workspace)
        try:
            place.mkdir(parents=True, exist_ok=True)
            path = self._stack.enter_context(new_file(place / "facts"))
            return Growing(self._stack.enter_context(path.open("wb")), path)
        except (IndexUnusable, OSError):
            return Growing(None, Path())

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
            "index": self._sound_index(report),
            "refused": self._refused,
            **self._learnt,
            "same": self._proven is not None,
            "unchanged": self._unchanged,
            "derived": self._derived,
            "reason": self._reason,
        }
        base = self._baseline
        if base is not None:
            told |= {"signer": base.signer, "ts": base.ts}
            if self._proven is not None:
                told |= {name: base.told.get(name) for name in _KEPT}
        if not is_clean(report):
            told["signed"] = ""
        local = {**report.local, LOCAL: told}
        return replace(report, local=local, baseline=base.digest if base else "")

    def _sound_index(self, report: Report) -> str:
        """Digest of the index file, where this run found it sound and equal to the projection."""
        first = next((result for result in report.invariants if result.id == "INV-1"), None)
        sound = first is not None and first.status is Status.PASS and not first.findings
        current = report.local.get("index") == "current"
        same = sound and current and report.local.get("index_manifest") == report.manifest_digest
        return self._file if same and not report.local.get("unread") else ""

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
        if self._proven is not None:
            return  # what is kept says the same
        key = signing_key(self._workspace)
        new = self._new
        if new is None or not new.close():
            raise BaselineError("the projections cannot be written")
        self._put(new, report, key)

    def _put(self, new: "Growing", report: Report, key: PrivateKey) -> None:
        target = facts_path(self._workspace, new.digest)
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


def _index_file(path: Path) -> str:
    """Digest of an index that can be opened, and the SQLite that judges it; "" when it cannot."""
    try:
        with open_index(path), path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except (IndexUnusable, OSError):
        return ""
    return f"sha256:{digest} SQLite {SQLITE}"
