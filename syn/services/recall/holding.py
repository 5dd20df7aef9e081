"""What keeps facts from agents today: the quarantines that hold, and who decided on them."""

from collections.abc import Iterator
from dataclasses import dataclass

from syn.model.recorded import Recorded
from syn.services.recall.indexing import Reading
from syn.services.recall.standing import standing_of


@dataclass(frozen=True, slots=True)
class Held:
    """One decision that keeps a fact back, or that its taint comes from."""

    entry: str
    """Its hash."""
    kind: str
    """`quarantine` or `taint`."""
    actor: str
    ts: str
    reason: str


def quarantined(reading: Reading) -> Iterator[tuple[Recorded, tuple[Held, ...]]]:
    """Every fact that is kept from agents, with the decisions that hold it, by id."""
    lifted = {e.fact for _, e in reading.ledger.ledger.entries() if e.action == "clear"}
    for fact, known in reading.ledger.recorded.items():
        # A clear may turn out not to count, so those facts are looked at closely.
        state = standing_of(reading, fact).known if fact in lifted else known
        if state is not None and state.quarantine and not state.deleted:
            yield state, held_by(reading, fact, state.quarantine, ())


def held_by(
    reading: Reading, fact: str, quarantines: tuple[str, ...], taints: tuple[str, ...]
) -> tuple[Held, ...]:
    """The decisions on a fact that these hashes name, sorted by hash."""
    kinds = {**dict.fromkeys(taints, "taint"), **dict.fromkeys(quarantines, "quarantine")}
    return tuple(
        Held(digest, kinds[digest], entry.actor, entry.ts, entry.reason or entry.taint)
        for digest, entry in sorted(reading.ledger_files.about(fact))
        if digest in kinds
    )
