from dataclasses import replace

from syn.ledger.heads import recorded
from syn.ledger.replay import replay, state_digest
from tests.support.ledgers import Book, contradicting, digest


def test_one_writer_leaves_no_choice() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "update", "a", "two")
    result = replay(book.entries, recorded(book.entries))
    assert (result.orders, result.entries, result.diverging) == (1, 2, ())


def test_independent_writers_are_replayed_in_several_orders() -> None:
    book = Book()
    for number in range(20):
        book.add(f"w{number % 4}", "create", f"f{number}", "text", sees=())
    result = replay(book.entries, recorded(book.entries), orders=4)
    assert result.orders == 4
    assert result.diverging == ()
    assert result.digest == state_digest(recorded(book.entries))


def test_a_state_that_differs_names_its_facts() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w2", "create", "b", "two")
    state = recorded(book.entries)
    state["b"] = replace(state["b"], payload=digest("else"))
    assert replay(book.entries, state).diverging == ("b",)
    del state["b"]
    assert replay(book.entries, state).diverging == ("b",)


def test_the_digest_covers_every_field() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    state = recorded(book.entries)["a"]
    changed = [
        replace(state, heads=(digest("x"),)),
        replace(state, path="x.md"),
        replace(state, payload=digest("x")),
        replace(state, source=digest("x")),
        replace(state, deleted=True),
        replace(state, forked=True),
        replace(state, closed=True),
        replace(state, taint="external"),
        replace(state, quarantine=(digest("x"),)),
        replace(state, tainted_by=(digest("x"),)),
        replace(state, head_payloads=(digest("x"),)),
        replace(state, fact="b"),
    ]
    digests = {state_digest({value.fact: value}) for value in (state, *changed)}
    assert len(digests) == len(changed) + 1


def test_no_entries_replay_to_the_empty_state() -> None:
    result = replay([], {})
    assert (result.entries, result.orders, result.diverging) == (0, 1, ())
    assert result.digest == state_digest({})


def test_histories_that_contradict_each_other_have_a_state_and_no_order() -> None:
    entries = contradicting()
    state = recorded(entries)
    assert state["a"].forked
    assert len(state["a"].heads) == 2
    result = replay(entries, state)
    assert (result.unordered, result.orders, result.digest) == (("w1", "w2"), 0, "")
    assert result.diverging == ()


def test_one_writer_can_contradict_itself() -> None:
    book = Book()
    book.add("w1", "create", "b", "x")
    late = book.add("w1", "create", "a", "late", sees=())
    other = Book()
    other.add("w1", "update", "a", "early", after=(late,), prior=(digest("late"),), sees=())
    entries = [*book.entries, *other.entries]
    assert [e.payload for h, e in entries if h in recorded(entries)["a"].heads] == [digest("early")]
    assert replay(entries, recorded(entries)).unordered == ("w1",)
