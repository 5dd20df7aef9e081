"""Replaying the journal: the same entries in different legal orders give one state (INV-4).

A second implementation of `heads.recorded`: it applies one entry after the other to a state, where
`recorded` looks at all of them at once. Equal results say that the state depends on the entries and
on `prev`, `after` and `names` alone. They do not say that the entries are all there, or true.
"""

import hashlib
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from syn.canon import json as canonical
from syn.ledger.entry import HashedEntry
from syn.model.finding import Json
from syn.model.ledger import FACT_ACTIONS, Entry
from syn.model.recorded import Recorded

ORDERS = 3
"""Orders that `replay` tries."""
_DOMAIN = b"synapse/replay/1\n"


@dataclass(frozen=True, slots=True)
class Replay:
    """What replaying in several orders gave."""

    digest: str
    """State digest of the first order; empty when there is none."""
    entries: int
    orders: int
    """How many different sequences were tried; 1 when one writer leaves no choice."""
    diverging: tuple[str, ...]
    """Facts whose state differs between two orders, or from `heads.recorded`; sorted."""
    unordered: tuple[str, ...] = ()
    """Writers whose entries no legal order has room for, since two histories of theirs are mixed
    (a fault of INV-3); nothing was replayed then. Sorted."""


def replay(
    entries: Iterable[HashedEntry], recorded: Mapping[str, Recorded], orders: int = ORDERS
) -> Replay:
    """Replay the journal in several legal orders and compare the states.

    Args:
        entries: every readable entry, in any order.
        recorded: what `heads.recorded` says of the same entries.
        orders: how many orders to try.
    """
    index = dict(entries)
    follows = _edges(index)
    children = _children(follows)
    placed = _legal_order(follows, children, 0)
    if len(placed) < len(index):
        left = sorted({index[digest].writer for digest in index.keys() - set(placed)})
        return Replay("", len(index), 0, (), tuple(left))
    times = Counter(entry.fact for entry in index.values())
    # What one entry alone says of a fact is the same in every order; it is applied once.
    single = _Journal()
    for digest, entry in index.items():
        if times[entry.fact] == 1:
            single.apply(digest, entry)
    alone = single.result()
    several = {fact: state for fact, state in recorded.items() if times[fact] != 1}
    diverging = _differing(alone, {f: s for f, s in recorded.items() if times[f] == 1})
    tried: list[list[str]] = []
    first: dict[str, Recorded] | None = None
    for number in range(orders):
        order = _legal_order(follows, children, number) if number else placed
        if order in tried:
            continue
        tried.append(order)
        journal = _Journal()
        for digest in order:
            entry = index[digest]
            if times[entry.fact] > 1:
                journal.apply(digest, entry)
        result = journal.result()
        diverging |= _differing(result, several)
        first = result if first is None else first
    state = state_digest({**alone, **(first or {})})
    return Replay(state, len(index), len(tried), tuple(sorted(diverging)))


def _differing(one: Mapping[str, Recorded], other: Mapping[str, Recorded]) -> set[str]:
    if one == other:
        return set()
    return {fact for fact in one.keys() | other.keys() if one.get(fact) != other.get(fact)}


def state_digest(state: Mapping[str, Recorded]) -> str:
    """`sha256:<hex>` over one canonical JSON line per fact, in order of fact id."""
    total = hashlib.sha256(_DOMAIN)
    for fact in sorted(state):
        total.update(canonical.encode(_row(state[fact])) + b"\n")
    return f"sha256:{total.hexdigest()}"


def _row(state: Recorded) -> Json:
    return {
        "closed": state.closed,
        "deleted": state.deleted,
        "fact": state.fact,
        "forked": state.forked,
        "head_payloads": list(state.head_payloads),
        "heads": list(state.heads),
        "path": state.path,
        "payload": state.payload,
        "quarantine": list(state.quarantine),
        "source": state.source,
        "taint": state.taint,
        "tainted_by": list(state.tainted_by),
    }


def _edges(index: Mapping[str, Entry]) -> dict[str, tuple[str, ...]]:
    """Per entry, those it must come after: its writer's entry before, and all that it names.

    The entry before is the one with the next lower seq, so that a gap leaves the order whole.
    """
    by_writer: dict[str, dict[int, list[str]]] = {}
    for digest, entry in index.items():
        by_writer.setdefault(entry.writer, {}).setdefault(entry.seq, []).append(digest)
    before: dict[str, list[str]] = {}
    for seqs in by_writer.values():
        last: list[str] = []
        for seq in sorted(seqs):
            before.update((digest, last) for digest in seqs[seq])
            last = seqs[seq]
    return {
        digest: tuple(
            {name for name in (*before[digest], *entry.after, *entry.names) if name in index}
        )
        for digest, entry in index.items()
    }


def _children(follows: Mapping[str, tuple[str, ...]]) -> dict[str, list[str]]:
    children: dict[str, list[str]] = {}
    for digest in sorted(follows):
        for name in follows[digest]:
            children.setdefault(name, []).append(digest)
    return children


def _legal_order(
    follows: Mapping[str, tuple[str, ...]], children: Mapping[str, list[str]], number: int
) -> list[str]:
    """A topological order; the number chooses which of the entries that may come next does.

    Even numbers take the newest of them (one writer as far as it goes), odd ones the oldest (all
    writers in turn); each pair of numbers begins with another one. Entries are ranked by hash, so
    that no order depends on how the caller happened to list them.
    """
    waiting = {digest: len(names) for digest, names in follows.items()}
    offset = len("sha256:") + number // 2
    ready = deque(sorted((d for d, n in waiting.items() if not n), key=lambda d: d[offset:]))
    take = ready.popleft if number % 2 else ready.pop
    order: list[str] = []
    while ready:
        digest = take()
        order.append(digest)
        for child in children.get(digest, ()):
            waiting[child] -= 1
            if not waiting[child]:
                ready.append(child)
    return order


@dataclass(slots=True)
class _Life:
    """The state of one fact while entries are applied to it."""

    heads: dict[str, Entry] = field(default_factory=dict)
    own: dict[str, "_Own"] = field(default_factory=dict)
    made: dict[str, Entry] = field(default_factory=dict)
    was_closed: set[str] = field(default_factory=set)
    """Decisions that were made while the fact was closed."""
    closes: set[str] = field(default_factory=set)
    """Decisions after which it is closed."""
    tainted: set[str] = field(default_factory=set)
    quarantine: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Own:
    """One writer's latest decisions on a fact: one, but for equivocation, and those before."""

    seq: int = 0
    latest: tuple[str, ...] = ()
    before: tuple[str, ...] = ()

    def add(self, seq: int, digest: str) -> tuple[str, ...]:
        """Take the next decision in; returns those it comes after."""
        if seq == self.seq:
            self.latest += (digest,)
        else:
            self.seq, self.before, self.latest = seq, self.latest, (digest,)
        return self.before


class _Journal:
    """A scratch state that entries are applied to, one after the other."""

    def __init__(self) -> None:
        self._facts: dict[str, _Life] = {}

    def apply(self, digest: str, entry: Entry) -> None:
        """Let one entry take effect."""
        if not entry.fact:
            return
        life = self._facts.get(entry.fact)
        if life is None:
            life = self._facts[entry.fact] = _Life()
        if entry.action in FACT_ACTIONS:
            _decide(life, digest, entry)
        elif entry.action == "quarantine":
            life.quarantine.add(digest)
        elif entry.action == "clear":
            life.quarantine.difference_update(entry.names)
            life.tainted.difference_update(entry.names)

    def result(self) -> dict[str, Recorded]:
        """The state as `heads.recorded` would put it."""
        return {
            fact: _recorded(fact, self._facts[fact])
            for fact in sorted(self._facts)
            if self._facts[fact].made
        }


def _decide(life: _Life, digest: str, entry: Entry) -> None:
    own = life.own.get(entry.writer)
    if own is None:
        own = life.own[entry.writer] = _Own()
    seen = {name for name in (*entry.after, *own.add(entry.seq, digest)) if name in life.made}
    if life.closes or entry.action == "close":
        if seen & life.closes:
            life.was_closed.add(digest)
        if _closed_by(life, digest, entry, seen):
            life.closes.add(digest)
    for name in seen:
        life.heads.pop(name, None)
    life.heads[digest] = entry
    life.made[digest] = entry
    if entry.taint:
        life.tainted.add(digest)


def _closed_by(life: _Life, digest: str, entry: Entry, seen: set[str]) -> bool:
    match entry.action:
        case "close":
            return True
        case "undo" if named := [name for name in entry.names if name in life.made]:
            first = [n for n in named if not _comes_after(life.made[n], named, life)]
            return any(name in life.was_closed for name in first)
        case "create" | "supersede" if not any(life.made[name].payload for name in seen):
            return False
        case _:
            return digest in life.was_closed


def _comes_after(entry: Entry, named: Sequence[str], life: _Life) -> bool:
    """Whether an entry comes directly after another one of those named."""
    return any(
        name in entry.after
        or (life.made[name].writer == entry.writer and life.made[name].seq < entry.seq)
        for name in named
    )


def _recorded(fact: str, life: _Life) -> Recorded:
    heads = sorted(life.heads)
    first = life.heads[heads[0]]
    agree = all(
        entry.payload == first.payload and (not first.payload or entry.path == first.path)
        for entry in life.heads.values()
    )
    gone = agree and not first.payload
    return Recorded(
        fact=fact,
        heads=tuple(heads),
        path=first.path if agree and not gone else "",
        payload=first.payload if agree else "",
        source=min(entry.source for entry in life.heads.values()) if agree else "",
        deleted=gone,
        forked=not agree,
        closed=any(head in life.closes for head in heads),
        taint="; ".join(sorted({life.made[digest].taint for digest in life.tainted})),
        quarantine=tuple(sorted(life.quarantine)),
        tainted_by=tuple(sorted(life.tainted)),
        head_payloads=tuple(life.heads[head].payload for head in heads),
    )
