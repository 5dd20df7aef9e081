import base64

import pytest

from syn.ledger.build import Draft, Signer, empty_tail, lines, next_entries, next_entry
from syn.ledger.entry import InvalidEntryError, decode, entry_hash, genesis, signing_payload
from syn.ledger.segments import Tail
from tests.support.ledgers import TS, WS, digest

DRAFT = Draft(
    actor="Ann",
    via="cli",
    action="create",
    fact="a",
    path="facts/a.md",
    payload=digest("p"),
    source=digest("s"),
)


def test_the_first_entry_follows_genesis() -> None:
    hashed, entry = next_entry(empty_tail(WS, "w1"), DRAFT, TS)
    assert (entry.seq, entry.prev, entry.ts) == (1, genesis(WS, "w1"), TS)
    assert hashed == entry_hash(entry)
    assert entry.batch == ""


def test_the_next_entry_follows_the_tail() -> None:
    _, entry = next_entry(Tail("w1", 7, digest("head")), DRAFT, TS)
    assert (entry.seq, entry.prev) == (8, digest("head"))


def test_a_decision_of_several_lines_is_a_batch() -> None:
    made, tail = next_entries(empty_tail(WS, "w1"), [DRAFT, DRAFT], TS)
    assert [entry.batch for _, entry in made] == ["w1:1", "w1:1"]
    assert made[1][1].prev == made[0][0]
    assert tail == Tail("w1", 2, made[1][0])
    assert [decode(line) for line in lines(made).splitlines()] == list(made)


def test_no_draft_is_no_entry() -> None:
    tail = empty_tail(WS, "w1")
    assert next_entries(tail, [], TS) == ((), tail)


def test_a_signer_signs_the_hash_and_is_named() -> None:
    asked: list[bytes] = []

    def sign(message: bytes) -> str:
        asked.append(message)
        return base64.b64encode(bytes(64)).decode()

    key = "SHA256:" + "A" * 43
    hashed, entry = next_entry(empty_tail(WS, "w1"), DRAFT, TS, signer=Signer(key, sign))
    assert asked == [signing_payload(hashed)]
    assert entry.key == key
    assert entry_hash(entry) == hashed


def test_names_are_sorted() -> None:
    names = tuple(sorted((digest("x"), digest("y")), reverse=True))
    draft = Draft("Ann", "cli", "clear", fact="a", names=(*names, names[0]))
    assert next_entry(empty_tail(WS, "w1"), draft, TS)[1].names == names[::-1]


@pytest.mark.parametrize(
    ("writer", "ts"), [("W1", TS), ("", TS), ("w1", "2026-04-15"), ("w1", "now")]
)
def test_nothing_invalid_is_made(writer: str, ts: str) -> None:
    with pytest.raises(InvalidEntryError):
        next_entry(Tail(writer, 0, digest("g")), DRAFT, ts)
