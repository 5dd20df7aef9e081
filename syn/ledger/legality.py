"""Whether each decision was allowed where it stands (INV-10, design 8).

A fact is absent, living or deleted, and it may be closed. The table says which actions each state
takes; a closed one changes only by `undo`, `move`, `delete`, or a decision whose review is `named`.
"""

from collections.abc import Iterable, Mapping

from syn.ledger.entry import HashedEntry
from syn.ledger.faults import Fault
from syn.ledger.heads import closed_before, predecessors
from syn.ledger.segments import place
from syn.model.ledger import FACT_ACTIONS, Entry

_STARTS = frozenset({"create", "supersede", "expunge"})
"""Actions on a fact that no decision was made on."""
_REVIVES = frozenset({"create", "supersede", "undo", "restore", "expunge"})
"""Actions on a fact that was deleted."""
_LIVING = FACT_ACTIONS - {"create"}
"""Actions on a fact that is there."""
_THROUGH_CLOSED = frozenset({"undo", "move", "delete"})
"""Actions that a closed fact takes without being named."""


def legality_faults(entries: Iterable[HashedEntry]) -> tuple[Fault, ...]:
    """The decisions that break a rule, sorted by place; linear in the entries."""
    facts: dict[str, dict[str, Entry]] = {}
    for digest, entry in entries:
        if entry.fact and entry.action in FACT_ACTIONS:
            facts.setdefault(entry.fact, {})[digest] = entry
    faults: list[Fault] = []
    for decisions in facts.values():
        faults += _fact_faults(decisions)
    return tuple(sorted(faults, key=Fault.sort_key))


def _fact_faults(decisions: Mapping[str, Entry]) -> list[Fault]:
    parents = predecessors(decisions)
    closed = closed_before(decisions, parents)
    faults: list[Fault] = []
    for digest, entry in decisions.items():
        before = [decisions[parent] for parent in parents[digest]]
        if fault := _state_fault(entry, before):
            faults.append(fault)
        elif closed.get(digest, False) and not _may_change_closed(entry, before):
            faults.append(
                _fault(
                    entry,
                    "closed-changed",
                    "an undo, move or delete, or a decision whose review is named",
                    f"{entry.action} with review {entry.review or 'none'}",
                    "syn undo takes the decision back; syn adopt with the fact's path names it",
                )
            )
    return faults


def _state_fault(entry: Entry, before: list[Entry]) -> Fault | None:
    if not before:
        # A reference that leads nowhere is its own fault (`dangling-after`), not this one.
        state, allowed = "absent", _STARTS if not entry.after else FACT_ACTIONS
    elif any(parent.payload for parent in before):
        state, allowed = "living", _LIVING
    else:
        state, allowed = "deleted", _REVIVES
    if entry.action in allowed:
        return None
    return _fault(
        entry,
        "illegal-action",
        f"on a fact that is {state}: {', '.join(sorted(allowed))}",
        entry.action,
        "syn undo takes the decision back; syn adopt records the fact as it is",
    )


def _may_change_closed(entry: Entry, before: list[Entry]) -> bool:
    if entry.action in _THROUGH_CLOSED or entry.review == "named":
        return True
    if not any(parent.payload for parent in before):
        return True
    return all((entry.payload, entry.path) == (parent.payload, parent.path) for parent in before)


def _fault(entry: Entry, code: str, expected: str, actual: str, remedy: str) -> Fault:
    path, line = place(entry)
    return Fault(
        code=code,
        subject=entry.fact,
        path=path,
        line=line,
        byte=0,
        expected=expected,
        actual=actual,
        remedy=remedy,
    )
