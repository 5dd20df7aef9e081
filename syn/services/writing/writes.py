"""A person's own writes: planned, judged by the gate, recorded, all under one lock (design 10)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from syn.canon.digest import sha256
from syn.errors import SynError
from syn.ledger.build import Draft
from syn.ledger.entry import HashedEntry
from syn.ledger.heads import seen
from syn.model.finding import Json
from syn.model.ledger import Review, Via
from syn.services.recall.indexing import Reading
from syn.services.recall.opening import open_current, reindex
from syn.services.recall.reading import stored_bytes
from syn.services.workspace import Workspace
from syn.services.writing.changes import Change
from syn.services.writing.decision import Decision, FileChange
from syn.services.writing.desk import Desk
from syn.services.writing.exclusive import exclusively
from syn.services.writing.gate import Override, Reason, Verdict, check, judge
from syn.services.writing.planning import Item, Plan, plan_changes
from syn.services.writing.recorder import actor, recorder
from syn.services.writing.transaction import record

Note = Callable[[str], None]
NOTHING_TAKEN_ON = Override()


@dataclass(frozen=True, slots=True)
class Terms:
    """How a decision is made: by whom, why, and what the person takes on."""

    reason: str = ""
    override: Override = NOTHING_TAKEN_ON
    via: Via = "cli"
    review: Review = "seen"
    proposal: str = ""
    discard: tuple[str, ...] = ()
    """Files of pending proposals that it settles."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a write recorded."""

    plan: Plan
    verdict: Verdict
    entries: tuple[HashedEntry, ...]
    taken_back: tuple[str, ...] = ()
    """Files that are no facts and got their recorded bytes back."""


def write(workspace: Workspace, changes: Iterable[Change], terms: Terms, note: Note) -> Written:
    """Plan changes, judge them and record them as one decision.

    Raises:
        GateError: the gate holds it and nobody took that on.
        UsageError, RefusedError, CannotError: it cannot be made; nothing was done.
    """
    with exclusively(workspace):
        index, reading = open_current(workspace, note)
        with index:
            plan = plan_changes(reading, index, changes, workspace.around.now)
            verdict = judge(plan, reading, index)
        check(verdict, terms.override)
        entries = carry_out(workspace, reading, plan, verdict, terms)
        refresh(workspace, note)
    return Written(plan, verdict, entries)


def current_body(workspace: Workspace, name: str, note: Note) -> str:
    """The body of a fact as it stands now; raises as `Desk.look`."""
    index, reading = open_current(workspace, note)
    with index:
        return Desk(reading, index).look(name).fact.body


def carry_out(
    workspace: Workspace, reading: Reading, plan: Plan, verdict: Verdict, terms: Terms
) -> tuple[HashedEntry, ...]:
    """Record a plan that was judged; the caller holds the lock. Nothing planned, nothing done."""
    if not plan.items:
        return ()
    by_name = {reason.fact for reason in verdict.of("screened", "conflict", "duplicate")}
    drafts = [
        _draft(workspace, reading, item, terms, "named" if item.id in by_name else terms.review)
        for item in plan.items
    ]
    decision = Decision(
        drafts=tuple(drafts),
        changes=tuple(change for item in plan.items for change in _file_changes(item)),
        message=terms.reason or _message(plan),
        discard=terms.discard,
    )
    return record(workspace, reading, decision, recorder(workspace))


def refresh(workspace: Workspace, note: Note) -> None:
    """Bring the index up to date after a write; what fails is told, the write stands."""
    try:
        reindex(workspace)
    except (SynError, OSError) as error:
        note(f"the index was not brought up to date: {error}")


def _draft(
    workspace: Workspace, reading: Reading, item: Item, terms: Terms, review: Review
) -> Draft:
    after, prior = seen(reading.ledger.recorded.get(item.id))
    stored = None if item.after is None else stored_bytes(reading.snapshot, item.path, item.after)
    return Draft(
        actor=actor(workspace),
        via=terms.via,
        action=item.action,
        review=review,
        fact=item.id,
        path=item.path,
        payload=item.new.payload_digest if item.new else "",
        source="" if stored is None else sha256(stored),
        taint=item.taint if item.new else "",
        after=after,
        prior=prior,
        proposal=terms.proposal,
        reason=terms.reason,
        names=item.names,
    )


def _file_changes(item: Item) -> list[FileChange]:
    base = "" if item.before is None else sha256(item.before)
    if item.was:
        return [FileChange(item.path, item.after, ""), FileChange(item.was, None, base)]
    return [FileChange(item.path, item.after, base)] if item.changes_file else []


def _message(plan: Plan) -> str:
    first = plan.items[-1] if plan.items[-1].action == "supersede" else plan.items[0]
    more = f" and {len(plan.items) - 1} more" if len(plan.items) > 1 else ""
    return f"{first.action} {first.id}{more}"


def written_json(done: Written) -> dict[str, Json]:
    """What a write command answers with `--json`."""
    return {
        "recorded": len(done.entries),
        "decision": done.entries[0][0] if done.entries else None,
        "entries": [digest for digest, _ in done.entries],
        "facts": [
            {"id": item.id, "path": item.path, "action": item.action} for item in done.plan.items
        ],
        "class": done.verdict.kind,
        "reasons": reasons_json(done.verdict),
        **({"taken_back": list(done.taken_back)} if done.taken_back else {}),
    }


def reasons_json(verdict: Verdict) -> list[Json]:
    """Why a plan has its class."""
    return [dict(reason_json(reason)) for reason in verdict.reasons]


def reason_json(reason: Reason) -> dict[str, Json]:
    """One reason; members that are absent are left out."""
    answer: dict[str, Json] = {
        "class": reason.kind,
        "code": reason.code,
        "fact": reason.fact,
        "message": reason.message,
        "path": reason.path,
        "line": reason.line,
        "other": reason.other,
    }
    return {key: value for key, value in answer.items() if value}
