from dataclasses import replace

from syn.ledger.links import link_faults
from tests.support.ledgers import Book, digest


def codes(book: Book) -> list[str]:
    return [fault.code for fault in link_faults(book.entries)]


def test_a_history_of_every_kind_has_no_fault() -> None:
    book = Book()
    first = book.add("w1", "create", "a", "one", taint="external")
    book.add("w1", "create", "b", "two")
    held = book.add("w2", "quarantine", "a")
    book.add("w2", "clear", "a", names=tuple(sorted((held, first))))
    closing = book.add("w2", "close", "b", "three")
    book.add("w3", "undo", "b", "two", names=(closing,))
    book.add("w3", "acknowledge", names=(digest("lost"),))
    book.add("w3", "delete", "a")
    book.add("w3", "create", "a", "again")
    assert codes(book) == []


def test_a_lost_entry_leaves_dangling_references() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w2", "update", "a", "two")
    book.entries.pop(0)
    (fault,) = link_faults(book.entries)
    assert fault.code == "dangling-after"
    assert (fault.path, fault.line) == (".synapse/ledger/w2/000001.jsonl", 1)
    assert "lost" in fault.remedy


def test_after_leads_to_a_decision_on_the_same_fact() -> None:
    book = Book()
    one = book.add("w1", "create", "a", "one")
    book.add("w1", "create", "b", "two", after=(one,), prior=(digest("one"),))
    held = book.add("w1", "quarantine", "a")
    book.add("w2", "update", "a", "two", after=(held,), prior=("",))
    assert codes(book) == ["after-foreign", "after-foreign"]


def test_prior_is_the_payload_at_after() -> None:
    book = Book()
    one = book.add("w1", "create", "a", "one")
    book.add("w1", "update", "a", "two", after=(one,), prior=(digest("other"),))
    (fault,) = link_faults(book.entries)
    assert (fault.code, fault.expected, fault.actual) == (
        "prior-mismatch",
        digest("one"),
        digest("other"),
    )


def test_names_are_entries_that_can_be_named() -> None:
    book = Book()
    one = book.add("w1", "create", "a", "one")
    held = book.add("w1", "quarantine", "a")
    book.add("w1", "clear", "a", names=(digest("nothing"),))
    book.add("w1", "clear", "a", names=(one,))
    book.add("w1", "undo", "a", names=(held,))
    book.add("w1", "create", "b", "two")
    book.add("w1", "clear", "b", names=(held,))
    assert codes(book) == ["unknown-name", "name-foreign", "name-foreign", "name-foreign"]


def test_a_writer_does_not_forget_its_own_decision() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "create", "a", "two", after=(), prior=())
    (fault,) = link_faults(book.entries)
    assert (fault.code, fault.line) == ("after-omitted", 2)


def test_the_order_of_the_entries_does_not_matter() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "update", "a", "two", after=(digest("x"),), prior=("",))
    book.add("w2", "clear", "a", names=(digest("nothing"),))
    assert link_faults(book.entries) == link_faults(reversed(book.entries))
    assert len(codes(book)) == 2


def test_the_line_is_where_the_entry_stands_in_a_whole_chain() -> None:
    book = Book()
    book.add("w1", "create", "a", "one", after=(digest("x"),), prior=("",))
    hashed, entry = book.entries[0]
    book.entries[0] = (hashed, replace(entry, seq=2003))
    (fault,) = link_faults(book.entries)
    assert (fault.path, fault.line) == (".synapse/ledger/w1/000003.jsonl", 3)
