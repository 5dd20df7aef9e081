import pytest

from syn.ledger.legality import legality_faults
from syn.model.ledger import Action
from tests.support.ledgers import Book


def codes(book: Book) -> list[str]:
    return [fault.code for fault in legality_faults(book.entries)]


CONTENT: dict[Action, str] = {"delete": "", "undo": "back", "expunge": "rest"}


def attempt(book: Book, action: Action) -> None:
    names = {"names": (book.entries[0][0],)} if action == "undo" else {}
    if not any(entry.fact == "a" for _, entry in book.entries):
        names |= {"after": ("sha256:" + "0" * 64,), "prior": ("",)}
    book.add("w2", action, "a", CONTENT.get(action, "new"), **names)


@pytest.mark.parametrize(
    ("action", "living", "deleted"),
    [
        ("create", False, True),
        ("supersede", True, True),
        ("update", True, False),
        ("close", True, False),
        ("move", True, False),
        ("delete", True, False),
        ("undo", True, True),
        ("restore", True, True),
        ("expunge", True, True),
    ],
)
def test_what_each_state_takes(action: Action, living: bool, deleted: bool) -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    alive = list(book.entries)
    attempt(book, action)
    assert codes(book) == ([] if living else ["illegal-action"])
    book.entries = alive
    book.add("w1", "delete", "a")
    attempt(book, action)
    assert codes(book) == ([] if deleted else ["illegal-action"])


@pytest.mark.parametrize("action", ["create", "supersede", "expunge"])
def test_what_begins_a_fact(action: Action) -> None:
    book = Book()
    book.add("w1", action, "a", "one")
    assert codes(book) == []


def test_a_lost_predecessor_is_not_called_illegal_too() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w2", "update", "a", "two")
    book.entries.pop(0)
    assert codes(book) == []


@pytest.mark.parametrize(
    ("action", "allowed"),
    [
        ("update", False),
        ("supersede", False),
        ("close", False),
        ("expunge", False),
        ("restore", False),
        ("move", True),
        ("delete", True),
        ("undo", True),
    ],
)
def test_what_a_closed_fact_takes(action: Action, allowed: bool) -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "close", "a", "closed")
    attempt(book, action)
    assert codes(book) == ([] if allowed else ["closed-changed"])


def test_a_closed_fact_changes_when_it_is_named() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "close", "a", "closed")
    book.add("w2", "update", "a", "two", review="named")
    assert codes(book) == []
    book.add("w2", "update", "a", "three", review="seen")
    (fault,) = legality_faults(book.entries)
    assert (fault.code, fault.line, fault.actual) == (
        "closed-changed",
        2,
        "update with review seen",
    )


def test_restoring_what_is_recorded_changes_nothing() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "close", "a", "closed")
    book.add("w2", "restore", "a", "closed")
    assert codes(book) == []


def test_after_an_undo_the_fact_is_open_again() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    closing = book.add("w1", "close", "a", "closed")
    book.add("w1", "undo", "a", "one", names=(closing,))
    book.add("w1", "update", "a", "two")
    assert codes(book) == []


def test_a_deleted_closed_fact_can_be_created_again() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    book.add("w1", "close", "a", "closed")
    book.add("w1", "delete", "a")
    book.add("w1", "create", "a", "two")
    book.add("w1", "update", "a", "three")
    assert codes(book) == []


def test_a_close_on_one_branch_binds_the_merge() -> None:
    book = Book()
    book.add("w1", "create", "a", "one")
    base = tuple(book.entries)
    book.add("w1", "close", "a", "closed", sees=base)
    book.add("w2", "update", "a", "two", sees=base)
    assert codes(book) == [], "neither writer could see the other"
    book.add("w3", "update", "a", "three")
    assert codes(book) == ["closed-changed"]
