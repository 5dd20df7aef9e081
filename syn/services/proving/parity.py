"""Parity over clones: whether they hold the same facts, and which one holds where they do not.

A copy counts when its file is the one that its own ledger records, in a ledger that holds. Where
copies differ, the union of the ledgers decides: exactly one last decision, whose bytes are there,
and whose signature holds where there is a policy, is the one live witness. Anything else is a
conflict, and so is a fact that one clone keeps in quarantine and another does not.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from syn.errors import CannotError, RefusedError, UsageError
from syn.keys.policy import Policy
from syn.ledger.entry import HashedEntry
from syn.ledger.heads import recorded
from syn.model.finding import Json, Verdict
from syn.model.ledger import Entry
from syn.model.recorded import Recorded
from syn.services.recall.indexing import Progress, Reading, read_workspace
from syn.services.recall.projecting import project_all
from syn.services.recall.standing import key_of, ledger_faults, signature_holds
from syn.services.trust.policy import policy_of, usable
from syn.services.workspace import Surroundings, find_workspace

Outcome: TypeAlias = Literal["agree", "resolved", "conflict"]
GONE = ""
"""The payload of a copy that says the fact is gone."""


@dataclass(frozen=True, slots=True)
class Copy:
    """One fact in one clone."""

    clone: str
    payload: str
    """Payload digest of its file; "" when there is none."""
    path: str
    quarantined: bool
    fault: str
    """Why it does not count, or ""."""

    @property
    def state(self) -> tuple[str, str, bool]:
        """What copies agree in."""
        return self.payload, self.path, self.quarantined


@dataclass(frozen=True, slots=True)
class FactParity:
    """The outcome for one fact."""

    fact: str
    outcome: Outcome
    reason: str
    """Why it is resolved or in conflict; "" when all agree."""
    copies: tuple[Copy, ...]
    holds: str = ""
    """The payload that holds, when it is resolved; "" also when the fact is gone."""


@dataclass(slots=True)
class Clone:
    """One clone, read."""

    name: str
    reading: Reading
    faults: tuple[str, ...]
    """Codes of what is wrong with its ledger: then none of its copies counts."""
    payloads: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Fact id to payload and path of its file."""
    doubled: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class CloneParity:
    """What a comparison of clones found."""

    clones: tuple[Clone, ...]
    facts: tuple[FactParity, ...]
    """By fact id."""

    @property
    def verdict(self) -> Verdict:
        """A conflict fails; where nothing could be compared, nothing was concluded."""
        if any(fact.outcome == "conflict" for fact in self.facts):
            return "fail"
        return "pass" if any(not clone.faults for clone in self.clones) else "incomplete"


def compare_clones(
    paths: Sequence[Path],
    around: Surroundings,
    revoked: Collection[str] = (),
    progress: Progress | None = None,
) -> CloneParity:
    """Compare every fact of several clones of one workspace; writes nothing.

    Args:
        paths: at least two clones; the first one's policy decides which signatures hold.
        around: the surroundings.
        revoked: starts of the hashes of decisions that were refuted: they resolve nothing.
        progress: told how many clones are read.

    Raises:
        UsageError: fewer than two, or not of one workspace.
        CannotError: one cannot be read.
    """
    if len(paths) < 2:  # noqa: PLR2004 - a comparison takes two
        raise UsageError("one-clone", "expected at least two clones to compare")
    clones: list[Clone] = []
    for path in paths:
        clones.append(_read(path, around))
        if progress is not None:
            progress(len(clones), len(paths))
    ids = {clone.reading.config.id for clone in clones}
    if len(ids) > 1:
        raise UsageError("other-workspace", f"expected clones of one workspace, got {len(ids)}")
    judge = _Judge(clones, usable(policy_of(clones[0].reading)), tuple(revoked))
    return CloneParity(tuple(clones), tuple(judge.fact(name) for name in judge.names()))


def _read(path: Path, around: Surroundings) -> Clone:
    reading = read_workspace(find_workspace(path, around))
    faults = tuple(sorted({found.code for found in ledger_faults(reading)}))
    clone = Clone(str(path), reading, faults)
    projected = project_all(
        reading.snapshot, reading.files.facts, reading.config, moved=reading.ledger.moved
    )
    for item in projected:
        if item.view is None:
            continue
        if item.view.id in clone.payloads:
            clone.doubled.add(item.view.id)
        clone.payloads[item.view.id] = (item.view.payload, item.view.path)
    return clone


class _Judge:
    """Holds the copies of each fact against the union of the ledgers."""

    def __init__(
        self, clones: Sequence[Clone], policy: Policy | None, revoked: tuple[str, ...]
    ) -> None:
        self._clones = clones
        self._policy = policy
        self._revoked = revoked
        self._entries = dict(_union(clones))
        self._union = recorded(self._entries.items())
        self._split = _split(self._entries.items())

    def names(self) -> list[str]:
        """Every fact that some clone has or records, sorted."""
        names = set(self._union)
        for clone in self._clones:
            names |= clone.payloads.keys() | clone.reading.ledger.recorded.keys()
        return sorted(names)

    def fact(self, name: str) -> FactParity:
        """The outcome for one fact."""
        copies = tuple(_copy(clone, name) for clone in self._clones)
        sound = [copy for copy in copies if not copy.fault]
        states = {copy.state for copy in sound}
        if len(sound) == len(copies) and len(states) == 1:
            return FactParity(name, "agree", "", copies, copies[0].payload)
        known = self._union.get(name)
        reason = self._conflict(name, known, sound)
        if reason or known is None:
            return FactParity(name, "conflict", reason or "nobody decided on it", copies)
        head = known.heads[0]
        what = f"the last decision is {self._entries[head].action} {head[7:19]}"
        return FactParity(name, "resolved", what, copies, known.payload)

    def _conflict(self, name: str, known: Recorded | None, sound: Sequence[Copy]) -> str:
        """Why no single copy holds, or ""."""
        if known is None or not sound:
            return "no copy is as its own ledger records it"
        if len({copy.quarantined for copy in sound}) > 1:
            return "one clone keeps it in quarantine and another does not"
        doubt = self._undecided(known)
        if not doubt and not any(_says(copy, known) for copy in sound):
            return "no copy has the bytes of the last decision"
        return doubt

    def _undecided(self, known: Recorded) -> str:
        """Why the ledgers together name no single live decision, or ""."""
        heads = [(head, self._entries[head]) for head in known.heads]
        for _, entry in heads:
            if entry.seq >= self._split.get(entry.writer, entry.seq + 1):
                return f"writer {entry.writer} wrote two histories"
        if known.forked:
            return "the clones decided differently on it"
        doubts = (self._doubt(digest, entry) for digest, entry in heads)
        return next((doubt for doubt in doubts if doubt), "")

    def _doubt(self, digest: str, entry: Entry) -> str:
        """Why a decision is no live witness, or ""."""
        if any(digest.removeprefix("sha256:").startswith(text) for text in self._revoked):
            return f"its last decision {digest[7:19]} was revoked"
        if self._policy is None:
            return ""
        item = key_of(self._policy, entry.key) if entry.key else None
        if item is None:
            return f"its last decision {digest[7:19]} is not signed by a key of the policy"
        if item.state == "compromised" or not signature_holds(item, digest, entry):
            return f"the signature of its last decision {digest[7:19]} does not hold"
        return ""


def _union(clones: Iterable[Clone]) -> Iterator[HashedEntry]:
    for clone in clones:
        if not clone.faults:
            yield from clone.reading.ledger.ledger.entries()


def _split(entries: Iterable[HashedEntry]) -> dict[str, int]:
    """Per writer with two histories, the first seq at which they differ."""
    seen: dict[tuple[str, int], str] = {}
    found: dict[str, int] = {}
    for digest, entry in entries:
        if seen.setdefault((entry.writer, entry.seq), digest) != digest:
            found[entry.writer] = min(entry.seq, found.get(entry.writer, entry.seq))
    return found


def _copy(clone: Clone, name: str) -> Copy:
    known = clone.reading.ledger.recorded.get(name)
    payload, path = clone.payloads.get(name, (GONE, ""))
    held = bool(known and known.quarantine)
    return Copy(clone.name, payload, path, held, _fault(clone, name, known, (payload, path)))


def _fault(clone: Clone, name: str, known: Recorded | None, have: tuple[str, str]) -> str:
    """Why a copy does not count, or ""."""
    if clone.faults:
        return f"its ledger does not hold ({', '.join(clone.faults)})"
    if name in clone.doubled:
        return "its id stands twice"
    if known is None:
        return "not recorded" if have[0] else ""
    if known.forked:
        return "forked"
    expected = (GONE, "") if known.deleted else (known.payload, known.path)
    if have == expected:
        return ""
    return "missing or unreadable" if not have[0] else "not as it is recorded"


def _says(copy: Copy, known: Recorded) -> bool:
    if known.deleted:
        return copy.payload == GONE
    return (copy.payload, copy.path) == (known.payload, known.path)


def parity_json(found: CloneParity) -> dict[str, Json]:
    """A comparison of clones as a list object: the facts that do not simply agree."""
    items = [_fact_json(fact) for fact in found.facts if fact.outcome != "agree"]
    clones: list[Json] = [
        {"name": clone.name, "ledger": list(clone.faults)} for clone in found.clones
    ]
    counts: Mapping[str, int] = {
        outcome: sum(fact.outcome == outcome for fact in found.facts)
        for outcome in ("agree", "resolved", "conflict")
    }
    return {
        "items": items,
        "total": len(items),
        "next": None,
        "counts": dict(counts),
        "clones": clones,
        "verdict": found.verdict,
    }


def _fact_json(fact: FactParity) -> Json:
    return {
        "id": fact.fact,
        "outcome": fact.outcome,
        "reason": fact.reason,
        "payload": fact.holds,
        "copies": [
            {
                "clone": copy.clone,
                "payload": copy.payload,
                "path": copy.path,
                "quarantined": copy.quarantined,
                "fault": copy.fault,
            }
            for copy in fact.copies
        ],
    }


def is_clone(path: Path, around: Surroundings) -> bool:
    """Whether a path is the root of a workspace: no folder in one, no image, nothing else."""
    try:
        repository = find_workspace(path, around).repository
    except (UsageError, CannotError, RefusedError):
        return False
    return (repository.root or repository.git_dir).resolve() == path.resolve()
