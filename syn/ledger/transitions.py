"""Whether every version that history shows of a fact was decided on (INV-10, design 8).

The caller walks history from the work tree down, every child before its parents, and hands in one
`Step` per commit; nothing here reads a repository. Per step the cost is that of the facts that
changed in it, and what is kept between steps is one bit per decision for every open line of
history, so memory does not grow with the number of commits.

The rule, for a fact from the first commit whose ledger holds a decision on it: a version is
explained when it is what that commit's ledger records; or when a parent has the same; or when the
change from a parent is a path of decisions that the parent's ledger does not hold yet and that no
descendant used up; or when an `acknowledge` names commit, fact and payload. The walk gives each
decision to the newest change that it explains, so an edit that was taken back, and later made
again with a record, is still found.
"""

from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.ledger.entry import HashedEntry
from syn.ledger.heads import ordered, predecessors
from syn.model.ledger import FACT_ACTIONS, Entry

Tails: TypeAlias = Mapping[str, int]
"""Per writer, how many entries a tree's ledger holds. Never changed in place; the same object for
every tree with the same ledger saves time."""
State: TypeAlias = tuple[str, str]
"""Path and payload of a fact."""
GONE: State = ("", "")
_INDEXED = 16_384
"""Facts whose decisions are kept indexed between steps."""


@dataclass(frozen=True, slots=True)
class Side:
    """One commit, or the work tree, and the extent of its ledger."""

    commit: str
    """Commit id, or `worktree`."""
    ledger: Tails


@dataclass(frozen=True, slots=True)
class Seen:
    """What one tree holds at one path."""

    payload: str = ""
    """Payload digest; the source digest of a file that cannot be read; "" when nothing is there."""
    fact: str = ""
    """The `id` written in the file, or ""."""


@dataclass(frozen=True, slots=True)
class Change:
    """A path of a fact whose content differs from that in every parent."""

    path: str
    now: Seen
    before: tuple[Seen, ...]
    """The same path in each parent, in the order of the parents."""


@dataclass(frozen=True, slots=True)
class Step:
    """One commit (or the work tree, whose parent is HEAD) and what it changed."""

    at: Side
    parents: tuple[Side, ...]
    changes: tuple[Change, ...]


_NOTHING = Side("", {})
"""The parent of a root commit."""
Verdict: TypeAlias = Literal["unrecorded", "acknowledged", "expunged"]


@dataclass(frozen=True, slots=True)
class Version:
    """A version that no decision explains, and whether a later decision accounts for it."""

    commit: str
    fact: str
    path: str
    """Where the version stands; "" when the fact is gone in that commit."""
    payload: str
    recorded: tuple[State, ...]
    """What the commit's ledger records instead."""
    verdict: Verdict


class Transitions:
    """Judges one step after the other; `checked` counts the versions it looked at."""

    def __init__(self, entries: Iterable[HashedEntry]) -> None:
        self.checked = 0
        self._raw: dict[str, dict[str, Entry]] = {}
        self._facts: dict[str, _Decisions] = {}
        self._at_path: dict[str, tuple[str, ...]] = {}
        self._acknowledged: set[tuple[str, str, str]] = set()
        self._expunged: set[str] = set()
        self._bits: dict[str, int] = {}
        self._used: dict[str, int] = {}
        for digest, entry in entries:
            self._learn(digest, entry)

    def _learn(self, digest: str, entry: Entry) -> None:
        if entry.action == "acknowledge":
            self._acknowledged.add((entry.commit, entry.fact, entry.payload))
        elif entry.action in FACT_ACTIONS:
            self._raw.setdefault(entry.fact, {})[digest] = entry
            known = self._at_path.get(entry.path, ())
            if entry.payload and entry.fact not in known:
                self._at_path[entry.path] = (*known, entry.fact)
            if entry.action == "expunge":
                self._expunged.update(entry.names)

    def step(self, step: Step) -> tuple[Version, ...]:
        """The versions of one commit that no decision explains, by fact.

        Every child of the commit must have been handed in before.
        """
        used = self._used.pop(step.at.commit, 0)
        spent: list[str] = []
        now = self._states(step.at, ((c.path, c.now) for c in step.changes))
        before = [
            self._states(side, ((c.path, c.before[at]) for c in step.changes))
            for at, side in enumerate(step.parents)
        ]
        found: list[Version] = []
        for fact in sorted(now.keys() | {name for states in before for name in states}):
            starts = [states.get(fact, GONE) for states in before] or [GONE]
            judged = self._judge(step, fact, now.get(fact, GONE), starts, used)
            if isinstance(judged, Version):
                found.append(judged)
            else:
                spent += judged
        used |= self._mask(spent)
        if used:
            for side in step.parents:
                self._used[side.commit] = self._used.get(side.commit, 0) | used
        return tuple(found)

    def _judge(
        self, step: Step, fact: str, goal: State, starts: list[State], used: int
    ) -> Version | list[str]:
        """A version that nothing explains, or the decisions that explain it and are used up."""
        decisions = self._decisions(fact)
        heads = decisions.heads_at(step.at.ledger)
        if not heads:
            return []
        self.checked += 1
        recorded = {decisions.state(head) for head in heads}
        if goal in starts:
            return []
        # What the commit's own ledger records uses up only decisions that it already holds.
        until = step.at.ledger if goal in recorded else None
        for side, start in zip(step.parents or (_NOTHING,), starts, strict=True):
            path = decisions.path(start, goal, _Open(side.ledger, until, used, self._bits))
            if path:
                return path
        if goal in recorded:
            return []
        return Version(
            commit=step.at.commit,
            fact=fact,
            path=goal[0],
            payload=goal[1],
            recorded=tuple(sorted(recorded)),
            verdict=self._verdict(step.at.commit, fact, goal, heads),
        )

    def _verdict(self, commit: str, fact: str, goal: State, heads: list[str]) -> Verdict:
        if (commit, fact, goal[1]) in self._acknowledged:
            return "acknowledged"
        if any(head in self._expunged for head in heads):
            return "expunged"
        return "unrecorded"

    def _states(self, side: Side, seen: Iterable[tuple[str, Seen]]) -> dict[str, State]:
        """Which fact each changed path holds in one tree; a path of no known fact is left out."""
        states: dict[str, State] = {}
        for path, content in seen:
            if content.payload:
                fact = self._owner(path, content.fact, side.ledger)
                if fact is not None:
                    states.setdefault(fact, (path, content.payload))
        return states

    def _owner(self, path: str, written: str, ledger: Tails) -> str | None:
        """The fact at a path, or None when no known fact is there.

        Its written id decides; else the tree's ledger, a later move, an earlier deletion, and last
        the id that the path gives.
        """
        if written:
            return written if written in self._raw else None
        candidates = sorted(self._at_path.get(path, ()))
        for recorded in (_Decisions.stands_at, _Decisions.reaches, _Decisions.left_from):
            for fact in candidates:
                if recorded(self._decisions(fact), path, ledger):
                    return fact
        default = path.removesuffix(".md")
        if default in self._raw and not self._decisions(default).living_at(ledger):
            return default
        return None

    def _decisions(self, fact: str) -> "_Decisions":
        known = self._facts.get(fact)
        if known is None:
            if len(self._facts) >= _INDEXED:
                self._facts.clear()
            known = self._facts[fact] = _Decisions(self._raw[fact])
        return known

    def _mask(self, spent: list[str]) -> int:
        if not spent:
            return 0
        numbers = [self._bits.setdefault(digest, len(self._bits)) for digest in spent]
        bits = bytearray(max(numbers) // 8 + 1)
        for number in numbers:
            bits[number // 8] |= 1 << number % 8
        return int.from_bytes(bits, "little")


def unexplained(entries: Iterable[HashedEntry], steps: Iterable[Step]) -> Iterator[Version]:
    """Every version in a history that no decision explains, newest commit first."""
    transitions = Transitions(entries)
    for step in steps:
        yield from transitions.step(step)


@dataclass(frozen=True, slots=True)
class _Open:
    """Which decisions may explain a change: not in the parent yet, in `until`, and not used up."""

    parent: Tails
    until: Tails | None
    used: int
    bits: Mapping[str, int]

    def __call__(self, digest: str, entry: Entry) -> bool:
        if entry.seq <= self.parent.get(entry.writer, 0):
            return False
        if self.until is not None and entry.seq > self.until.get(entry.writer, 0):
            return False
        number = self.bits.get(digest)
        return number is None or not self.used >> number & 1


class _Decisions:
    """The decisions on one fact, indexed for questions about one tree's ledger."""

    __slots__ = (
        *("_asked", "_by_writer", "_ends", "_heads", "_order", "_parents", "_successors"),
        "entries",
    )

    def __init__(self, entries: Mapping[str, Entry]) -> None:
        self.entries = entries
        self._asked: Tails | None = None
        self._heads: list[str] = []
        self._by_writer: dict[str, tuple[list[int], list[str]]] = {}
        self._successors: dict[str, list[str]] = {}
        self._parents: dict[str, tuple[str, ...]] = {}
        self._order: dict[str, int] = {}
        self._ends: dict[State, list[str]] = {}
        for digest, entry in sorted(entries.items(), key=lambda item: item[1].seq):
            seqs, digests = self._by_writer.setdefault(entry.writer, ([], []))
            seqs.append(entry.seq)
            digests.append(digest)
            for name in entry.after:
                self._successors.setdefault(name, []).append(digest)

    def _index_paths(self) -> None:
        """What only `path` needs, once it is asked."""
        self._parents = predecessors(self.entries)
        self._order = {digest: at for at, digest in enumerate(ordered(self._parents))}
        for digest in self._order:
            self._ends.setdefault(self.state(digest), []).append(digest)

    def state(self, digest: str) -> State:
        """What a decision leaves behind."""
        entry = self.entries[digest]
        return (entry.path, entry.payload) if entry.payload else GONE

    def heads_at(self, ledger: Tails) -> list[str]:
        """The decision heads in a ledger of this extent; none when it holds no decision."""
        # The same ledger is asked for its heads by owner and by rule, then as a parent's.
        if ledger is self._asked:
            return self._heads
        newest: list[str] = []
        for writer, (seqs, digests) in self._by_writer.items():
            count = bisect_right(seqs, ledger.get(writer, 0))
            if count:
                newest.append(digests[count - 1])
        self._asked = ledger
        self._heads = [digest for digest in newest if not self._superseded(digest, ledger)]
        return self._heads

    def living_at(self, ledger: Tails) -> list[str]:
        """The heads that say that the fact is there."""
        return [digest for digest in self.heads_at(ledger) if self.entries[digest].payload]

    def stands_at(self, path: str, ledger: Tails) -> bool:
        """Whether a ledger of this extent says that the fact is at a path."""
        return any(self.entries[digest].path == path for digest in self.living_at(ledger))

    def reaches(self, path: str, ledger: Tails) -> bool:
        """Whether a decision that this ledger does not hold yet puts the fact at a path."""
        return any(
            entry.path == path and entry.payload and entry.seq > ledger.get(entry.writer, 0)
            for entry in self.entries.values()
        )

    def left_from(self, path: str, ledger: Tails) -> bool:
        """Whether the fact was at a path when the decision was made that it is gone."""
        heads = [self.entries[digest] for digest in self.heads_at(ledger)]
        return any(not entry.payload and entry.path == path for entry in heads)

    def path(self, start: State, goal: State, is_open: _Open) -> list[str]:
        """Decisions that lead from one state to another; the newest that do, or none."""
        if not self._order:
            self._index_paths()
        # Breadth first from the newest decision that ends there. What one end has seen without
        # getting to the start need not be seen again from another.
        step: dict[str, str] = {}
        for end in reversed(self._ends.get(goal, ())):
            if end not in step and is_open(end, self.entries[end]):
                step[end] = ""
                if found := self._back(end, start, is_open, step):
                    return found
        return []

    def _back(self, end: str, start: State, is_open: _Open, step: dict[str, str]) -> list[str]:
        queue = deque([end])
        while queue:
            digest = queue.popleft()
            parents = self._parents[digest]
            if any(self.state(parent) == start for parent in parents) or (
                not parents and start == GONE
            ):
                return list(_trail(digest, step))
            for parent in sorted(parents, key=self._order.__getitem__, reverse=True):
                if parent not in step and is_open(parent, self.entries[parent]):
                    step[parent] = digest
                    queue.append(parent)
        return []

    def _superseded(self, digest: str, ledger: Tails) -> bool:
        return any(
            self.entries[later].seq <= ledger.get(self.entries[later].writer, 0)
            for later in self._successors.get(digest, ())
        )


def _trail(digest: str, step: Mapping[str, str]) -> Iterator[str]:
    while digest:
        yield digest
        digest = step[digest]
