"""Small ledgers for the tests: a builder that writes real lines and remembers every hash."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from syn.ledger.build import Draft, Signer, empty_tail, lines, next_entries
from syn.ledger.heads import recorded, seen
from syn.ledger.segments import Tail, segment_path
from syn.model.ledger import Action

if TYPE_CHECKING:
    from syn.ledger.entry import HashedEntry

WS = "6f1d2c3b-0000-4000-8000-000000000001"
TS = "2026-04-15T10:00:00.000000Z"


def digest(text: str) -> str:
    """Any digest, different for each text."""
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


class Book:
    """Chains of several writers; `add` appends one decision as its writer sees the whole book."""

    def __init__(self, ws: str = WS) -> None:
        self.ws = ws
        self.tails: dict[str, Tail] = {}
        self.entries: list[HashedEntry] = []

    def add(
        self, writer: str, action: Action, fact: str = "", content: str = "", **more: Any
    ) -> str:
        """Append one decision and return its hash.

        `content` stands for payload and source; `sees` limits what the writer has seen to these
        entries; `ts` and `signer` go to the entry, everything else to the draft.
        """
        known: Sequence[HashedEntry] = more.pop("sees", self.entries)
        ts, signer = more.pop("ts", TS), more.pop("signer", None)
        after, prior = seen(recorded(known).get(fact)) if fact else ((), ())
        if action in ("reject", "acknowledge"):
            after = prior = ()
        draft = Draft(
            actor=more.pop("actor", "Ann <ann@example.com>"),
            via="cli",
            action=action,
            fact=fact,
            path=more.pop("path", f"facts/{fact}.md" if fact else ""),
            payload=digest(content) if content else "",
            source=digest(f"source of {content}") if content else "",
            after=more.pop("after", after),
            prior=more.pop("prior", prior),
            **more,
        )
        return self.batch(writer, [draft], ts=ts, signer=signer)[0]

    def batch(
        self, writer: str, drafts: Sequence[Draft], ts: str = TS, signer: Signer | None = None
    ) -> list[str]:
        """Append one decision of several lines."""
        tail = self.tails.get(writer) or empty_tail(self.ws, writer)
        made, self.tails[writer] = next_entries(tail, drafts, ts, signer=signer)
        self.entries += made
        return [hashed for hashed, _ in made]

    def files(self) -> dict[str, bytes]:
        """The segment files."""
        return segment_files(self.entries)


def contradicting(ws: str = WS) -> list["HashedEntry"]:
    """Two histories of the same two writers, mixed.

    Each writer's later decision on fact `a` is named by the other one's earlier decision, so that
    its own order and `after` make a cycle.
    """
    one, other = Book(ws), Book(ws)
    one.add("w1", "create", "b", "x", sees=())
    late = one.add("w1", "create", "a", "s", sees=())
    one.add("w2", "update", "a", "r", after=(late,), prior=(digest("s"),), sees=())
    other.add("w2", "create", "b", "y", sees=())
    late = other.add("w2", "create", "a", "q", sees=())
    other.add("w1", "update", "a", "p", after=(late,), prior=(digest("q"),), sees=())
    return [*one.entries, *other.entries]


def segment_files(entries: Iterable["HashedEntry"]) -> dict[str, bytes]:
    """Segments that hold all of these, those with the same seq one after the other."""
    result: dict[str, bytes] = {}
    for hashed, entry in sorted(entries, key=lambda item: item[1].seq):
        path = segment_path(entry.writer, entry.seq)
        result[path] = result.get(path, b"") + lines([(hashed, entry)])
    return result
