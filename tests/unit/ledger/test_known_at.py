import pytest

from syn.ledger import segments
from syn.ledger.heads import recorded
from syn.ledger.known_at import known_at, known_length
from tests.support.ledgers import WS, Book, digest


def at(second: int) -> str:
    return f"2026-04-15T10:00:{second:02d}.000000Z"


def book(*seconds: int) -> Book:
    made = Book()
    for number, second in enumerate(seconds):
        made.add("w1", "create" if not number else "update", "a", str(number), ts=at(second))
    return made


@pytest.mark.parametrize(
    ("second", "known"), [(9, 0), (10, 1), (19, 1), (20, 2), (29, 2), (30, 3), (59, 3)]
)
def test_an_entry_is_known_from_its_own_instant_on(second: int, known: int) -> None:
    assert known_length(book(10, 20, 30).entries, at(second)) == known


def test_a_clock_that_was_set_back_hides_nothing_that_came_before() -> None:
    made = book(10, 40, 20, 30, 50)
    assert [known_length(made.entries, at(s)) for s in (10, 20, 30, 39, 40, 50)] == [
        1,
        1,
        1,
        1,
        4,
        5,
    ]


def test_instants_with_nanoseconds_compare_with_microseconds() -> None:
    made = book(10)
    assert known_length(made.entries, "2026-04-15T10:00:10.000000000Z") == 1
    assert known_length(made.entries, "2026-04-15T10:00:09.999999999Z") == 0


def test_what_was_known_is_a_prefix_of_every_chain() -> None:
    made = Book()
    made.add("w1", "create", "a", "one", ts=at(10))
    made.add("w2", "update", "a", "two", ts=at(20))
    made.add("w1", "update", "a", "three", ts=at(30))
    chains = segments.read(WS, made.files().items()).chains
    assert recorded(known_at(chains, at(9))) == {}
    assert recorded(known_at(chains, at(15)))["a"].payload == digest("one")
    assert recorded(known_at(chains, at(20)))["a"].payload == digest("two")
    assert recorded(known_at(chains, at(59)))["a"].payload == digest("three")
