"""Decision heads depend on the set of entries alone; replaying them in any legal order agrees."""

from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from syn.ledger import segments
from syn.ledger.entry import HashedEntry
from syn.ledger.heads import is_acyclic, predecessors, recorded
from syn.ledger.known_at import known_length
from syn.ledger.links import link_faults
from syn.ledger.replay import replay, state_digest
from syn.model.ledger import FACT_ACTIONS, Action, Entry
from tests.support.ledgers import WS, Book, segment_files

WRITERS = ("w1", "w2", "w3")
FACTS = ("a", "b")
ACTIONS: tuple[Action, ...] = (
    *("create", "update", "update", "close", "move", "delete", "undo", "supersede"),
    *("expunge", "restore", "quarantine", "clear"),
)


@st.composite
def books(draw: st.DrawFn) -> Book:
    """Several writers who see each other's entries late, or not at all."""
    book = Book()
    views: dict[str, list[HashedEntry]] = {writer: [] for writer in WRITERS}
    for number in range(draw(st.integers(1, 14))):
        writer = draw(st.sampled_from(WRITERS))
        view = views[writer]
        if draw(st.booleans()):
            other = draw(st.sampled_from(WRITERS))
            view += [entry for entry in views[other] if entry not in view]
        append(draw, book, writer, view, number)
        view.append(book.entries[-1])
    return book


def append(draw: st.DrawFn, book: Book, writer: str, view: list[HashedEntry], number: int) -> None:
    """One decision of any kind that is possible for a writer who sees this."""
    fact = draw(st.sampled_from(FACTS))
    action = draw(st.sampled_from(ACTIONS))
    state = recorded(view).get(fact)
    if state is None and action not in ("create", "supersede", "expunge", "quarantine"):
        action = "create"
    more: dict[str, Any] = {}
    if action in ("undo", "clear"):
        names = [
            hashed
            for hashed, entry in view
            if entry.fact == fact
            and (entry.action in FACT_ACTIONS if action == "undo" else entry.action != "clear")
        ]
        more["names"] = tuple(draw(st.sets(st.sampled_from(names), min_size=1, max_size=3)))
    if action in ("create", "update") and draw(st.booleans()):
        more["taint"] = draw(st.sampled_from(("external", "b")))
    if action == "move":
        more["path"] = f"moved/{number}.md"
    content = "" if action in ("delete", "clear", "quarantine") else f"text {number % 4}"
    book.add(writer, action, fact, content, sees=view, **more)


@settings(max_examples=40, deadline=None)
@given(books(), st.data())
def test_the_order_of_the_entries_does_not_matter(book: Book, data: st.DataObject) -> None:
    expected = recorded(book.entries)
    shuffled = data.draw(st.permutations(book.entries))
    assert recorded(shuffled) == expected
    assert list(recorded(shuffled)) == list(expected)
    assert recorded([*shuffled, *shuffled]) == expected, "a copy of an entry is the same entry"
    read = segments.read(WS, book.files().items())
    assert read.faults == ()
    assert recorded(read.entries()) == expected


@settings(max_examples=40, deadline=None)
@given(books())
def test_every_legal_order_of_replay_gives_the_recorded_state(book: Book) -> None:
    expected = recorded(book.entries)
    result = replay(book.entries, expected, orders=6)
    assert result.diverging == ()
    assert result.digest == state_digest(expected)
    assert result.entries == len(book.entries)
    assert 1 <= result.orders <= 6


@settings(max_examples=40, deadline=None)
@given(books(), books())
def test_mixed_histories_of_the_same_writers_have_one_state_too(one: Book, other: Book) -> None:
    """Equivocation: two entries with one seq, each with followers, perhaps without any order."""
    mixed = [*one.entries, *other.entries]
    expected = recorded(mixed)
    assert recorded(reversed(mixed)) == expected
    result = replay(mixed, expected, orders=4)
    assert result.diverging == ()
    if result.unordered:
        assert segments.read(WS, segment_files(mixed).items()).faults, "INV-3 has to say why"


@settings(max_examples=40, deadline=None)
@given(books(), books(), st.data())
def test_what_is_left_of_mixed_histories_has_one_state_too(
    one: Book, other: Book, data: st.DataObject
) -> None:
    """With lines lost, a seq that was taken twice no longer shows it."""
    mixed = {hashed: (hashed, entry) for hashed, entry in (*one.entries, *other.entries)}
    kept = [entry for entry in mixed.values() if data.draw(st.booleans())]
    expected = recorded(kept)
    assert recorded(reversed(kept)) == expected
    assert all(is_acyclic(predecessors(of_fact(kept, fact))) for fact in FACTS)
    assert replay(kept, expected, orders=3).diverging == ()


def of_fact(entries: Iterable[HashedEntry], fact: str) -> dict[str, Entry]:
    return {h: e for h, e in entries if e.fact == fact and e.action in FACT_ACTIONS}


@settings(max_examples=40, deadline=None)
@given(books(), st.data())
def test_damage_stops_neither_heads_nor_replay(book: Book, data: st.DataObject) -> None:
    kept = [entry for entry in book.entries if data.draw(st.integers(0, 3))]
    state = recorded(kept)
    assert replay(kept, state, orders=4).diverging == ()
    present = {hashed for hashed, _ in kept}
    lost = {
        name for _, entry in kept for name in (*entry.after, *entry.names) if name not in present
    }
    codes = {fault.code for fault in link_faults(kept)}
    assert bool(codes & {"dangling-after", "unknown-name"}) == bool(lost)


@settings(max_examples=40, deadline=None)
@given(books())
def test_heads_are_the_decisions_that_nothing_comes_after(book: Book) -> None:
    """The definition, computed the slow way: no decision on the fact has it as an ancestor."""
    for fact, state in recorded(book.entries).items():
        decisions = {
            hashed: entry
            for hashed, entry in book.entries
            if entry.fact == fact and entry.action in FACT_ACTIONS
        }
        parents = predecessors(decisions)
        inner = {parent for names in parents.values() for parent in names}
        assert state.heads == tuple(sorted(decisions.keys() - inner))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 9), max_size=8), st.integers(0, 10))
def test_known_at_is_a_prefix_that_grows_with_time(seconds: list[int], at: int) -> None:
    book = Book()
    for number, second in enumerate(seconds):
        ts = f"2026-01-01T00:00:0{second}.000000Z"
        book.add("w1", "create", f"f{number}", "x", ts=ts, sees=())
    instant = f"2026-01-01T00:00:{at:02d}.000000Z"
    late = [number for number, second in enumerate(seconds) if second > at]
    assert known_length(book.entries, instant) == (late[0] if late else len(seconds))
