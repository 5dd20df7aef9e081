"""Replaying the journal: the same entries in different legal orders give one state (INV-4).

A second implementation of `heads.recorded`: it applies one entry after the other to a state, where
`recorded` looks at all of them at once. Equal results say that the state depends on the entries and
on `prev`, `after` and `names` alone. They do not say that the entries are all there, or true.
"""

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syn.canon import json as canonical
from syn.ledger.entry import HashedEntry
from syn.model.finding import Json
from syn.model.ledger import FACT_ACTIONS, Entry
from syn.model.recorded import Recorded

ORDERS = 4
"""Orders that `replay` tries."""
_DOMAIN = b"synapse/replay/1\n"


@dataclass(frozen=True, slots=True)
class Replay:
    """What replaying in several orders gave."""

    digest: str
    """State digest of the first order."""
    entries: int
    orders: int
    """How many different sequences were tried; 1 when one writer leaves no choice."""
    diverging: tuple[str, ...]
    """Facts whose state differs between two orders, or from `heads.recorded`; sorted."""


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
    sequences: set[bytes] = set()
    digests: list[str] = []
    diverging: set[str] = set()
    for number in range(orders):
        state = _Journal()
        sequence = hashlib.sha256()
        for digest in _legal_order(follows, number):
            sequence.update(digest.encode())
            state.apply(digest, index[digest])
        if sequence.digest() in sequences:
            continue
        sequences.add(sequence.digest())
        result = state.result()
        digests.append(state_digest(result))
        if result != recorded:
            names = result.keys() | recorded.keys()
            diverging |= {name for name in names if result.get(name) != recorded.get(name)}
    return Replay(digests[0], len(index), len(sequences), tuple(sorted(diverging)))


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


def _legal_order(follows: Mapping[str, tuple[str, ...]], number: int) -> Iterator[str]:
    """A topological order; the number chooses which of the entries that may come next does."""
    rank = _RANKS[number % len(_RANKS)]
    offset = len("sha256:") + number
    waiting = {digest: len(names) for digest, names in follows.items()}
    children: dict[str, list[str]] = {}
    for digest, names in follows.items():
        for name in names:
            children.setdefault(name, []).append(digest)
    ready = [(rank(0, d[offset:]), d) for d, count in waiting.items() if not count]
    heapq.heapify(ready)
    step = 0
    while ready:
        step += 1
        digest = heapq.heappop(ready)[1]
        yield digest
        for child in children.get(digest, ()):
            waiting[child] -= 1
            if not waiting[child]:
                heapq.heappush(ready, (rank(step, child[offset:]), child))


_RANKS: tuple[Callable[[int, str], tuple[int, str]], ...] = (
    lambda step, key: (-step, key),  # one writer as far as it goes
    lambda step, key: (step, key),  # all writers in turn
    lambda step, key: (0, key),  # by hash
    lambda step, key: (0, key[1:]),  # by another part of it
)


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
        life = self._facts.setdefault(entry.fact, _Life())
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
    own = life.own.setdefault(entry.writer, _Own()).add(entry.seq, digest)
    seen = {name for name in (*entry.after, *own) if name in life.made}
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
