"""`syn verify`: collect evidence, check it, add it up to a report."""

import platform
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from syn import __version__
from syn.git.alterations import alterations
from syn.git.repository import Repository
from syn.git.resolve import resolve
from syn.ledger.entry import HashedEntry
from syn.model.config import Config, Profile
from syn.model.finding import Finding, Json, Level
from syn.model.report import Report, Subject
from syn.services.proving.accepted import accepted_commits
from syn.services.proving.collect import (
    Pass,
    config_evidence,
    evidence_hash,
    index_evidence,
    ledger_evidence,
    pass_over,
)
from syn.services.proving.growth import history_growth, unborn_growth, worktree_growth
from syn.services.proving.headcopies import head_copies
from syn.services.proving.instead import (
    attempt,
    gap,
    no_cells,
    no_proofs,
    no_transitions,
    nothing_read,
)
from syn.services.proving.proofs import NOTHING_FROM_OUTSIDE, Outside, collect_proofs
from syn.services.proving.unread import Unreadable
from syn.services.recall.indexing import Progress, Reading
from syn.services.recall.steady import steadily
from syn.services.trust.policy import policy_of
from syn.services.workspace import Workspace, stamp
from syn.services.writing.writer import load_writers
from syn.verify.evidence import (
    NOT_RECORDED,
    CellEvidence,
    Evidence,
    FactView,
    GrowthEvidence,
    ReplayEvidence,
    TransitionEvidence,
    Unread,
)
from syn.verify.level import level_of, trust_root_of
from syn.verify.run import Scope, apply_profile, check_all, selected, verdict_of

LIMITS = (
    "Tamper-evident, not tamper-proof: whoever can rewrite the whole history and sign it again "
    "makes another one that holds as well; only a witness kept elsewhere (--since) tells.",
    "It proves that the memory is what was decided on, not that what was decided is true.",
    "INV-6 (both doors answer alike), INV-7 (state is rebuilt from files) and INV-11 (as-of equals "
    "what held) are proven by the test suite of syn, not for this workspace.",
)


if TYPE_CHECKING:
    from syn.services.proving.baseline import Increment

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
    incremental: bool = False
    """Start from the report that the last such run kept (`baseline`)."""


def verify(
    workspace: Workspace,
    request: Request,
    executor: Executor | None = None,
    progress: Progress | None = None,
    observe: Observe | None = None,
) -> Report:
    """Verify a workspace and say everything that was found; never raises for what it finds.

    `observe` is shown the decisions and the facts, for a page about them.

    What cannot be read is named, and its invariant is incomplete, or failed where an object is not
    what its id says.

    Raises:
        UsageError: `ref` names no commit.
    """
    beside: Literal["live", "scratch"] = "live" if _is_live(workspace, request) else "scratch"

    def once(increment: "Increment | None") -> Report:
        engine = increment or executor
        with pass_over(
            workspace, request.ref, engine, progress, beside=beside, tolerant=True
        ) as done:
            report = examine(workspace, request, done)
            if increment is not None:
                increment.learn(done)
            if observe is not None:
                observe(done.reading.ledger.ledger.entries(), done.views)
            return report

    def read() -> Report:
        if not request.incremental:
            return once(None)
        from syn.services.proving.baseline import incrementally

        live = _is_live(workspace, request) and not request.deep
        shown = observe is not None
        return incrementally(workspace, request.outside, once, index=live, shown=shown)

    def report_on() -> Report:
        return attempt(read, partial(blind, workspace, request))

    return report_on() if request.ref else steadily(workspace, report_on, lambda _: None)


def examine(workspace: Workspace, request: Request, done: Pass) -> Report:
    """`verify` over a pass that was made of the snapshot which `request.ref` names."""
    hashed, unread, heads = evidence_hash(done.reading)
    head = attempt(partial(_head, workspace, request), lambda _: "")
    evidence = _evidence(workspace, request, done, head, unread)
    subject = _subject(workspace, request, done, head, (hashed, heads))
    results = check_all(evidence, _scope(request))
    profile = _profile(request, done.reading.config)
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


def blind(workspace: Workspace, request: Request, error: Unreadable) -> Report:
    """The report of a run that could not read its snapshot: what stopped it, and no more."""
    config = workspace.config
    state: Literal["dirty", "none"] = "dirty" if _is_live(workspace, request) else "none"
    results = tuple(nothing_read(invariant, error) for invariant in selected(_scope(request)))
    return Report(
        subject=Subject(config.id, config.name, request.ref or "worktree", state, "", ""),
        tool_version=__version__,
        profile=_profile(request, config),
        verdict=verdict_of(results),
        level=Level.L0,
        level_reason="nothing could be read",
        trust_root="local-only",
        manifest_digest="",
        invariants=results,
        ts=stamp(workspace.around.report_time),
        witness_status="cannot-tell" if request.outside.since else "none",
        limits=LIMITS,
    )


def _scope(request: Request) -> Scope:
    outside = request.outside
    return Scope(deep=request.deep, since=outside.since is not None, root=outside.gives_root)


def _profile(request: Request, config: Config) -> Profile:
    return "strict" if "strict" in (request.profile, config.profile) else "standard"


def _head(workspace: Workspace, request: Request) -> str:
    """The commit that is verified, or the work tree's HEAD; "" on an unborn branch."""
    repository = workspace.repository
    return resolve(repository, request.ref) if request.ref else repository.head().commit or ""


def _evidence(
    workspace: Workspace, request: Request, done: Pass, head: str, unread: list[Unread]
) -> Evidence:
    reading, clean = done.reading, done.clean
    proofs = attempt(
        lambda: collect_proofs(
            workspace.repository, head, done, request.outside, deep=request.deep
        ),
        partial(no_proofs, request.outside),
    )
    index = index_evidence(
        workspace, done, live=_is_live(workspace, request), name_all=request.rebuild
    )
    return Evidence(
        facts=tuple(done.views),
        known=clean.facts if clean else 0,
        stands=clean.results if clean else (),
        unreadable=tuple(done.unreadable),
        warnings=done.warnings,
        new=reading.files.new,
        excluded=reading.files.excluded,
        config=NOT_RECORDED if clean else config_evidence(reading),
        policy=NOT_RECORDED if clean else config_evidence(reading, "policy"),
        ledger=ledger_evidence(done, proofs.signatures),
        index=proofs.anchor(index),
        growth=_growth(workspace, request, reading, head),
        checkpoints=proofs.checkpoints,
        receipts=proofs.receipts,
        unread=(*unread, *done.unread),
        witness=proofs.witness,
        identity=proofs.identity,
        cells=_cells(workspace, request, done) if request.deep else None,
        replay=_replay(reading) if request.deep else None,
        transitions=_transitions(workspace, request, reading, head) if request.deep else None,
        multi=frozenset(reading.config.multi),
    )


def _cells(workspace: Workspace, request: Request, done: Pass) -> CellEvidence:
    from syn.services.proving.cells import cell_evidence  # session images, which only --deep reads

    trusted = request.outside.trust.keys if request.outside.trust else ()
    keys = {item.key.fingerprint: item.key for item in trusted}
    live = _is_live(workspace, request)
    return attempt(
        lambda: cell_evidence(workspace, done, keys, live=live, name_all=request.rebuild), no_cells
    )


def _replay(reading: Reading) -> ReplayEvidence:
    from syn.services.proving.versions import replay_evidence  # replays, which only --deep does

    return replay_evidence(reading)


def _transitions(
    workspace: Workspace, request: Request, reading: Reading, head: str
) -> TransitionEvidence:
    from syn.services.proving.versions import transition_evidence

    live = _is_live(workspace, request)
    return attempt(
        lambda: transition_evidence(workspace.repository, reading, head, live=live), no_transitions
    )


def _is_live(workspace: Workspace, request: Request) -> bool:
    return not request.ref and workspace.repository.root is not None


def _growth(workspace: Workspace, request: Request, reading: Reading, head: str) -> GrowthEvidence:
    repository = workspace.repository
    altered = attempt(lambda: tuple(_altered(repository, deep=request.deep)), gap("references"))
    if not head:
        unborn = unborn_growth(load_writers(workspace), reading)
        return GrowthEvidence(0, 0, True, (*unborn, *altered))
    here: tuple[Finding, ...] = ()
    if _is_live(workspace, request):
        here = attempt(lambda: worktree_growth(repository, reading), gap("HEAD"))
        if request.deep:
            here += attempt(lambda: tuple(head_copies(repository, reading)), gap("HEAD"))
    acknowledged = accepted_commits(reading, policy_of(reading))
    grown = history_growth(repository, head, acknowledged, deep=request.deep)
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
    workspace: Workspace, request: Request, done: Pass, commit: str, evidence: tuple[str, bool]
) -> Subject:
    reading, (hashed, heads) = done.reading, evidence
    repository = workspace.repository
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


def _alteration_texts(repository: Repository) -> tuple[str, ...]:
    found = alterations(repository, commit_graph=False)
    return tuple(f"{item.kind}: {item.detail}" for item in found)


def _message(error: Unreadable) -> tuple[str, ...]:
    return (error.message,)


def _local(workspace: Workspace, done: Pass, evidence: Evidence) -> dict[str, Json]:
    """What holds on this machine only."""
    repository = workspace.repository
    return {
        "index": evidence.index.state,
        "index_manifest": evidence.index.live,
        "python": platform.python_version(),
        "new": list(evidence.new),
        "excluded": evidence.excluded,
        "warnings": evidence.warnings,
        "repository": list(attempt(partial(_alteration_texts, repository), _message)),
        "root": repository.root.name if repository.root else "",
    }
