"""Quarantine and clear: decisions about whether a fact may be handed to agents (design 12)."""

from dataclasses import dataclass

from syn.errors import RefusedError, UsageError
from syn.keys.policy import Role
from syn.ledger.build import Draft
from syn.ledger.entry import HashedEntry
from syn.ledger.heads import seen
from syn.model.ledger import Action, Review
from syn.model.recorded import Recorded
from syn.services.recall.holding import Held, held_by
from syn.services.recall.indexing import Reading, read_workspace
from syn.services.recall.reads import UnknownFactError, near_names
from syn.services.recall.standing import ledger_faults, standing_of
from syn.services.trust.policy import head_policy, own_key
from syn.services.trust.policy_change import NotAdminError
from syn.services.workspace import Workspace
from syn.services.writing.decision import Decision
from syn.services.writing.exclusive import exclusively
from syn.services.writing.recorder import actor, recorder
from syn.services.writing.transaction import record
from syn.services.writing.writes import Note, refresh


def _quiet(_: str) -> None:
    """Nobody listens."""


class NothingToClearError(RefusedError):
    """A fact that nothing holds back."""

    def __init__(self, fact: str, *, tainted: bool) -> None:
        remedy = "its taint is lifted with --taint" if tainted else "syn show tells how it stands"
        super().__init__("nothing-to-clear", f"{fact} is not quarantined", remedy)


@dataclass(frozen=True, slots=True)
class Clearance:
    """What a clear would lift, for a person to look at."""

    fact: str
    path: str
    lifts: tuple[Held, ...]
    """Sorted by hash."""


def quarantine(workspace: Workspace, name: str, reason: str, note: Note = _quiet) -> HashedEntry:
    """Keep a recorded fact from agents until a clear names this decision.

    Raises:
        UsageError: no reason, or no such fact.
        RefusedError: no decision records the fact (`unrecorded`), or it is deleted.
    """
    if not reason.strip():
        raise UsageError("no-reason", "a quarantine says why", "give --reason")
    with exclusively(workspace):
        reading = read_workspace(workspace)
        known = _known(reading, name)
        draft = _draft(workspace, known, "quarantine", "named", reason)
        entry = _record(workspace, reading, draft, f"quarantine {known.fact}")
        refresh(workspace, note)
    return entry


def plan_clear(workspace: Workspace, name: str, *, taint: bool = False) -> Clearance:
    """What `syn clear` would lift: every quarantine that holds, and with `taint` its taint too.

    Raises:
        UsageError: there is no such fact.
        NothingToClearError: nothing holds it back.
        NotAdminError: there is a policy, and no key here is an admin's.
        RefusedError: the ledger does not hold (`ledger-broken`).
    """
    _refuse_stranger(workspace)
    return _plan(read_workspace(workspace), name, taint=taint)


def clear(
    workspace: Workspace, shown: Clearance, reason: str, review: Review, note: Note = _quiet
) -> HashedEntry:
    """Lift exactly what was shown; a quarantine made in between holds on.

    Raises:
        NotAdminError: there is a policy, and no key here is an admin's.
        RefusedError: what was shown does not hold any more (`out-of-date`).
    """
    _refuse_stranger(workspace)
    with exclusively(workspace):
        reading = read_workspace(workspace)
        _refuse_broken(reading)
        known = _known(reading, shown.fact)
        names = tuple(held.entry for held in shown.lifts)
        holding = standing_of(reading, known.fact).known or known
        if not {*names} <= {*holding.quarantine, *holding.tainted_by}:
            raise RefusedError(
                "out-of-date",
                f"{known.fact}: what was shown was lifted in between",
                "look at it again and repeat the command",
            )
        draft = _draft(workspace, known, "clear", review, reason, names)
        entry = _record(workspace, reading, draft, f"clear {known.fact}", "admin")
        refresh(workspace, note)
    return entry


def _plan(reading: Reading, name: str, *, taint: bool) -> Clearance:
    _refuse_broken(reading)
    known = _known(reading, name)
    known = standing_of(reading, known.fact).known or known
    tainted = known.tainted_by if taint else ()
    lifts = held_by(reading, known.fact, known.quarantine, tainted)
    if not lifts:
        raise NothingToClearError(known.fact, tainted=bool(known.tainted_by))
    return Clearance(known.fact, known.path, lifts)


def _known(reading: Reading, name: str) -> Recorded:
    """The recorded fact with this id, else the one at this path."""
    recorded = reading.ledger.recorded
    known = recorded.get(name) or next(
        (state for state in recorded.values() if state.path == name and not state.deleted), None
    )
    if known is None:
        near = near_names(name, recorded)
        raise UnknownFactError(name, near)
    if known.deleted:
        raise RefusedError("fact-deleted", f"{known.fact} is deleted by a decision", "syn log")
    return known


def _refuse_stranger(workspace: Workspace) -> None:
    if head_policy(workspace) is not None and own_key(workspace, "admin") is None:
        raise NotAdminError


def _refuse_broken(reading: Reading) -> None:
    """Nothing is lifted by a ledger that does not hold: a quarantine may be missing from it."""
    for found in ledger_faults(reading):
        raise RefusedError(
            "ledger-broken",
            f"the ledger does not hold: {found.code} at {found.path}:{found.line}",
            "syn verify names what is wrong",
        )


def _draft(
    workspace: Workspace,
    known: Recorded,
    action: Action,
    review: Review,
    reason: str,
    names: tuple[str, ...] = (),
) -> Draft:
    after, prior = seen(known)
    return Draft(
        actor=actor(workspace),
        via="cli",
        action=action,
        review=review,
        fact=known.fact,
        path=known.path,
        payload=known.payload,
        source=known.source,
        after=after,
        prior=prior,
        reason=reason,
        names=names,
    )


def _record(
    workspace: Workspace, reading: Reading, draft: Draft, message: str, role: Role = "writer"
) -> HashedEntry:
    decision = Decision((draft,), message=f"{message}: {draft.reason}".rstrip(": "))
    return record(workspace, reading, decision, recorder(workspace, role))[0]
