"""The next entry of a chain, made from its tail and a decision; appending it is not done here."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from syn.ledger.entry import HashedEntry, encode, entry_hash, genesis, signing_payload
from syn.ledger.segments import Tail
from syn.model.ledger import Action, Entry, Review, Via


@dataclass(frozen=True, slots=True)
class Draft:
    """A decision on one fact, or on the workspace, before it has a place; fields as in `Entry`."""

    actor: str
    via: Via
    action: Action
    review: Review | Literal[""] = ""
    fact: str = ""
    path: str = ""
    payload: str = ""
    source: str = ""
    taint: str = ""
    after: tuple[str, ...] = ()
    prior: tuple[str, ...] = ()
    proposal: str = ""
    reason: str = ""
    names: tuple[str, ...] = ()
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Signer:
    """A key that signs entries: its fingerprint, and a function from message to base64."""

    key: str
    sign: Callable[[bytes], str]


def empty_tail(ws: str, writer: str) -> Tail:
    """The tail of a writer that has no entry yet."""
    return Tail(writer, 0, genesis(ws, writer))


def next_entry(
    tail: Tail, draft: Draft, ts: str, *, batch: str = "", signer: Signer | None = None
) -> HashedEntry:
    """The entry that follows a tail, with its hash, signed when there is a signer.

    Raises:
        InvalidEntryError: the draft breaks a rule of docs/formats/ledger.md; nothing invalid is
            ever returned.
    """
    entry = Entry(
        writer=tail.writer,
        seq=tail.length + 1,
        prev=tail.head,
        ts=ts,
        actor=draft.actor,
        via=draft.via,
        action=draft.action,
        review=draft.review,
        batch=batch,
        fact=draft.fact,
        path=draft.path,
        payload=draft.payload,
        source=draft.source,
        taint=draft.taint,
        after=draft.after,
        prior=draft.prior,
        proposal=draft.proposal,
        reason=draft.reason,
        names=tuple(sorted(set(draft.names))),
        commit=draft.commit,
        key=signer.key if signer else "",
    )
    digest = entry_hash(entry)
    if signer is not None:
        entry = replace(entry, sig=signer.sign(signing_payload(digest)))
    encode(entry)
    return digest, entry


def next_entries(
    tail: Tail, drafts: Iterable[Draft], ts: str, *, signer: Signer | None = None
) -> tuple[tuple[HashedEntry, ...], Tail]:
    """The entries of one decision, joined as a batch when they are several, and the new tail."""
    todo = tuple(drafts)
    batch = f"{tail.writer}:{tail.length + 1}" if len(todo) > 1 else ""
    made: list[HashedEntry] = []
    for draft in todo:
        digest, entry = next_entry(tail, draft, ts, batch=batch, signer=signer)
        made.append((digest, entry))
        tail = Tail(tail.writer, entry.seq, digest)
    return tuple(made), tail


def lines(entries: Iterable[HashedEntry]) -> bytes:
    """The bytes to append to a segment for these entries, which belong to one file."""
    return b"".join(encode(entry) + b"\n" for _, entry in entries)
