"""What the ledger says of each fact: decision heads, derived from the entries alone (design 5).

A set of entries has one answer, whatever order they come in: an entry is a head when no decision on
the same fact names it in `after` and its own writer made no later decision on that fact. Where the
two orders contradict each other, which takes a writer with two histories, only `after` counts: it
is made of hashes, and hashes form no cycle.
"""

from collections.abc import Iterable, Mapping, Sequence

from syn.ledger.entry import HashedEntry
from syn.model.ledger import FACT_ACTIONS, Entry
from syn.model.recorded import Recorded

_BEGINS = frozenset({"create", "supersede"})
"""Actions with which a deleted fact begins anew; on a living one they reopen nothing."""


def recorded(entries: Iterable[HashedEntry]) -> dict[str, Recorded]:
    """The recorded state of every fact that a decision was made on, by fact id in order.

    Linear in the entries. Damage does not stop it: a reference to an entry that is not there counts
    for nothing (`link_faults` names it).
    """
    groups: dict[str, list[HashedEntry]] = {}
    for pair in entries:
        if fact := pair[1].fact:
            known = groups.get(fact)
            if known is None:
                groups[fact] = [pair]
            else:
                known.append(pair)
    states = ((fact, _state(fact, groups.pop(fact))) for fact in sorted(groups))
    return {fact: state for fact, state in states if state is not None}


def workspace_heads(entries: Iterable[HashedEntry], action: str) -> tuple[HashedEntry, ...]:
    """The heads of the `config` or `policy` decisions, sorted by hash; several after a merge."""
    decisions = {digest: entry for digest, entry in entries if entry.action == action}
    return tuple((digest, decisions[digest]) for digest in _heads(decisions))


def seen(state: Recorded | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`after` and `prior` of a decision by somebody who sees this state of the fact."""
    return ((), ()) if state is None else (state.heads, state.head_payloads)


def _state(fact: str, entries: Iterable[HashedEntry]) -> Recorded | None:
    """What the entries on one fact add up to; None when no decision was made on it."""
    decisions: dict[str, Entry] = {}
    quarantines: set[str] = set()
    lifted: set[str] = set()
    for digest, entry in entries:
        if entry.action in FACT_ACTIONS:
            decisions[digest] = entry
        elif entry.action == "quarantine":
            quarantines.add(digest)
        elif entry.action == "clear":
            lifted.update(entry.names)
    return _decided(fact, decisions, quarantines - lifted, lifted) if decisions else None


def _decided(
    fact: str, decisions: dict[str, Entry], quarantined: set[str], lifted: set[str]
) -> Recorded:
    heads = _heads(decisions)
    entries = [decisions[head] for head in heads]
    says = {(entry.payload, entry.path if entry.payload else "") for entry in entries}
    forked = len(says) > 1
    payload, path = ("", "") if forked else says.pop()
    closed = _closed(decisions, predecessors(decisions))[1] if _ever_closed(decisions) else {}
    # Every decision is an ancestor of a head, so its taint holds until a clear names it.
    tainted = sorted(h for h, e in decisions.items() if e.taint and h not in lifted)
    return Recorded(
        fact=fact,
        heads=heads,
        path=path,
        payload=payload,
        source="" if forked else min(entry.source for entry in entries),
        deleted=not forked and not payload,
        forked=forked,
        closed=any(closed.get(head, False) for head in heads),
        taint="; ".join(sorted({decisions[digest].taint for digest in tainted})),
        quarantine=tuple(sorted(quarantined)),
        tainted_by=tuple(tainted),
        head_payloads=tuple(entry.payload for entry in entries),
    )


def _heads(decisions: Mapping[str, Entry]) -> tuple[str, ...]:
    if len(decisions) == 1:
        return tuple(decisions)
    named = {digest for entry in decisions.values() for digest in entry.after}
    loose = [digest for digest in decisions if digest not in named]
    if _contradict(decisions):
        return tuple(sorted(loose))
    newest: dict[str, int] = {}
    for entry in decisions.values():
        newest[entry.writer] = max(newest.get(entry.writer, 0), entry.seq)
    return tuple(sorted(d for d in loose if decisions[d].seq == newest[decisions[d].writer]))


def _ever_closed(decisions: Mapping[str, Entry]) -> bool:
    return any(entry.action == "close" for entry in decisions.values())


def closed_before(
    decisions: Mapping[str, Entry], parents: Mapping[str, tuple[str, ...]]
) -> dict[str, bool]:
    """Per decision on one fact, whether the fact was closed when it was made."""
    return _closed(decisions, parents)[0] if _ever_closed(decisions) else {}


def _closed(
    decisions: Mapping[str, Entry], parents: Mapping[str, tuple[str, ...]]
) -> tuple[dict[str, bool], dict[str, bool]]:
    """Per decision, whether the fact is closed before and after it."""
    before: dict[str, bool] = {}
    after: dict[str, bool] = {}
    for digest in ordered(parents):
        entry = decisions[digest]
        before[digest] = any(after.get(parent, False) for parent in parents[digest])
        after[digest] = _closes(entry, before, parents, decisions, digest)
    return before, after


def _closes(
    entry: Entry,
    before: Mapping[str, bool],
    parents: Mapping[str, tuple[str, ...]],
    decisions: Mapping[str, Entry],
    digest: str,
) -> bool:
    now = before[digest]
    if entry.action == "close":
        return True
    if entry.action == "undo":
        named = [name for name in entry.names if name in before]
        first = [name for name in named if not _comes_after(name, named, decisions)]
        return any(before[name] for name in first) if first else now
    if entry.action in _BEGINS and not any(decisions[p].payload for p in parents[digest]):
        return False
    return now


def _comes_after(digest: str, named: Sequence[str], decisions: Mapping[str, Entry]) -> bool:
    """Whether a decision comes after another of those named; undoing all goes before the first."""
    entry = decisions[digest]
    return any(
        name in entry.after
        or (decisions[name].writer == entry.writer and decisions[name].seq < entry.seq)
        for name in named
    )


def predecessors(decisions: Mapping[str, Entry]) -> dict[str, tuple[str, ...]]:
    """Per decision on one fact, the decisions on it that it comes directly after.

    Those that `after` names, and the one before by the same writer; only those that `after` names
    when the two contradict each other. So there is never a cycle.
    """
    if len(decisions) > 1 and _contradict(decisions):
        return {d: _named(entry, decisions) for d, entry in decisions.items()}
    return _both_orders(decisions)


def _named(entry: Entry, decisions: Mapping[str, Entry]) -> tuple[str, ...]:
    return tuple({name for name in entry.after if name in decisions})


def _both_orders(decisions: Mapping[str, Entry]) -> dict[str, tuple[str, ...]]:
    own = _own_before(decisions)
    return {
        digest: tuple({name for name in (*entry.after, *own[digest]) if name in decisions})
        for digest, entry in decisions.items()
    }


def _contradict(decisions: Mapping[str, Entry]) -> bool:
    """Whether what `after` says and the order of each writer's own entries make a cycle."""
    if len({entry.writer for entry in decisions.values()}) == 1:
        return any(
            name in decisions and decisions[name].seq >= entry.seq
            for entry in decisions.values()
            for name in entry.after
        )
    return not is_acyclic(_both_orders(decisions))


def _own_before(decisions: Mapping[str, Entry]) -> dict[str, list[str]]:
    """Per decision, its writer's decisions with the next lower seq: one, but for equivocation."""
    by_writer: dict[str, dict[int, list[str]]] = {}
    for digest, entry in decisions.items():
        by_writer.setdefault(entry.writer, {}).setdefault(entry.seq, []).append(digest)
    own: dict[str, list[str]] = {}
    for seqs in by_writer.values():
        before: list[str] = []
        for seq in sorted(seqs):
            own.update((digest, before) for digest in seqs[seq])
            before = seqs[seq]
    return own


def ordered(parents: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The decisions so that each comes after its predecessors (Kahn); ties by hash.

    Nothing loops: members of a cycle, which `predecessors` never gives, would come last, sorted.
    """
    result = _kahn(parents)
    if len(result) < len(parents):
        result += sorted(parents.keys() - set(result))
    return result


def is_acyclic(parents: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether there is an order in which each comes after its predecessors."""
    return len(_kahn(parents)) == len(parents)


def _kahn(parents: Mapping[str, tuple[str, ...]]) -> list[str]:
    waiting = {digest: len(names) for digest, names in parents.items()}
    children: dict[str, list[str]] = {}
    for digest, names in parents.items():
        for name in names:
            children.setdefault(name, []).append(digest)
    ready = sorted((digest for digest, count in waiting.items() if not count), reverse=True)
    result: list[str] = []
    while ready:
        digest = ready.pop()
        result.append(digest)
        for child in sorted(children.get(digest, ()), reverse=True):
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return result
