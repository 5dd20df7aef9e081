"""From evidence to a verdict: run the invariants that were asked for and add them up."""

from dataclasses import dataclass, replace

from syn.model.config import Profile
from syn.model.finding import Finding, InvariantResult, Status, Verdict
from syn.model.report import CheckpointState, Subject
from syn.verify.evidence import Evidence
from syn.verify.invariant import Invariant, conclude
from syn.verify.registry import all_invariants

NOTHING = "nothing to check"


@dataclass(frozen=True, slots=True)
class Scope:
    """Which invariants a run is asked for."""

    deep: bool = False
    since: bool = False
    root: bool = False
    """A trust root for identities is given."""


def selected(scope: Scope) -> tuple[Invariant, ...]:
    """The invariants of a run, by number; never none."""
    wanted = {
        "default": True,
        "deep": scope.deep,
        "since": scope.since,
        "root": scope.deep or scope.root,
    }
    return tuple(invariant for invariant in all_invariants() if wanted[invariant.when])


def check_all(evidence: Evidence, scope: Scope) -> tuple[InvariantResult, ...]:
    """The result of every invariant in scope, by number."""
    known = {result.id: result for result in evidence.stands}
    return tuple(
        known.get(invariant.id) or conclude(invariant, evidence) for invariant in selected(scope)
    )


def apply_profile(
    results: tuple[InvariantResult, ...],
    profile: Profile,
    subject: Subject,
    checkpoint: CheckpointState | None,
) -> tuple[InvariantResult, ...]:
    """Under `strict`, warnings and every skip but "nothing to check" fail.

    So do a dirty work tree, and a state that no checkpoint signed under the policy covers.
    """
    if profile == "standard":
        return results
    return tuple(_strict(result, subject, checkpoint) for result in results)


def _strict(
    result: InvariantResult, subject: Subject, checkpoint: CheckpointState | None
) -> InvariantResult:
    findings = tuple(
        replace(f, severity="failure") if f.severity == "warning" else f for f in result.findings
    )
    if result.id == "INV-2" and subject.worktree == "dirty":
        findings += (_dirty(),)
    if result.id == "INV-3" and (checkpoint is None or not checkpoint.authorized):
        findings += (_unsigned(),)
    failed = any(f.severity == "failure" for f in findings)
    if result.status is Status.SKIP and result.evidence.get("capped"):
        failed = True
    status = Status.FAIL if failed else result.status
    return replace(result, status=status, findings=findings)


def _dirty() -> Finding:
    return Finding(
        code="worktree-dirty",
        subject="worktree",
        expected="inputs and evidence equal to HEAD's",
        actual="they differ",
        remedy="commit, or verify --ref HEAD",
        local=True,
    )


def _unsigned() -> Finding:
    return Finding(
        code="signature-missing",
        subject="checkpoint",
        expected="a checkpoint that a publisher of the policy signed covers the state",
        actual="none",
        remedy="syn key init, then syn checkpoint",
    )


def verdict_of(results: tuple[InvariantResult, ...]) -> Verdict:
    """`fail` outweighs `incomplete`, which outweighs `pass`; no result at all is an error."""
    if not results:
        raise RuntimeError("a verdict over zero checks")
    statuses = {result.status for result in results}
    if Status.FAIL in statuses:
        return "fail"
    if Status.INCOMPLETE in statuses:
        return "incomplete"
    return "pass"
