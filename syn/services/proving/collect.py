"""Evidence for `syn verify`: reads one snapshot once, and says what could not be read."""

import contextlib
import tempfile
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.git.parse import blob_id
from syn.index.compare import Difference, compare
from syn.index.derive import id_problems
from syn.index.inputs import inputs_hash
from syn.index.manifest import Agreement, Projection, manifest_digest
from syn.index.rows import PROJECTION, FileRows, Scalar, Table
from syn.index.store import Index, IndexUnusable, open_index, open_spool
from syn.index.store.build import Builder
from syn.ledger.heads import workspace_heads
from syn.ledger.segments import place
from syn.model.fact import Unreadable
from syn.model.finding import Finding
from syn.services.proving.unread import Unreadable as Stopped
from syn.services.proving.unread import unread
from syn.services.recall.indexing import (
    INDEX,
    Progress,
    Reading,
    index_path,
    read_snapshot,
    refused_digest,
    world_of,
)
from syn.services.recall.projecting import project_all
from syn.services.recall.reading import CONFIG, POLICY, read_plain
from syn.services.workspace import Workspace
from syn.verify.evidence import (
    ConfigEvidence,
    FactView,
    IndexEvidence,
    LedgerEvidence,
    Unread,
)

if TYPE_CHECKING:
    from syn.services.proving.baseline import Increment
    from syn.services.proving.vouched import Clean, Proven

Engine: TypeAlias = "Executor | Increment"
"""What projects the files: a pool or a cluster, or an incremental run; None is this process."""

NAMED_BY_DEFAULT = 10
"""Diverging rows that are named without `--rebuild`."""


@dataclass(slots=True)
class Beside:
    """What the projection is held against while it passes: the live index, or a scratch one."""

    index: Index | None = None
    identity: object = None
    """Which file `index` was when the pass began."""
    agreement: Agreement | None = None
    scratch: Builder | None = None
    folder: Path = Path()
    """Where the scratch index is built."""
    scratch_reason: str = ""
    """Why it could not be."""

    def add(self, rows: FileRows) -> None:
        """Write the rows of one file to the scratch index, when there is one."""
        if self.scratch is not None:
            try:
                self.scratch.add(rows)
            except IndexUnusable as error:
                self.scratch, self.scratch_reason = None, error.message

    @property
    def agrees(self) -> bool:
        """Whether every row was the live index's very row; False when that is not known."""
        if self.index is None or self.agreement is None or not self.agreement.complete():
            return False
        return self.index.is_exact() and self.index.identity == self.identity


@dataclass(slots=True)
class Pass:
    """One pass over all facts: what the invariants need, and the projection itself."""

    reading: Reading
    projection: Projection
    beside: Beside = field(default_factory=Beside)
    views: list[FactView] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    """Path to source digest of every fact file."""
    inputs_hash: str = ""
    warnings: int = 0
    unread: list[Unread] = field(default_factory=list)
    heads: bool = True
    """Whether every fact file is HEAD's blob at its path."""
    proven: "Proven | None" = None
    """The manifest of these very inputs, where a trusted report says it: then `projection` has no
    rows."""
    signed: bool = False
    """A trusted report says that every signature of these entries holds, under this policy."""

    @property
    def clean(self) -> "Clean | None":
        """What a trusted report says of facts and ledger, which then are not looked at again."""
        return self.proven.clean if self.proven else None

    def require_whole(self) -> None:
        """Raise `CannotError` where a fact's bytes could not be had: the rows are not all here."""
        for gap in self.unread:
            raise CannotError(gap.code, f"{gap.what}: {gap.message}", gap.remedy)


@contextlib.contextmanager
def pass_over(
    workspace: Workspace,
    ref: str,
    engine: "Engine | None" = None,
    progress: Progress | None = None,
    *,
    beside: Literal["live", "scratch", ""] = "",
    tolerant: bool = False,
) -> Iterator[Pass]:
    """Read and project every fact of a snapshot; the projection lives inside the context.

    `beside` names the index that the rows are compared with, or written to, as they pass: the
    live one is replaced by a scratch index where there is none. A `tolerant` pass over a work tree
    goes on without HEAD and git's index where they cannot be read, and notes it as unread.
    """
    lost: list[Stopped] = []
    snapshot = workspace.snapshot(ref, lost if tolerant else None)
    reading = read_snapshot(snapshot, workspace.config)
    with contextlib.ExitStack() as stack:
        other = _beside(workspace, beside, stack) if beside else Beside()
        projection = stack.enter_context(Projection(open_spool, other.agreement))
        done = Pass(reading, projection, other, unread=[_lost(error) for error in lost])
        done.heads = not lost
        _project(done, engine, progress)
        _doubled(done)
        done.inputs_hash = inputs_hash(chain(reading.control, _records(done.digests)))
        if done.proven is None:
            projection.finish(world_of(reading))
        yield done


def _records(digests: Mapping[str, str]) -> Iterator[tuple[bytes, str]]:
    return ((path.encode(), digest) for path, digest in digests.items())


def _lost(error: Stopped) -> Unread:
    return unread("git's index" if error.code == "git-index" else "HEAD", error)


def _beside(
    workspace: Workspace, kind: Literal["live", "scratch"], stack: contextlib.ExitStack
) -> Beside:
    """The index to hold the rows against, open until the stack is closed."""
    path = index_path(workspace) if kind == "live" else None
    try:
        if path is not None and path.exists():
            index = stack.enter_context(open_index(path, through=True))
            return Beside(index, index.identity, Agreement(partial(_rows, index)))
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="synapse-scratch-")))
        scratch = stack.enter_context(Builder(folder / "index.db"))
        return Beside(scratch=scratch, folder=folder)
    except (IndexUnusable, OSError) as error:
        return Beside(scratch_reason=str(error))


def _rows(index: Index, table: Table) -> Iterator[tuple[Scalar, ...]]:
    """The rows of a live index; where they cannot be read, one that equals no other."""
    try:
        yield from index.rows(table)
    except IndexUnusable:
        yield ()


def _project(done: Pass, engine: "Engine | None", progress: Progress | None) -> None:
    reading = done.reading
    total = len(reading.files.facts)
    asked = (reading.snapshot, reading.files.facts, reading.config)
    if engine is None or isinstance(engine, Executor):
        projected = project_all(*asked, engine, reading.ledger.moved)
    else:
        done.proven, done.signed = engine.proven(reading), engine.signed(reading)
        if done.clean is not None:
            _take_clean(done)
            return
        projected = engine.project(*asked, reading.ledger.moved)
    pairs = zip(reading.files.facts, projected, strict=True)
    for count, (entry, item) in enumerate(pairs, 1):
        done.heads = done.heads and item.blob == entry.head_oid
        if done.proven is None:
            done.projection.add(item.rows)
            done.beside.add(item.rows)
        else:
            done.projection.add_key(item.rows)
        view = item.view
        done.digests[item.rows.path] = view.source if view else item.rows.source_digest
        if view is not None:
            done.views.append(view)
            done.warnings += len(item.rows.problems)
        elif item.unreadable is not None:
            _keep_unreadable(done, item.unreadable)
        if progress is not None:
            progress(count, total)
    for path, problems in sorted(reading.files.refused.items()):
        done.unreadable.append(Unreadable(path, "", problems))


def _take_clean(done: Pass) -> None:
    """Take what a trusted report says of the facts; their files were read and hashed for it."""
    assert done.proven is not None  # noqa: S101 - asked by the caller
    assert done.clean is not None  # noqa: S101 - asked by the caller
    done.digests.update(done.proven.digests)
    done.heads = done.heads and done.proven.heads
    done.warnings = done.clean.warnings


def _keep_unreadable(done: Pass, item: Unreadable) -> None:
    """Bytes that cannot be had are unread evidence; what is there and wrong is a finding."""
    if item.source_digest or item.problems[0].code == "object-mismatch":
        done.unreadable.append(item)
        return
    problem = item.problems[0]
    done.unread.append(Unread(item.path, problem.code, problem.message, problem.remedy))


def _doubled(done: Pass) -> None:
    """Facts whose id stands twice are unreadable: none of them wins."""
    if done.clean is not None:
        return  # two facts with one id are a finding, and there was none
    problems = id_problems(done.projection.keys, done.reading.ledger.recorded)
    for problem in problems:
        digest = done.digests.get(problem.path, "")
        done.unreadable.append(Unreadable(problem.path, digest, (problem,)))
    doubled = {problem.path for problem in problems}
    done.views = [view for view in done.views if view.path not in doubled]


def ledger_evidence(done: Pass, signatures: tuple[Finding, ...]) -> LedgerEvidence:
    """The segments' faults, signatures that do not hold, and what the entries add up to."""
    reading = done.reading
    if done.clean is not None:
        return LedgerEvidence(done.clean.writers, done.clean.entries, signatures, {})
    ledger = reading.ledger.ledger
    present = {view.id for view in done.views}
    gone = (state for state in reading.ledger.recorded.values() if state.fact not in present)
    wanted = {head for state in gone for head in state.heads}
    return LedgerEvidence(
        writers=len(ledger.chains),
        entries=sum(len(chain.entries) for chain in ledger.chains),
        findings=(*reading.ledger.findings, *signatures),
        recorded=reading.ledger.recorded,
        lines={digest: place(entry) for digest, entry in ledger.entries() if digest in wanted},
    )


def config_evidence(
    reading: Reading, action: Literal["config", "policy"] = "config"
) -> ConfigEvidence:
    """The digest of the configuration or the policy beside those at the heads of its decisions."""
    recorded = workspace_heads(reading.ledger.ledger.entries(), action)
    path = CONFIG if action == "config" else POLICY
    return ConfigEvidence(
        digest=dict(reading.control).get(path, ""),
        recorded=tuple(sorted({entry.source for _, entry in recorded})),
    )


def evidence_hash(reading: Reading) -> tuple[str, list[Unread], bool]:
    """`evidence_hash` over heads, receipts and images.

    Also what of them could not be read, and whether all of it is HEAD's.
    """
    records: list[tuple[bytes, str]] = []
    gaps: list[Unread] = []
    heads = True
    for entry in reading.inventory.evidence:
        path = entry.path.decode("utf-8", "backslashreplace")
        try:
            data = read_plain(reading.snapshot, entry)
            records.append((entry.path, sha256(data)))
            heads = heads and blob_id(data) == entry.head_oid
        except (CannotError, RefusedError) as error:
            heads = False
            gaps.append(unread(path, error))
    return inputs_hash(records), gaps, heads


def index_evidence(
    workspace: Workspace, done: Pass, *, live: bool, name_all: bool
) -> IndexEvidence:
    """The projection beside the live index, or beside a scratch index where there is none."""
    projected = done.proven.manifest if done.proven else manifest_digest(done.projection)
    base = IndexEvidence(
        projected=projected,
        scratch="",
        scratch_reason="",
        state="absent",
        live="",
        live_reason="",
        differences=(),
        named=name_all,
        faults="",
        anchored="",
        anchored_projection="",
        projection=str(PROJECTION),
    )
    if done.proven is not None:
        # The same file, byte for byte, was held against the same manifest and found sound.
        return replace(base, state="current", live=projected)
    path = index_path(workspace) if live else None
    if path is None or not path.exists():
        return _with_scratch(base, done)
    try:
        if done.beside.index is not None:
            return _with_live(base, done, done.beside.index, name_all=name_all)
        with open_index(path) as index:
            return _with_live(base, done, index, name_all=name_all)
    except IndexUnusable as error:
        return replace(base, state="unreadable", live_reason=error.message)


def _with_scratch(base: IndexEvidence, done: Pass) -> IndexEvidence:
    """Finish the index that was built of the same rows, and dump it again."""
    scratch, reason = done.beside.scratch, done.beside.scratch_reason
    if scratch is None:
        return replace(base, scratch_reason=reason or "the live index went away during the run")
    try:
        scratch.finish(world_of(done.reading), {"inputs_hash": done.inputs_hash})
        with open_index(done.beside.folder / "index.db") as index:
            faults = "; ".join(index.faults())
            return replace(base, scratch=manifest_digest(index), faults=faults)
    except (IndexUnusable, OSError) as error:
        return replace(base, scratch_reason=str(error))


def _with_live(base: IndexEvidence, done: Pass, index: Index, *, name_all: bool) -> IndexEvidence:
    meta = index.meta()
    if meta.get("projection") != str(PROJECTION):
        reason = f"projection {meta.get('projection')}, this program writes {PROJECTION}"
        return replace(base, state="stale", live=reason)
    # Rows that are equal value by value have equal lines: nothing has to be encoded again.
    live = base.projected if done.beside.agrees else manifest_digest(index)
    current = (meta.get("inputs_hash"), meta.get("refused")) == (
        done.inputs_hash,
        refused_digest(done.reading),
    )
    found: tuple[Finding, ...] = ()
    if live != base.projected:
        counting = compare(done.projection, index)
        if not current:
            counting = _of_unchanged(counting, _unchanged(done, index))
        found = tuple(_named(counting, {v.path: v.id for v in done.views}, name_all=name_all))
    return replace(
        base,
        state="current" if current else "stale",
        live=live,
        differences=found,
        faults="; ".join(index.faults()),
    )


def _unchanged(done: Pass, index: Index) -> frozenset[str]:
    """Paths whose file is the one the index was built from."""
    return frozenset(
        record.path
        for record in index.files()
        if record.source_digest and done.digests.get(record.path) == record.source_digest
    )


def _of_unchanged(
    differences: Iterator[Difference], unchanged: frozenset[str]
) -> Iterator[Difference]:
    """The differences that count in a stale index: rows that one unchanged file alone gives."""
    return (item for item in differences if not item.cross and item.path in unchanged)


def _named(
    differences: Iterator[Difference], ids: Mapping[str, str], *, name_all: bool
) -> Iterator[Finding]:
    """The differences as findings: all of them, or the first and how many more there are."""
    counted = 0
    for item in differences:
        counted += 1
        if name_all or counted <= NAMED_BY_DEFAULT:
            yield _difference(item, ids.get(item.path, item.path))
    if not name_all and counted > NAMED_BY_DEFAULT:
        yield Finding(
            code="index-diverged",
            subject=INDEX,
            path=INDEX,
            expected="no difference",
            actual=f"{counted - NAMED_BY_DEFAULT} more rows differ",
            remedy="syn verify --rebuild names them all",
            local=True,
        )


def _difference(item: Difference, subject: str) -> Finding:
    key = " ".join(str(part) for part in item.key)
    where = f"{item.table} {key}" + (f" {item.column}" if item.column else "")
    return Finding(
        code=f"index-row-{item.kind}",
        subject=subject or where,
        path=item.path or INDEX,
        expected=f"{where}: {item.expected}",
        actual=item.actual,
        remedy="the Markdown is the truth: syn repair, or delete .synapse/index.db and syn reindex",
        local=True,
    )
