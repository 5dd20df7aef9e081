from syn.ledger import heads
from syn.ledger.build import Draft
from syn.model.recorded import Recorded
from tests.support.ledgers import Book, digest


def _config(text: str, after: tuple[str, ...] = ()) -> Draft:
    return Draft(
        actor="Ann",
        via="cli",
        action="config",
        path="synapse.toml",
        source=digest(text),
        after=after,
        prior=("",) * len(after),
    )


def state(book: Book, fact: str = "a") -> Recorded:
    return heads.recorded(book.entries)[fact]


def test_one_decision_is_the_head() -> None:
    book = Book()
    head = book.add("w1", "create", "a", "one")
    assert state(book) == Recorded(
        fact="a",
        heads=(head,),
        path="facts/a.md",
        payload=digest("one"),
        source=digest("source of one"),
        deleted=False,
        forked=False,
        closed=False,
        taint="",
        quarantine=(),
        head_payloads=(digest("one"),),
    )


def test_a_later_decision_replaces_the_one_it_names() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    head = book.add("w2", "update", "a", "two")
    assert state(book).heads == (head,)
    assert state(book).payload == digest("two")


def test_two_unaware_writers_fork_a_fact_and_a_decision_that_names_both_cures_it() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    base = tuple(book.entries)
    left = book.add("w1", "update", "a", "left", sees=base)
    right = book.add("w2", "update", "a", "right", sees=base)
    forked = state(book)
    assert forked.forked
    assert not forked.deleted
    assert forked.heads == tuple(sorted((left, right)))
    assert (forked.path, forked.payload, forked.source) == ("", "", "")
    assert sorted(forked.head_payloads) == sorted((digest("left"), digest("right")))
    merge = book.add("w3", "update", "a", "merged")
    assert state(book).heads == (merge,)
    assert not state(book).forked


def test_a_decision_that_names_only_one_head_leaves_the_fork() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    base = tuple(book.entries)
    book.add("w1", "update", "a", "left", sees=base)
    left_only = tuple(book.entries)
    right = book.add("w2", "update", "a", "right", sees=base)
    newest = book.add("w1", "update", "a", "more", sees=left_only)
    assert state(book).heads == tuple(sorted((right, newest)))


def test_heads_that_say_the_same_are_no_fork() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    base = tuple(book.entries)
    book.add("w1", "update", "a", "same", sees=base)
    book.add("w2", "update", "a", "same", sees=base)
    both = state(book)
    assert len(both.heads) == 2
    assert not both.forked
    assert both.payload == digest("same")


def test_the_same_content_at_two_paths_is_a_fork() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    base = tuple(book.entries)
    book.add("w1", "move", "a", "one", path="facts/x.md", sees=base)
    book.add("w2", "move", "a", "one", path="facts/y.md", sees=base)
    assert state(book).forked


def test_a_delete_against_an_update_is_a_fork_and_two_deletes_are_not() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    base = tuple(book.entries)
    book.add("w1", "delete", "a", sees=base)
    book.add("w2", "delete", "a", path="other.md", sees=base)
    assert state(book).deleted
    assert not state(book).forked
    book.add("w3", "update", "a", "two", sees=base)
    assert state(book).forked
    assert not state(book).deleted


def test_a_writers_later_decision_replaces_its_earlier_one_without_naming_it() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    head = book.add("w1", "create", "a", "two", after=(), prior=())
    assert state(book).heads == (head,)


def test_a_move_keeps_the_fact_and_changes_its_path() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "move", "a", "one", path="archive/a.md")
    assert state(book).path == "archive/a.md"
    assert state(book).payload == digest("one")


def test_delete_create_and_undo_of_create() -> None:
    book = Book()
    first = book.add("w1", "create", "a", "one")
    book.add("w1", "undo", "a", names=(first,))
    gone = state(book)
    assert (gone.deleted, gone.path, gone.payload, gone.source) == (True, "", "", "")
    assert gone.head_payloads == ("",)
    book.add("w1", "create", "a", "two")
    assert not state(book).deleted


def test_a_close_holds_until_it_is_undone() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    closing = book.add("w1", "close", "a", "closed")
    assert state(book).closed
    book.add("w2", "update", "a", "named", review="named")
    assert state(book).closed
    book.add("w2", "move", "a", "named", path="old/a.md")
    assert state(book).closed
    undone = book.add("w1", "undo", "a", "one", names=(closing,))
    assert not state(book).closed
    book.add("w1", "undo", "a", "closed", names=(undone,))
    assert state(book).closed, "an undo of the undo closes it again"


def test_undoing_something_else_does_not_reopen() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "close", "a", "closed")
    change = book.add("w1", "update", "a", "named", review="named")
    book.add("w1", "undo", "a", "closed", names=(change,))
    assert state(book).closed


def test_undoing_a_batch_goes_back_before_its_first_line() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    closing = book.add("w1", "close", "a", "closed")
    moved = book.add("w1", "move", "a", "closed", path="old/a.md")
    book.add("w1", "undo", "a", "one", names=(closing, moved))
    assert not state(book).closed


def test_a_deleted_fact_begins_anew() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "close", "a", "closed")
    deleted = book.add("w1", "delete", "a")
    assert state(book).closed, "an undo of the delete brings a closed fact back"
    branch = tuple(book.entries)
    book.add("w1", "create", "a", "new")
    assert not state(book).closed
    book.entries = list(branch)
    book.add("w2", "undo", "a", "closed", names=(deleted,))
    assert state(book).closed


def test_taint_is_inherited_until_a_clear_names_it() -> None:
    book = Book()
    first = book.add("w1", "create", "a", "one", taint="external")
    book.add("w1", "update", "a", "two")
    assert state(book).taint == "external"
    assert state(book).tainted_by == (first,)
    second = book.add("w1", "update", "a", "three", taint="fact-b")
    book.add("w1", "clear", "a", names=(first,))
    assert state(book).taint == "fact-b"
    book.add("w2", "clear", "a", names=(second,))
    assert state(book).taint == ""
    assert state(book).tainted_by == ()


def test_a_clear_lifts_only_the_quarantines_it_names() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    one = book.add("w1", "quarantine", "a")
    two = book.add("w2", "quarantine", "a")
    book.add("w1", "clear", "a", names=(one,))
    assert state(book).quarantine == (two,)
    book.add("w1", "create", "b", "one")
    book.add("w1", "clear", "b", names=(two,))
    assert state(book).quarantine == (two,), "a clear of another fact lifts nothing"


def test_a_quarantine_is_no_decision_head() -> None:
    book = Book()
    head = book.add("w1", "create", "a", "one")
    book.add("w1", "quarantine", "a")
    assert state(book).heads == (head,)
    book.add("w1", "quarantine", "never-recorded")
    assert "never-recorded" not in heads.recorded(book.entries)


def test_an_expunge_is_a_decision_with_or_without_content() -> None:
    book = Book()
    secret = book.add("w1", "create", "a", "secret")
    book.add("w1", "expunge", "a", "redacted", names=(secret,))
    assert state(book).payload == digest("redacted")
    book.add("w1", "expunge", "a", names=(secret,))
    assert state(book).deleted


def test_seen_is_what_a_writer_puts_into_after_and_prior() -> None:
    book = Book()
    head = book.add("w1", "create", "a", "one")
    assert heads.seen(None) == ((), ())
    assert heads.seen(state(book)) == ((head,), (digest("one"),))


def test_config_decisions_have_heads_of_their_own() -> None:
    book = Book()
    first = book.batch("w1", [_config("one")])[0]
    left = book.batch("w1", [_config("left", (first,))])[0]
    right = book.batch("w2", [_config("right", (first,))])[0]
    found = heads.workspace_heads(book.entries, "config")
    assert [hashed for hashed, _ in found] == sorted((left, right))
    book.batch("w2", [_config("merged", tuple(sorted((left, right))))])
    assert [entry.source for _, entry in heads.workspace_heads(book.entries, "config")] == [
        digest("merged")
    ]
    assert heads.workspace_heads(book.entries, "policy") == ()


def test_a_reference_to_nothing_counts_for_nothing() -> None:
    book = Book()
    head = book.add("w1", "update", "a", "two", after=(digest("lost"),), prior=("",))
    assert state(book).heads == (head,)


def test_equivocating_heads_are_both_there() -> None:
    one, two = Book(), Book()
    left = one.add("w1", "create", "a", "one")
    right = two.add("w1", "create", "a", "two")
    both = heads.recorded([*one.entries, *two.entries])["a"]
    assert both.heads == tuple(sorted((left, right)))
    assert both.forked


def test_a_cycle_cannot_loop() -> None:
    parents = {"a": ("b",), "b": ("a",), "c": ()}
    assert heads.ordered(parents) == ["c", "a", "b"]
