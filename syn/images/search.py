"""The stamped-state search: which field of a `recall.v1` page changed, and what it was.

The word is one-way, but the states that it can have been stamped over are few: the addresses in
the store, the length of the body or the one written, sealed or not, the seal ids of the image, 256
taints. Walking them, nearest first, finds the stamped state of an edit of bound fields. That is a
diagnosis, never proof: the word has no key (adr/0018-diagnosis-search.md). Pure and bounded.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.images.descriptor import is_seal_id
from syn.images.table import QUARANTINED, TAINTED, TRUSTED, Page
from syn.images.word import RECALL_WORD_DIGITS, state_prefix, state_suffix

Direction: TypeAlias = Literal["stricter", "looser", "same", "mixed"]

DEFAULT_BUDGET = 200_000
"""Hashes that one page's search may take (about a fifth of a second)."""
MAX_CANDIDATES = 8

_STRICTNESS = {TRUSTED: 0, TAINTED: 1, QUARANTINED: 2}


@dataclass(frozen=True, slots=True)
class State:
    """A state that a word may have been stamped over."""

    digest: str
    length: int
    taint: int
    sealed: bool
    qid: str


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One bound field: what the image says now, and what was stamped."""

    field: str
    present: str
    stamped: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """One state that the stored word fits."""

    changes: tuple[FieldChange, ...]
    direction: Direction
    """Whether putting the stamped values back would make the page stricter or looser."""
    state: State

    @property
    def correctable(self) -> bool:
        """Whether a repair may offer it: the same body, and nothing becomes looser."""
        names = {change.field for change in self.changes}
        return self.direction == "stricter" and "digest" not in names


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the search says about one page."""

    candidates: tuple[Candidate, ...]
    """Nearest first; several are possible, none is proof."""
    hashes: int
    """States tried."""
    exhausted: bool
    """Whether the whole space was walked; False when a find or the budget ended it."""
    exchanged: int = -1
    """Another page whose word this one carries: look at both rows; -1 is none."""


def diagnose(
    page: Page,
    sizes: Mapping[str, int],
    qids: Sequence[str],
    budget: int = DEFAULT_BUDGET,
) -> Diagnosis:
    """Search the states that the page's stored word may have been stamped over.

    Args:
        page: a row whose stored word is well formed and does not match.
        sizes: length of the body at each address of the store.
        qids: the seal ids of the image.
        budget: hashes to spend.
    """
    here = State(page.digest, page.length, page.taint, page.sealed, page.qid)
    found: list[State] = []
    tried = 0
    for tier in _tiers(here, sizes, qids):
        for state, word in tier:
            if tried >= budget:
                return Diagnosis(_candidates(here, found), tried, exhausted=False)
            tried += 1
            if word == page.word and state not in found:
                found.append(state)
        if found:
            return Diagnosis(_candidates(here, found), tried, exhausted=False)
    return Diagnosis((), tried, exhausted=True)


def _tiers(
    here: State, sizes: Mapping[str, int], qids: Sequence[str]
) -> Iterator[Iterator[tuple[State, str]]]:
    """The state space, nearest states first; a tier is finished before its finds are believed."""
    own = sizes.get(here.digest, here.length)
    lengths = (own,) if own == here.length else (here.length, own)
    near = tuple(dict.fromkeys((here.qid, "")))
    far = tuple(dict.fromkeys(q for q in qids if q not in near))
    likely = tuple(dict.fromkeys((here.taint, TAINTED, TRUSTED, QUARANTINED)))
    every = (*likely, *(taint for taint in range(256) if taint not in likely))
    yield _words(here.digest, lengths, _inner(every, near))
    yield _words(here.digest, lengths, _inner(likely, far))
    yield _elsewhere(here, sizes, _inner(likely, near))
    yield _elsewhere(here, sizes, _inner((QUARANTINED,), far))
    yield _words(here.digest, lengths, _inner(every, far))


_Inner: TypeAlias = Sequence[tuple[int, bool, str]]


def _inner(taints: Iterable[int], qids: Iterable[str]) -> _Inner:
    names = tuple(qids)
    return [(t, sealed, qid) for t in taints for sealed in (True, False) for qid in names]


def _elsewhere(here: State, sizes: Mapping[str, int], inner: _Inner) -> Iterator[tuple[State, str]]:
    for digest, size in sizes.items():
        if digest != here.digest:
            lengths = (size,) if size == here.length else (size, here.length)
            yield from _words(digest, lengths, inner)


def _words(digest: str, lengths: Iterable[int], inner: _Inner) -> Iterator[tuple[State, str]]:
    for length in lengths:
        start = hashlib.sha256(state_prefix(digest, length))
        for taint, sealed, qid in inner:
            hasher = start.copy()
            hasher.update(state_suffix(taint, sealed, qid))
            word = hasher.hexdigest()[:RECALL_WORD_DIGITS]
            yield State(digest, length, taint, sealed, qid), word


def _candidates(here: State, found: Sequence[State]) -> tuple[Candidate, ...]:
    made = [Candidate(_changes(here, state), _direction(here, state), state) for state in found]
    made.sort(key=lambda candidate: len(candidate.changes))
    return tuple(made[:MAX_CANDIDATES])


def _changes(here: State, stamped: State) -> tuple[FieldChange, ...]:
    pairs = (
        ("digest", here.digest, stamped.digest),
        ("len", str(here.length), str(stamped.length)),
        ("taint", str(here.taint), str(stamped.taint)),
        ("quarantined", str(here.sealed).lower(), str(stamped.sealed).lower()),
        ("qid", shown_id(here.qid), shown_id(stamped.qid)),
    )
    return tuple(FieldChange(name, old, new) for name, old, new in pairs if old != new)


def shown_id(qid: str) -> str:
    """A seal id for a report; another text is named, not quoted."""
    if is_seal_id(qid):
        return qid
    return "another text" if qid else "none"


def _direction(here: State, stamped: State) -> Direction:
    steps = {
        _sign(int(stamped.sealed) - int(here.sealed)),
        _sign(_STRICTNESS.get(stamped.taint, -1) - _STRICTNESS.get(here.taint, -1)),
    } - {0}
    if not steps:
        return "same"
    if len(steps) > 1:
        return "mixed"
    return "stricter" if steps == {1} else "looser"


def _sign(value: int) -> int:
    return (value > 0) - (value < 0)
