"""From what is asked to what will be written: files before and after, decisions, nothing done yet.

A plan follows from the changes, the files and the ledger alone, so the same question asked twice
of the same workspace gives an equal plan: that is what a person's consent is bound to.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import assert_never

from syn.canon.digest import sha256, tagged_json
from syn.errors import RefusedError, UsageError
from syn.facts.dates import parse_instant
from syn.facts.edit import set_fields
from syn.facts.render import render
from syn.index.store import Index
from syn.model.fact import Fact, Instant, Unreadable
from syn.model.ledger import FactAction
from syn.model.payload import Mapping as Fields
from syn.model.payload import Value
from syn.services.recall.indexing import Reading
from syn.services.writing.changes import (
    TEXTS,
    Add,
    Change,
    Close,
    Delete,
    Edit,
    Link,
    Move,
    NewFact,
    Supersede,
)
from syn.services.writing.desk import Desk, Found
from syn.services.writing.naming import check_path, path_for, slug, unused


class IntervalError(UsageError):
    """An interval that would hold at no instant."""

    def __init__(self, what: str, start: str, end: str) -> None:
        super().__init__(
            "empty-interval",
            f"{what}: expected an end after {start}, got {end}",
            "give a later end; a fact that never held is removed with syn rm",
        )


class UnreadableResultError(RefusedError):
    """The file that would be written is not a fact that can be read."""

    def __init__(self, path: str, unreadable: Unreadable) -> None:
        first = unreadable.problems[0]
        super().__init__("unreadable-result", f"{path}: {first.message}", first.remedy)


@dataclass(frozen=True, slots=True)
class Item:
    """One fact's part of a decision."""

    action: FactAction
    id: str
    path: str
    """Where the fact is afterwards, or was when it goes."""
    before: bytes | None
    """The bytes on disk; None where there is no file."""
    after: bytes | None
    """None when the fact goes."""
    old: Fact | None
    new: Fact | None
    was: str = ""
    """The path before a move."""
    taint: str = ""
    names: tuple[str, ...] = ()

    @property
    def changes_file(self) -> bool:
        """Whether a file is written or removed; else only the record changes."""
        return bool(self.was) or self.before != self.after


@dataclass(frozen=True, slots=True)
class Plan:
    """What a decision would do."""

    items: tuple[Item, ...]
    changes: tuple[Change, ...] = ()
    """What was asked, with every default filled in: asked again, it gives the same."""

    @property
    def base(self) -> str:
        """Digest of the files it starts from."""
        return tagged_json(
            "base/1",
            [
                [i.was or i.path, sha256(i.before) if i.before is not None else ""]
                for i in self.items
            ],
        )

    @property
    def result(self) -> str:
        """Digest of the files it leads to."""
        return tagged_json(
            "result/1",
            [
                [i.action, i.path, sha256(i.after) if i.after is not None else ""]
                for i in self.items
            ],
        )


def plan_changes(reading: Reading, index: Index, changes: Iterable[Change], now: datetime) -> Plan:
    """What these changes would do, one decision; an edit that changes nothing is left out.

    Raises:
        UsageError, RefusedError: a change that cannot be made, and why.
    """
    planner = _Planner(Desk(reading, index), now)
    asked = [planner.settle(change) for change in changes]
    return Plan(tuple(planner.items), tuple(asked))


@dataclass(slots=True)
class _Planner:
    """Takes changes one after the other; later ones see the names that earlier ones took."""

    desk: Desk
    now: datetime
    items: list[Item] = field(default_factory=list)

    def settle(self, change: Change) -> Change:
        """Plan one change; returns it with its defaults filled in."""
        match change:
            case Add(new=new):
                new = self._named(new)
                self._add(new, "create", ())
                return Add(new)
            case Supersede():
                return self._supersede(change)
            case Edit():
                self._edit(change)
            case Close():
                change = replace(change, at=change.at or self._instant())
                self._close(change)
            case Delete(id=name):
                found = self.desk.take(name)
                self._put(Item("delete", found.id, found.path, found.data, None, found.fact, None))
            case Move():
                self._move(change)
            case Link():
                self._link(change)
            case _:
                assert_never(change)
        return change

    def _instant(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%SZ")

    def _put(self, item: Item) -> None:
        self.items.append(item)

    def _named(self, new: NewFact) -> NewFact:
        """The new fact with an id and a path of its own."""
        title = new.title or " ".join(part for part in (new.subject, new.field) if part)
        if not title and not new.id:
            raise UsageError("title", "a new fact: expected a title, got none", "give --title")
        fact_id = new.id or unused(slug(title), self.desk.id_taken)
        self.desk.take_id(fact_id)
        path = new.path or path_for(fact_id, self.desk.config, self.desk.path_taken)
        check_path(path, self.desk.config)
        self.desk.take_path(path)
        return replace(new, id=fact_id, title=new.title or title, path=path)

    def _add(self, new: NewFact, action: FactAction, old: tuple[Found, ...]) -> None:
        start = _instant_of(new.valid_from)
        end = _instant_of(new.valid_to)
        if start and end and start.key >= end.key:
            raise IntervalError(new.id, start.text, end.text)
        data = render(self._front(new, old), new.body)
        fact = self._read(new.path, data)
        if fact.id != new.id:
            raise UsageError("bad-id", f"the id {new.id!r:.60} cannot be written as it is")
        taint = "external" if fact.source.external else next((f.id for f in old if f.taint), "")
        self._put(Item(action, new.id, new.path, None, data, None, fact, taint=taint))

    def _front(self, new: NewFact, old: tuple[Found, ...]) -> list[tuple[str, Value]]:
        name = self.desk.config.keys.of
        front: list[tuple[str, Value]] = [
            (name(key), getattr(new, key)) for key in TEXTS if getattr(new, key)
        ]
        if new.tags:
            front.append((name("tags"), new.tags))
        if old:
            front.append((name("supersedes"), tuple(found.id for found in old)))
        if new.source:
            front.append((name("source"), Fields(new.source)))
        return [*front, *new.more]

    def _read(self, path: str, data: bytes) -> Fact:
        parsed = self.desk.parse(path, data)
        if isinstance(parsed, Unreadable):
            raise UnreadableResultError(path, parsed)
        return parsed

    def _supersede(self, change: Supersede) -> Supersede:
        old = tuple(self.desk.take(name) for name in dict.fromkeys(change.old))
        new = _inherit(change.new, old[0].fact)
        new = replace(new, valid_from=new.valid_from or self._instant())
        new = self._named(new)
        start = parse_instant(new.valid_from)
        for found in old:
            self._succeed(found, new.id, start)
        self._add(new, "supersede", old)
        return Supersede(tuple(found.id for found in old), new)

    def _succeed(self, found: Found, successor: str, start: Instant) -> None:
        """End a fact where its successor begins, and name the successor."""
        fact, name = found.fact, self.desk.config.keys.of
        if fact.valid_from and fact.valid_from.key >= start.key:
            raise IntervalError(fact.id, fact.valid_from.text, start.text)
        changes: dict[str, Value | None] = {name("superseded_by"): (*fact.superseded_by, successor)}
        if fact.valid_to is None or fact.valid_to.key > start.key:
            changes[name("valid_to")] = start.text
        self._rewrite(found, "close", changes)

    def _edit(self, change: Edit) -> None:
        found = self.desk.take(change.id)
        name = self.desk.config.keys.of
        changes: dict[str, Value | None] = {name(key): value for key, value in change.reserved}
        changes |= dict(change.set)
        changes |= dict.fromkeys(change.unset)
        if change.tag or change.untag:
            kept = [tag for tag in found.fact.tags if tag not in change.untag]
            tags = tuple(dict.fromkeys((*kept, *change.tag)))
            changes[name("tags")] = tags or None
        self._rewrite(found, "update", changes, change.body)

    def _close(self, change: Close) -> None:
        found = self.desk.take(change.id)
        fact, end = found.fact, parse_instant(change.at)
        if found.closed:
            raise RefusedError(
                "already-closed",
                f"{fact.id}: a decision closed it already",
                f"syn blame {fact.id} names it; syn undo takes it back",
            )
        if fact.valid_from and fact.valid_from.key >= end.key:
            raise IntervalError(fact.id, fact.valid_from.text, end.text)
        if fact.valid_to and fact.valid_to.key < end.key:
            raise RefusedError(
                "already-ended",
                f"{fact.id}: it ends at {fact.valid_to.text}, before {end.text}",
                f"syn edit {fact.id} --valid-to {end.text} lets it end later",
            )
        self._rewrite(found, "close", {self.desk.config.keys.of("valid_to"): end.text})

    def _move(self, change: Move) -> None:
        found = self.desk.take(change.id)
        if found.path == change.path:
            return
        check_path(change.path, self.desk.config)
        self.desk.take_path(change.path, leaving=found.path)
        fact = replace(self._read(change.path, found.data), id=found.id)
        item = Item("move", found.id, change.path, found.data, found.data, found.fact, fact)
        self._put(replace(item, was=found.path))

    def _link(self, change: Link) -> None:
        found = self.desk.take(change.id)
        self.desk.look(change.to)
        plain = change.relation in self.desk.config.relations
        target = change.to if plain else f"[[{change.to}]]"
        value = found.fact.fields.get(change.relation)
        there = value if isinstance(value, tuple) else () if value is None else (value,)
        if target not in there:
            self._rewrite(found, "update", {change.relation: (*there, target)})

    def _rewrite(
        self,
        found: Found,
        action: FactAction,
        changes: Mapping[str, Value | None],
        body: str | None = None,
    ) -> None:
        data = set_fields(found.data, changes, body, path=found.path)
        if data == found.data and action == "update":
            return
        fact = self._read(found.path, data)
        if not fact.explicit_id and not found.fact.explicit_id:
            fact = replace(fact, id=found.id)
        if fact.id != found.id:
            raise UsageError(
                "id-changes",
                f"{found.id}: an id never changes, and this would make it {fact.id}",
                "add a fact with the new id and supersede this one",
            )
        start, end = fact.valid_from, fact.valid_to
        if start and end and start.key >= end.key:
            raise IntervalError(fact.id, start.text, end.text)
        taint = "external" if fact.source.external else ""
        item = Item(action, found.id, found.path, found.data, data, found.fact, fact)
        self._put(replace(item, taint=taint))


def _inherit(new: NewFact, old: Fact) -> NewFact:
    """What a successor says where nothing is said: what it is about."""
    return replace(
        new,
        title=new.title or old.title,
        type=new.type or old.type or "",
        subject=new.subject or old.subject or "",
        field=new.field or old.field or "",
        tags=new.tags or old.tags,
    )


def _instant_of(text: str) -> Instant | None:
    return parse_instant(text) if text else None
