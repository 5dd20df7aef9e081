from syn.ledger import heads, links, segments
from tests.support.ledgers import WS, Book


def codes(files: dict[str, bytes]) -> list[str]:
    return [fault.code for fault in segments.read(WS, files.items()).faults]


def three() -> Book:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "update", "a", "two")
    book.add("w1", "create", "b", "three")
    return book


def test_a_whole_chain_has_no_fault() -> None:
    book = three()
    ledger = segments.read(WS, book.files().items())
    assert ledger.faults == ()
    assert list(ledger.entries()) == book.entries
    assert ledger.chains[0].tail == book.tails["w1"]
    assert links.link_faults(ledger.entries()) == ()
    state = heads.recorded(ledger.entries())
    assert state["a"].heads == (book.entries[1][0],)
