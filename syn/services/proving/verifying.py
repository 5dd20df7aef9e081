"""`syn verify`: collect evidence, check it, add it up to a report."""

import platform
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from syn import __version__
from syn.git.alterations import alterations
from syn.git.repository import Repository
from syn.git.resolve import resolve
from syn.ledger.entry import HashedEntry
from syn.model.config import Profile
from syn.model.finding import Finding, Json
from syn.model.report import Report, Subject
from syn.services.proving.cells import cell_evidence
from syn.services.proving.collect import (
    Pass,
    config_evidence,
    evidence_hash,
    index_evidence,
    ledger_evidence,
    pass_over,
)
from syn.services.proving.growth import history_growth, unborn_growth, worktree_growth
from syn.services.proving.proofs import NOTHING_FROM_OUTSIDE, Outside, collect_proofs
from syn.services.proving.versions import replay_evidence, transition_evidence
from syn.services.recall.indexing import Progress, Reading
from syn.services.recall.steady import steadily
from syn.services.trust.policy import policy_of
from syn.services.workspace import Workspace, stamp
from syn.services.writing.acknowledge import accepted_commits
from syn.services.writing.writer import load_writers
from syn.verify.evidence import (
    CellEvidence,
    Evidence,
    FactView,
    GrowthEvidence,
    Unread,
)
from syn.verify.level import level_of, trust_root_of
from syn.verify.run import Scope, apply_profile, check_all, verdict_of

LIMITS = (
    "Tamper-evident, not tamper-proof: whoever can rewrite the whole history and sign it again "
    "makes another one that holds as well; only a witness kept elsewhere (--since) tells.",
    "It proves that the memory is what was decided on, not that what was decided is true.",
    "INV-6 (both doors answer alike), INV-7 (state is rebuilt from files) and INV-11 (as-of equals "
    "what held) are proven by the test suite of syn, not for this workspace.",
)


Observe: TypeAlias = Callable[[Iterable[HashedEntry], Iterable[FactView]], None]


@dataclass(frozen=True, slots=True)
class Request:
    """What a caller asks of a verification."""

    ref: str = ""
    """A commit instead of the work tree."""
    deep: bool = False
    rebuild: bool = False
    """Name every diverging row."""
    profile: Profile = "standard"
    """May raise the workspace's own profile, never lower it."""
    outside: Outside = NOTHING_FROM_OUTSIDE
    """What the caller brought from outside the repository."""


def verify(
    workspace: Workspace,
    request: Request,
    executor: Executor | None = None,
    progress: Progress | None = None,
    observe: Observe | None = None,
) -> Report:
    """Verify a workspace and say everything that was found; never raises for what it finds.

    `observe` is shown the decisions and the facts, for a page about them.

    Raises:
        UsageError: `ref` names no commit.
        CannotError: there is nothing that could be read at all.
    """
    beside: Literal["live", "scratch"] = "live" if _is_live(workspace, request) else "scratch"

    def read() -> Report:
        with pass_over(workspace, request.ref, executor, progress, beside=beside) as done:
            report = examine(workspace, request, done)
            if observe is not None:
                observe(done.reading.ledger.ledger.entries(), done.views)
            return report

    return read() if request.ref else steadily(workspace, read, lambda _: None)


def examine(workspace: Workspace, request: Request, done: Pass) -> Report:
    """`verify` over a pass that was made of the snapshot which `request.ref` names."""
    hashed, unread, heads = evidence_hash(done.reading)
    evidence = _evidence(workspace, request, done, unread)
    subject = _subject(workspace, request, done, (hashed, heads))
    outside = request.outside
    scope = Scope(deep=request.deep, since=outside.since is not None, root=outside.gives_root)
    results = check_all(evidence, scope)
    strict = "strict" in (request.profile, done.reading.config.profile)
    profile: Profile = "strict" if strict else "standard"
    checkpoint = evidence.checkpoints.state
    results = apply_profile(results, profile, subject, checkpoint)
    level, reason = level_of(evidence, results, subject, checkpoint)
    return Report(
        subject=subject,
        tool_version=__version__,
        profile=profile,
        verdict=verdict_of(results),
        level=level,
        level_reason=reason,
        trust_root=trust_root_of(evidence),
        manifest_digest=evidence.index.projected,
        invariants=results,
        ts=stamp(workspace.around.report_time),
        checkpoint=checkpoint,
        witness_status=evidence.witness.status if evidence.witness else "none",
        limits=LIMITS,
        local=_local(workspace, done, evidence),
    )


def _head(workspace: Workspace, request: Request) -> str:
    """The commit that is verified, or the work tree's HEAD; "" on an unborn branch."""
    repository = workspace.repository
    return resolve(repository, request.ref) if request.ref else repository.head().commit or ""


def _evidence(workspace: Workspace, request: Request, done: Pass, unread: list[Unread]) -> Evidence:
    reading = done.reading
    head = _head(workspace, request)
    proofs = collect_proofs(workspace.repository, head, done, request.outside, deep=request.deep)
    index = index_evidence(
        workspace, done, live=_is_live(workspace, request), name_all=request.rebuild
    )
    return Evidence(
        facts=tuple(done.views),
        unreadable=tuple(done.unreadable),
        warnings=done.warnings,
        new=reading.files.new,
        excluded=reading.files.excluded,
        config=config_evidence(reading),
        policy=config_evidence(reading, "policy"),
        ledger=ledger_evidence(reading, proofs.signatures),
        index=proofs.anchor(index),
        growth=_growth(workspace, request, reading),
        checkpoints=proofs.checkpoints,
        receipts=proofs.receipts,
        unread=(*unread, *done.unread),
        witness=proofs.witness,
        identity=proofs.identity,
        cells=_cells(workspace, request, done) if request.deep else None,
        replay=replay_evidence(reading) if request.deep else None,
        transitions=transition_evidence(
            workspace.repository, reading, head, live=_is_live(workspace, request)
        )
        if request.deep
        else None,
        multi=frozenset(reading.config.multi),
    )


def _cells(workspace: Workspace, request: Request, done: Pass) -> CellEvidence:
    trusted = request.outside.trust.keys if request.outside.trust else ()
    keys = {item.key.fingerprint: item.key for item in trusted}
    live = _is_live(workspace, request)
    return cell_evidence(workspace, done, keys, live=live, name_all=request.rebuild)


def _is_live(workspace: Workspace, request: Request) -> bool:
    return not request.ref and workspace.repository.root is not None


def _growth(workspace: Workspace, request: Request, reading: Reading) -> GrowthEvidence:
    repository = workspace.repository
    head = _head(workspace, request)
    altered = _altered(repository, deep=request.deep)
    if not head:
        unborn = unborn_growth(load_writers(workspace), reading)
        return GrowthEvidence(0, 0, True, (*unborn, *altered))
    acknowledged = accepted_commits(reading, policy_of(reading))
    grown = history_growth(repository, head, acknowledged, deep=request.deep)
    here = worktree_growth(repository, reading) if _is_live(workspace, request) else ()
    return replace(grown, findings=(*grown.findings, *here, *altered))


def _altered(repository: Repository, *, deep: bool) -> Iterator[Finding]:
    """What makes git itself tell another history here; we read the objects, so it only warns."""
    for found in alterations(repository, commit_graph=deep):
        if found.kind in ("replace", "grafts", "commit-graph", "broken-ref"):
            yield Finding(
                code=f"repository-{found.kind}",
                subject=found.detail,
                expected="a repository in which git reads its own objects",
                actual=f"{found.kind}: git may show another history here than syn reads",
                remedy="syn is not misled by it; remove it, or git log will be",
                severity="warning",
                local=True,
            )


def _subject(
    workspace: Workspace, request: Request, done: Pass, evidence: tuple[str, bool]
) -> Subject:
    reading, (hashed, heads) = done.reading, evidence
    repository = workspace.repository
    commit = _head(workspace, request)
    same = bool(commit)
    worktree: Literal["clean", "dirty", "none"] = "none"
    if not request.ref and repository.root is not None:
        same = same and heads and done.heads and done.reading.heads
        worktree = "clean" if same else "dirty"
    return Subject(
        workspace=reading.config.id,
        name=reading.config.name,
        git_ref=request.ref or "worktree",
        worktree=worktree,
        inputs_hash=done.inputs_hash,
        evidence_hash=hashed,
        commit=commit if same else "",
        tree=repository.store.commit(commit).tree if same else "",
    )


def _local(workspace: Workspace, done: Pass, evidence: Evidence) -> dict[str, Json]:
    """What holds on this machine only."""
    return {
        "index": evidence.index.state,
        "index_manifest": evidence.index.live,
        "python": platform.python_version(),
        "new": list(evidence.new),
        "excluded": evidence.excluded,
        "warnings": evidence.warnings,
        "repository": [
            f"{a.kind}: {a.detail}" for a in alterations(workspace.repository, commit_graph=False)
        ],
        "root": workspace.root.name if workspace.repository.root else "",
    }
