"""Proposals: asked, looked at, accepted as exactly what was shown, or rejected (design 10)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from syn.canon.digest import tagged_json
from syn.errors import RefusedError, SynError, UsageError
from syn.index.store import Index
from syn.ledger.build import Draft
from syn.ledger.entry import HashedEntry
from syn.model.finding import Json
from syn.model.ledger import Review
from syn.report.diff import render
from syn.services.recall.fielddiff import changes_json, compare_facts
from syn.services.recall.indexing import Reading
from syn.services.recall.opening import open_current
from syn.services.workspace import Workspace, stamp
from syn.services.writing.changes import Add, Change, Supersede, change_json
from syn.services.writing.decision import Decision
from syn.services.writing.exclusive import exclusively
from syn.services.writing.gate import Override, Verdict, check, judge
from syn.services.writing.planning import Item, Plan, plan_changes
from syn.services.writing.proposals import (
    Damaged,
    Proposal,
    ProposalVia,
    enqueue,
    find_proposal,
    queue,
)
from syn.services.writing.recorder import actor, recorder
from syn.services.writing.transaction import record
from syn.services.writing.writes import (
    NOTHING_TAKEN_ON,
    Terms,
    Written,
    carry_out,
    reasons_json,
    refresh,
)

Note = Callable[[str], None]
_NO_PLAN = Plan(())
_NO_VERDICT = Verdict("clear", ())


class StaleError(RefusedError):
    """The files that a proposal starts from are others now."""

    def __init__(self, proposal: Proposal) -> None:
        super().__init__(
            "out-of-date",
            f"proposal {proposal.short}: the facts it changes are others than when it was made",
            "reject it and ask for a new one",
        )


class ChangedSinceShownError(RefusedError):
    """Accepting would do something else than what was shown."""

    def __init__(self, proposal: Proposal) -> None:
        super().__init__(
            "out-of-date",
            f"proposal {proposal.short}: what it would do changed after it was shown",
            "look at it again: syn pending show",
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """A proposal as it stands today."""

    proposal: Proposal
    plan: Plan
    verdict: Verdict
    stale: SynError | None = None
    """Why it cannot be accepted any more, whatever one takes on."""

    @property
    def shown(self) -> str:
        """Digest of what a person looks at: the proposal, its files before and after, its class."""
        return tagged_json(
            "shown/1",
            [
                self.proposal.digest,
                self.plan.base,
                self.plan.result,
                reasons_json(self.verdict),
                self.stale.message if self.stale else "",
            ],
        )


@dataclass(frozen=True, slots=True)
class Asked:
    """Who proposes, how, and why."""

    actor: str
    via: ProposalVia = "cli"
    reason: str = ""


def propose(workspace: Workspace, changes: Iterable[Change], asked: Asked, note: Note) -> Judged:
    """Queue changes for a person; nothing else happens.

    Raises:
        UsageError, RefusedError: they cannot be made at all, or change nothing.
        QueueFullError: too many wait.
    """
    index, reading = open_current(workspace, note)
    with index:
        return propose_into(workspace, reading, index, changes, asked)


def propose_into(
    workspace: Workspace, reading: Reading, index: Index, changes: Iterable[Change], asked: Asked
) -> Judged:
    """`propose` for a reader at hand."""
    plan = plan_changes(reading, index, changes, workspace.around.now)
    if not plan.items:
        raise UsageError("nothing-to-propose", "the facts say that already")
    proposal = Proposal(
        workspace=workspace.config.id,
        created=stamp(workspace.around.now),
        actor=asked.actor,
        via=asked.via,
        reason=asked.reason,
        base=plan.base,
        changes=plan.changes,
    )
    return Judged(enqueue(workspace, proposal), plan, judge(plan, reading, index))


def look(workspace: Workspace, reading: Reading, index: Index, proposal: Proposal) -> Judged:
    """A waiting proposal as it stands today; what is stale is a value, not an error."""
    try:
        plan = plan_changes(reading, index, proposal.changes, workspace.around.now)
    except SynError as error:
        return Judged(proposal, _NO_PLAN, _NO_VERDICT, error)
    stale = StaleError(proposal) if plan.base != proposal.base else None
    return Judged(proposal, plan, judge(plan, reading, index), stale)


def as_supersede(judged: Judged, workspace: Workspace, reading: Reading, index: Index) -> Judged:
    """The same proposal, taking the place of the facts that its new facts contradict.

    Raises:
        RefusedError: it contradicts none, or cannot take their place.
    """
    others: dict[str, list[str]] = {}
    for reason in judged.verdict.reasons:
        if reason.code == "value-overlaps" and reason.other:
            others.setdefault(reason.fact, []).append(reason.other)
    changes: list[Change] = []
    found = False
    for change in judged.plan.changes:
        if isinstance(change, Add) and change.new.id in others:
            found = True
            changes.append(Supersede(tuple(dict.fromkeys(others[change.new.id])), change.new))
        else:
            changes.append(change)
    if not found:
        raise RefusedError(
            "nothing-to-supersede",
            f"proposal {judged.proposal.short}: no new fact in it contradicts another one",
            "accept it without --supersede",
        )
    plan = plan_changes(reading, index, changes, workspace.around.now)
    return Judged(judged.proposal, plan, judge(plan, reading, index), judged.stale)


@dataclass(frozen=True, slots=True)
class Consent:
    """How far a person agrees."""

    review: Review = "seen"
    reason: str = ""
    override: Override = NOTHING_TAKEN_ON
    supersede: bool = False


def show(
    workspace: Workspace, names: Sequence[str], note: Note, *, supersede: bool = False
) -> tuple[Judged, ...]:
    """The proposals with these ids, as accepting them would carry them out."""
    index, reading = open_current(workspace, note)
    with index:
        return tuple(
            _judged(workspace, reading, index, find_proposal(workspace, name), supersede=supersede)
            for name in names
        )


def _judged(
    workspace: Workspace, reading: Reading, index: Index, proposal: Proposal, *, supersede: bool
) -> Judged:
    judged = look(workspace, reading, index, proposal)
    if supersede and judged.stale is None:
        return as_supersede(judged, workspace, reading, index)
    return judged


def accept(workspace: Workspace, shown: Judged, consent: Consent, note: Note) -> Written:
    """Carry out exactly what was shown, as one decision, and take it off the queue.

    Raises:
        StaleError, ChangedSinceShownError: it would be something else now.
        GateError: the gate holds it and nobody took that on.
    """
    with exclusively(workspace):
        proposal = find_proposal(workspace, shown.proposal.digest)
        index, reading = open_current(workspace, note)
        with index:
            judged = _judged(workspace, reading, index, proposal, supersede=consent.supersede)
        if judged.stale is not None:
            raise judged.stale
        if judged.shown != shown.shown:
            raise ChangedSinceShownError(proposal)
        check(judged.verdict, consent.override)
        terms = Terms(
            reason=_reason(workspace, proposal, consent),
            via=proposal.via,
            review=consent.review,
            proposal=proposal.digest,
            discard=(proposal.file,),
        )
        entries = carry_out(workspace, reading, judged.plan, judged.verdict, terms)
        refresh(workspace, note)
    return Written(judged.plan, judged.verdict, entries)


def _reason(workspace: Workspace, proposal: Proposal, consent: Consent) -> str:
    reason = consent.reason or proposal.reason
    if proposal.actor == actor(workspace):
        return reason
    return f"{reason} (proposed by {proposal.actor})".lstrip()


def reject(
    workspace: Workspace, names: Sequence[str], reason: str, note: Note
) -> tuple[HashedEntry, ...]:
    """Take proposals off the queue and record that they were rejected.

    Raises:
        UsageError: a name is that of none, or of several.
    """
    with exclusively(workspace):
        found = [_waiting(workspace, name) for name in dict.fromkeys(names)]
        index, reading = open_current(workspace, note)
        index.close()
        drafts = [
            Draft(
                actor=actor(workspace),
                via="cli",
                action="reject",
                review="named",
                fact=fact,
                proposal=f"sha256:{file.removesuffix('.json')}",
                reason=reason,
            )
            for file, fact in found
        ]
        decision = Decision(
            drafts=tuple(drafts),
            message=reason or f"reject {len(drafts)} proposal{'s' * (len(drafts) > 1)}",
            discard=tuple(file for file, _ in found),
        )
        return record(workspace, reading, decision, recorder(workspace))


def _waiting(workspace: Workspace, name: str) -> tuple[str, str]:
    """File and fact of a proposal in the queue; a damaged one has no fact."""
    prefix = name.removeprefix("sha256:")
    for item in queue(workspace):
        if isinstance(item, Damaged) and prefix and item.file.startswith(prefix):
            return item.file, ""
    proposal = find_proposal(workspace, name)
    return proposal.file, fact_of(proposal.changes[0])


def fact_of(change: Change) -> str:
    """The fact that a change is about first of all."""
    match change:
        case Add(new=new) | Supersede(new=new):
            return new.id
        case _:
            return change.id


# Answers.


def judged_json(judged: Judged, *, full: bool) -> dict[str, Json]:
    """A proposal as programs see it; `full` with every file's difference."""
    proposal = judged.proposal
    first = proposal.changes[0]
    more = f" and {len(proposal.changes) - 1} more" if len(proposal.changes) > 1 else ""
    answer: dict[str, Json] = {
        "id": proposal.digest,
        "type": "proposal",
        "title": f"{change_json(first)['op']} {fact_of(first)}{more}",
        "path": judged.plan.items[-1].path if judged.plan.items else "",
        "class": judged.verdict.kind,
        "reasons": reasons_json(judged.verdict),
        "actor": proposal.actor,
        "via": proposal.via,
        "reason": proposal.reason,
        "created": proposal.created,
        "facts": [fact_of(change) for change in proposal.changes],
    }
    if judged.stale is not None:
        answer["stale"] = {
            "code": judged.stale.code,
            "message": judged.stale.message,
            "remedy": judged.stale.remedy,
        }
    if full:
        answer["base"] = judged.plan.base
        answer["shown"] = judged.shown
        answer["changes"] = [dict(change_json(change)) for change in proposal.changes]
        answer["items"] = [item_json(item) for item in judged.plan.items]
    return answer


def item_json(item: Item) -> Json:
    """One fact's part of a plan, with what changes by field and by line."""
    answer: dict[str, Json] = {
        "action": item.action,
        "id": item.id,
        "path": item.path,
        "was": item.was,
        "fields": changes_json(compare_facts(item.old, item.new)),
        "diff": item_diff(item, color=False),
    }
    return {key: value for key, value in answer.items() if value != ""}


def item_diff(item: Item, *, color: bool) -> str:
    """The lines of a file that change, hidden characters made visible."""
    return render(_text(item.before), _text(item.after), color=color)


def _text(data: bytes | None) -> str:
    return "" if data is None else data.decode("utf-8", "backslashreplace")


def damaged_json(damaged: Damaged) -> dict[str, Json]:
    """A file in the queue that is no proposal."""
    return {
        "id": damaged.file.removesuffix(".json"),
        "type": "damaged",
        "title": damaged.reason,
        "path": "",
    }


def list_pending(workspace: Workspace, reading: Reading, index: Index) -> dict[str, Json]:
    """The queue, oldest first; each proposal judged as things are today."""
    items: list[Json] = []
    for found in queue(workspace):
        if isinstance(found, Damaged):
            items.append(dict(damaged_json(found)))
        else:
            items.append(judged_json(look(workspace, reading, index, found), full=False))
    return {"items": items, "total": len(items), "next": None}


def show_pending(
    workspace: Workspace, reading: Reading, index: Index, name: str
) -> dict[str, Json]:
    """One waiting proposal whole; raises as `find_proposal`."""
    proposal = find_proposal(workspace, name)
    return judged_json(look(workspace, reading, index, proposal), full=True)
