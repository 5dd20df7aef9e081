"""`syn undo`: one decision is taken back by a new one (design 10)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from syn.errors import RefusedError, UsageError
from syn.git.repository import Repository
from syn.index.store import Index
from syn.ledger.entry import HashedEntry
from syn.model.fact import Fact, Unreadable
from syn.model.ledger import FACT_ACTIONS, Entry
from syn.services.recall.indexing import Reading
from syn.services.recall.opening import open_current
from syn.services.workspace import Workspace
from syn.services.writing.contents import recorded_bytes
from syn.services.writing.desk import Desk
from syn.services.writing.exclusive import exclusively
from syn.services.writing.gate import check, judge
from syn.services.writing.planning import Item, Plan, UnreadableResultError
from syn.services.writing.writes import Terms, Written, carry_out, refresh

_SHORTEST = 4
"""Characters of a decision's hash that name it, when they are enough."""
_INSTEAD = {
    "config": "edit synapse.toml back and adopt it",
    "policy": "change the policy again",
    "quarantine": "syn clear lifts it",
    "clear": "syn quarantine sets it again",
    "reject": "propose it again",
    "receipt": "a receipt says what held; remove its file if it must not be kept",
    "acknowledge": "it stays on record",
}


class DependsError(RefusedError):
    """A later decision was made on what this one left."""

    def __init__(self, fact: str, later: HashedEntry | None) -> None:
        what = f"{later[1].action} {later[0][7:19]}" if later else "another one"
        super().__init__(
            "later-decision",
            f"{fact}: a later decision depends on it: {what}",
            f"undo the later one first: syn undo {later[0][7:19]}" if later else "syn blame",
        )


def undo(workspace: Workspace, name: str, terms: Terms, note: Callable[[str], None]) -> Written:
    """Take one decision back, all of its lines, by a new decision.

    Raises:
        UsageError: no decision, or several, have that name.
        RefusedError: a later decision depends on it, or it is none that can be taken back.
        LostBytesError: what was there before is not in this repository any more.
    """
    with exclusively(workspace):
        index, reading = open_current(workspace, note)
        with index:
            plan = plan_undo(workspace.repository, reading, index, name)
            verdict = judge(plan, reading, index)
        check(verdict, terms.override)
        entries = carry_out(workspace, reading, plan, verdict, terms)
        refresh(workspace, note)
    return Written(plan, verdict, entries)


def plan_undo(repository: Repository, reading: Reading, index: Index, name: str) -> Plan:
    """What taking a decision back would do; raises as `undo`."""
    entries = dict(reading.ledger.ledger.entries())
    lines = decision_lines(entries, name)
    undoer = _Undoer(repository, reading, entries, Desk(reading, index))
    facts = dict.fromkeys(entry.fact for _, entry in lines)
    return Plan(
        tuple(undoer.item([line for line in lines if line[1].fact == fact]) for fact in facts)
    )


def find_decision(entries: Mapping[str, Entry], name: str) -> HashedEntry:
    """The one decision whose hash starts like this (with or without `sha256:`).

    Raises:
        UsageError: there is none, or there are several.
    """
    prefix = name if name.startswith("sha256:") else f"sha256:{name}"
    found = [digest for digest in entries if digest.startswith(prefix)]
    if len(prefix) < len("sha256:") + _SHORTEST or not found:
        raise UsageError(
            "unknown-decision", f"no decision is called {name!r:.80}", "syn log lists them"
        )
    if len(found) > 1:
        raise UsageError(
            "ambiguous-decision", f"{len(found)} decisions start with {name}", "give more of it"
        )
    return found[0], entries[found[0]]


def decision_lines(entries: Mapping[str, Entry], name: str) -> list[HashedEntry]:
    """The lines of one decision in order: a batch is named by any of them."""
    digest, entry = find_decision(entries, name)
    if not entry.batch:
        lines = [(digest, entry)]
    else:
        lines = [pair for pair in entries.items() if pair[1].batch == entry.batch]
        lines.sort(key=lambda pair: pair[1].seq)
    for _, line in lines:
        if line.action not in FACT_ACTIONS:
            raise RefusedError(
                "not-undoable",
                f"{digest[7:19]} has a line that is no decision on a fact: {line.action}",
                _INSTEAD.get(line.action, ""),
            )
        if line.action == "expunge":
            raise RefusedError(
                "not-undoable", f"{digest[7:19]} expunged bytes: nothing here has them any more"
            )
    return lines


@dataclass(frozen=True, slots=True)
class _Undoer:
    repository: Repository
    reading: Reading
    entries: Mapping[str, Entry]
    desk: Desk

    def item(self, lines: list[HashedEntry]) -> Item:
        """One fact's part: back to what was before the first of these lines."""
        fact, first, last = lines[0][1].fact, lines[0][1], lines[-1]
        known = self.reading.ledger.recorded[fact]
        if len(known.heads) != 1 or not self._stands(known.heads[0], last[0]):
            raise DependsError(fact, self._later(fact, last))
        target = self._before(first)
        item = Item("undo", fact, known.path or last[1].path, None, None, None, None)
        if not known.deleted:
            found = self.desk.take(fact)
            item = replace(item, path=found.path, before=found.data, old=found.fact)
        item = replace(item, names=tuple(sorted(digest for digest, _ in lines)))
        if target is None:
            return item
        if item.old is None or item.path != target.path:
            self.desk.take_path(target.path, leaving=item.path if item.old else "")
        return self._bring_back(item, target)

    def _stands(self, head: str, digest: str) -> bool:
        """Whether a fact's head is this decision, but for later ones that are taken back."""
        while head != digest:
            entry = self.entries[head]
            named = [self.entries[name] for name in entry.names if name in self.entries]
            if entry.action != "undo" or not named:
                return False
            first = min(named, key=lambda line: line.seq)
            if len(first.after) != 1 or first.after[0] not in self.entries:
                return False
            head = first.after[0]
        return True

    def _bring_back(self, item: Item, target: Entry) -> Item:
        data = recorded_bytes(self.repository, target.path, target.source)
        parsed = self.desk.parse(target.path, data)
        if isinstance(parsed, Unreadable):
            raise UnreadableResultError(target.path, parsed)
        was = item.path if item.old is not None and item.path != target.path else ""
        if was or item.old is None or parsed.source_digest != item.old.source_digest:
            item = replace(item, after=data)
        else:
            item = replace(item, after=item.before)
        fact: Fact = replace(parsed, id=item.id)
        return replace(item, path=target.path, was=was, new=fact)

    def _before(self, first: Entry) -> Entry | None:
        """The decision that this one was made on; None when there was no fact."""
        states = {
            (entry.path, entry.payload): entry
            for digest in first.after
            if (entry := self.entries.get(digest)) is not None
        }
        if len(states) > 1:
            raise RefusedError(
                "joins-versions",
                f"{first.fact}: the decision joined several versions into one",
                "there is no one state to go back to: syn edit or syn restore what is wanted",
            )
        entry = next(iter(states.values()), None)
        return entry if entry is not None and entry.payload else None

    def _later(self, fact: str, last: HashedEntry) -> HashedEntry | None:
        undone = {name for entry in self.entries.values() for name in entry.names}
        for digest, entry in self.entries.items():
            same = entry.fact == fact and entry.action in FACT_ACTIONS
            after = entry.writer == last[1].writer and entry.seq > last[1].seq
            standing = entry.action != "undo" and digest not in undone
            if same and standing and (last[0] in entry.after or after):
                return digest, entry
        return None
