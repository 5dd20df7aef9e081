"""Every decision on one fact, in the order in which they were made: who, when, how, why."""

from collections.abc import Mapping
from difflib import get_close_matches

from syn.facts.parse import parse
from syn.ledger.entry import HashedEntry
from syn.ledger.heads import ordered
from syn.model.fact import Fact
from syn.model.ledger import FACT_ACTIONS, Entry
from syn.services.recall.answers import Answer, page_json
from syn.services.recall.fielddiff import compare_facts
from syn.services.recall.reads import Reader, UnknownFactError, entry_json
from syn.services.writing.contents import find_all


def blame(reader: Reader, name: str) -> Answer:
    """The decisions on a fact, oldest first by what each one was made on.

    Each says which fields it changed, where the bytes before and after are in this repository.

    Raises:
        UnknownFactError: no decision was made on such a fact; near ids are suggested.
    """
    ledger = reader.reading.ledger
    fact = _fact_id(reader, name)
    entries = {d: e for d, e in ledger.ledger.entries() if e.fact == fact}
    order = ordered(_parents(entries))
    fields = _fields(reader, entries)
    state = ledger.recorded.get(fact)
    heads = state.heads if state else ()
    items = [entry_json(digest, entries[digest]) for digest in order]
    for digest, answer in zip(order, items, strict=True):
        if digest in fields:
            answer["fields"] = list(fields[digest])
        if digest in heads:
            answer["head"] = True
    return {**page_json(items, len(items), None), "fact": fact, "path": state.path if state else ""}


def _fact_id(reader: Reader, name: str) -> str:
    recorded = reader.reading.ledger.recorded
    if name in recorded:
        return name
    cell = reader.index.cell(name)
    if cell is not None and cell[0].id in recorded:
        return cell[0].id
    moved = [state.fact for state in recorded.values() if state.path == name]
    if moved:
        return moved[0]
    raise UnknownFactError(name, get_close_matches(name, sorted(recorded), 3))


def _parents(entries: Mapping[str, Entry]) -> dict[str, tuple[str, ...]]:
    """What each entry comes after: its writer's last one on the fact, and all that it names."""
    last: dict[str, str] = {}
    parents: dict[str, tuple[str, ...]] = {}
    for digest, entry in sorted(entries.items(), key=_by_place):
        named = (*entry.after, *entry.names, last.get(entry.writer, ""))
        parents[digest] = tuple({name for name in named if name in entries})
        last[entry.writer] = digest
    return parents


def _by_place(pair: HashedEntry) -> tuple[str, int, str]:
    return pair[1].writer, pair[1].seq, pair[0]


def _fields(reader: Reader, entries: Mapping[str, Entry]) -> dict[str, tuple[str, ...]]:
    """Per decision, the fields that differ from the state it was made on."""
    wanted: dict[str, set[str]] = {}
    for entry in entries.values():
        if entry.source:
            wanted.setdefault(entry.path, set()).add(entry.source)
    data = find_all(reader.workspace.repository, wanted)
    facts: dict[str, Fact] = {}
    for path, sources in wanted.items():
        for source in sources & data.keys():
            parsed = parse(path, data[source], reader.reading.config)
            if isinstance(parsed, Fact):
                facts[source] = parsed
    found: dict[str, tuple[str, ...]] = {}
    for digest, entry in entries.items():
        before = [entries[name].source for name in entry.after if name in entries]
        if entry.action not in FACT_ACTIONS or any(s and s not in facts for s in before):
            continue
        if len(before) <= 1 and (not entry.source or entry.source in facts):
            old = facts.get(before[0]) if before else None
            changes = compare_facts(old, facts.get(entry.source))
            found[digest] = tuple(change.field for change in changes)
    return found
