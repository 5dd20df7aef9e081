"""References between entries: every `after`, `prior` and name leads where it says (design 5)."""

from collections.abc import Iterable, Iterator, Mapping

from syn.ledger.entry import HashedEntry
from syn.ledger.faults import RESTORE, Fault
from syn.ledger.segments import place
from syn.model.ledger import FACT_ACTIONS, Entry

_LOST = (
    "an entry was lost, for instance in a merge: restore the segment that held it from git "
    "(syn verify --deep names the commit)"
)


def link_faults(entries: Iterable[HashedEntry]) -> tuple[Fault, ...]:
    """What is wrong with the references of all entries of a workspace, sorted by place.

    Needs every chain at once. Line numbers are those that writer and seq give in a whole chain.
    """
    index = dict(entries)
    first = _first_decisions(index)
    found: list[Fault] = []
    for entry in index.values():
        found += _after(entry, index)
        found += _names(entry, index)
        if entry.fact and not entry.after and entry.action in FACT_ACTIONS:
            earlier = first[entry.writer, entry.fact]
            if earlier < entry.seq:
                found.append(
                    _fault(
                        entry,
                        "after-omitted",
                        f"after: this writer decided on the fact at seq {earlier}",
                        "none",
                    )
                )
    return tuple(sorted(found, key=Fault.sort_key))


def _first_decisions(index: Mapping[str, Entry]) -> dict[tuple[str, str], int]:
    first: dict[tuple[str, str], int] = {}
    for entry in index.values():
        if entry.fact and entry.action in FACT_ACTIONS:
            key = (entry.writer, entry.fact)
            first[key] = min(first.get(key, entry.seq), entry.seq)
    return first


def _after(entry: Entry, index: Mapping[str, Entry]) -> Iterator[Fault]:
    for digest, payload in zip(entry.after, entry.prior, strict=True):
        target = index.get(digest)
        if target is None:
            yield _fault(entry, "dangling-after", f"an entry {digest}", "no such entry", _LOST)
        elif not _comparable(entry, target):
            yield _fault(
                entry,
                "after-foreign",
                f"a decision on {entry.fact or entry.action}",
                f"{target.action} on {target.fact or target.path}: {digest}",
            )
        elif target.payload != payload:
            yield _fault(
                entry, "prior-mismatch", target.payload or "no payload", payload or "no payload"
            )


def _comparable(entry: Entry, target: Entry) -> bool:
    if entry.fact:
        return target.fact == entry.fact and target.action in FACT_ACTIONS
    return target.action == entry.action


def _names(entry: Entry, index: Mapping[str, Entry]) -> Iterator[Fault]:
    # An acknowledge may name what is gone: that is its point.
    if not entry.names or entry.action == "acknowledge":
        return
    named = [index.get(digest) for digest in entry.names]
    for digest, target in zip(entry.names, named, strict=True):
        if target is None:
            yield _fault(entry, "unknown-name", f"an entry {digest}", "no such entry", _LOST)
        elif not _nameable(entry, target):
            yield _fault(
                entry,
                "name-foreign",
                _EXPECTED[entry.action],
                f"{target.action} on {target.fact or target.path}: {digest}",
            )


_EXPECTED = {
    "clear": "a quarantine or a tainted decision on the same fact",
    "undo": "a decision on the same fact",
    "expunge": "a decision on the same fact",
}


def _nameable(entry: Entry, target: Entry) -> bool:
    if target.fact != entry.fact:
        return False
    if entry.action == "clear":
        return target.action == "quarantine" or bool(target.taint)
    return target.action in FACT_ACTIONS


def _fault(entry: Entry, code: str, expected: str, actual: str, remedy: str = RESTORE) -> Fault:
    path, line = place(entry)
    return Fault(
        code=code,
        subject=entry.fact or entry.writer,
        path=path,
        line=line,
        byte=0,
        expected=expected,
        actual=actual,
        remedy=remedy.format(path=path) if remedy is RESTORE else remedy,
    )
