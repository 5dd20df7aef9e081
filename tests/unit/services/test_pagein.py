"""Verified reads: whatever is edited behind a row, the fact is refused or served as it is."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from syn.index.lines import body_digest
from syn.index.rows import FactRow, StateRow
from syn.index.words import cell_of, check_word
from syn.services.doors import operations
from syn.services.recall.answers import Answer
from syn.services.recall.opening import reindex
from syn.services.recall.pagein import Audience, DuplicateIdError
from syn.services.recall.reads import UnknownFactError, doctor, open_reader
from syn.services.writing.quarantine import quarantine
from tests.support.workspaces import Place, git, make_workspace


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = make_workspace(tmp_path)
    settle(place)
    return place


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = make_workspace(tmp_path_factory.mktemp("pagein"))
    settle(place)
    return place


@pytest.fixture
def indexed(shared: Place) -> Iterator[Place]:
    """A workspace of which only the index is edited."""
    index = shared.root / ".synapse/index.db"
    before = index.read_bytes()
    yield shared
    index.write_bytes(before)


def settle(place: Place) -> None:
    # Files that were touched a moment before are read again, and their rows made anew.
    time.sleep(0.12)
    reindex(place.open())


def ask(place: Place, name: str, audience: Audience = "person", **values: object) -> Answer:
    with (reader := open_reader(place.open(), lambda _: None, audience)).index:
        return operations.operation(name).run(reader, **values)


def show(place: Place, name: str, audience: Audience = "agent") -> Answer:
    return ask(place, "show", audience, id=name)


def items(place: Place, audience: Audience, name: str = "list", **values: object) -> list[Answer]:
    found = ask(place, name, audience, **values)["items"]
    assert isinstance(found, list)
    return [item for item in found if isinstance(item, dict)]


def sql(place: Place, statement: str, *values: str) -> None:
    with closing(sqlite3.connect(place.root / ".synapse/index.db")) as database, database:
        assert database.execute(statement, values).rowcount == 1


def forge_word(place: Place, path: str) -> None:
    """Compute a row's word anew, as whoever edits the database knowingly would."""
    with closing(sqlite3.connect(place.root / ".synapse/index.db")) as database, database:
        names = ", ".join(f'"{name}"' for name in FactRow._fields)
        row = database.execute(f"SELECT {names} FROM fact WHERE path = ?", (path,)).fetchone()
        names = ", ".join(f'"{name}"' for name in StateRow._fields)
        state = database.execute(f"SELECT {names} FROM state WHERE path = ?", (path,)).fetchone()
        fact, cell = FactRow(*row), StateRow(*state)
        word = check_word(cell_of(fact, body_digest(fact.body)), cell.taint, cell.quarantine)
        database.execute("UPDATE state SET word = ? WHERE path = ?", (word, path))


def test_a_sound_fact_is_served_to_everybody(indexed: Place) -> None:
    for audience in ("person", "agent"):
        answer = show(indexed, "owner-2", audience)
        assert (answer["record"], answer["value"]) == ("recorded", "checkout")


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE state SET quarantine = '[\"x\"]' WHERE path = 'facts/limit.md'", "repairable"),
        ("UPDATE state SET taint = 'external' WHERE path = 'facts/limit.md'", "repairable"),
        ("UPDATE state SET word = '' WHERE path = 'facts/limit.md'", "unchecked"),
        ("DELETE FROM state WHERE path = 'facts/limit.md'", "unchecked"),
        ("UPDATE state SET closed = 1 WHERE path = 'facts/limit.md'", "repairable"),
        ("UPDATE state SET state = 'moved' WHERE path = 'facts/limit.md'", "repairable"),
        ("UPDATE fact SET body = 'Anybody.' WHERE path = 'facts/limit.md'", "repairable"),
        ("UPDATE fact SET title = 'Other' WHERE path = 'facts/limit.md'", "repairable"),
        ("UPDATE fact SET value = 'x' WHERE path = 'facts/limit.md'", "repairable"),
        ("UPDATE fact SET status = 'final' WHERE path = 'facts/limit.md'", "repairable"),
        ("UPDATE fact SET payload_digest = '' WHERE path = 'facts/limit.md'", "repairable"),
        ("UPDATE fact SET source_digest = '' WHERE path = 'facts/limit.md'", "stale"),
        ("UPDATE fact SET id = 'other' WHERE path = 'facts/limit.md'", "repairable"),
        ("DELETE FROM fact WHERE path = 'facts/limit.md'", "repairable"),
    ],
)
@pytest.mark.parametrize("audience", ["person", "agent"])
def test_an_edited_row_is_not_served(
    indexed: Place, statement: str, fault: str, audience: Audience
) -> None:
    sql(indexed, statement)
    answer = show(indexed, "limit", audience)
    assert answer["withheld"] == fault
    assert "repair" in str(answer["remedy"])
    assert "body" not in answer
    assert "title" not in answer
    assert show(indexed, "owner-2", audience)["value"] == "checkout"


def test_lists_and_searches_say_what_they_withhold(indexed: Place) -> None:
    sql(indexed, "UPDATE fact SET title = 'Nobody checks' WHERE path = 'facts/limit.md'")
    for found in (items(indexed, "person"), items(indexed, "agent", "search", words=["two"])):
        bad = [item for item in found if item["path"] == "facts/limit.md"]
        assert [item.get("withheld") for item in bad] == ["repairable"]
        assert "Nobody" not in str(found)
    assert len(items(indexed, "person")) == 4


def test_a_copied_row_does_not_make_a_fact_ambiguous(indexed: Place) -> None:
    sql(indexed, "UPDATE fact SET id = 'limit' WHERE path = 'facts/plain.md'")
    assert show(indexed, "limit")["record"] == "recorded"
    assert show(indexed, "facts/plain.md")["withheld"] == "repairable"


def test_an_id_that_stands_twice_is_nobodys(tmp_path: Path) -> None:
    facts = {"facts/a.md": "---\nid: x\n---\nA\n", "facts/b.md": "---\nid: x\n---\nB\n"}
    place = make_workspace(tmp_path, {"facts/c.md": "C\n"})
    for path, text in facts.items():
        (place.root / path).write_text(text)
    with pytest.raises(UnknownFactError):
        show(place, "x")
    git(place, "add", "-A")
    with pytest.raises(DuplicateIdError, match=r"stands in facts/a.md, facts/b.md"):
        show(place, "x")
    found = items(place, "person", "list")
    withheld = {item["path"]: item.get("reason") for item in found}
    assert withheld["facts/a.md"] == "its id stands on another fact too"


def test_quarantine_holds_whatever_the_row_says(place: Place) -> None:
    quarantine(place.open(), "limit", "its source was forged")
    assert show(place, "limit", "person")["record"] == "quarantined"
    refused = show(place, "limit")
    assert (refused["withheld"], refused["reason"]) == ("clean", "it is quarantined")
    # The same after the row was made clear, first naively, then with its word computed anew.
    sql(place, "UPDATE state SET quarantine = '[]' WHERE path = 'facts/limit.md'")
    assert show(place, "limit")["reason"] == "the check word does not hold"
    forge_word(place, "facts/limit.md")
    refused = show(place, "limit")
    assert refused["withheld"] == "repairable"
    assert "not the ledger's" in str(refused["reason"])
    assert show(place, "limit", "person")["withheld"] == "repairable"
    assert show(place, "owner-1")["record"] == "recorded"


def test_a_quarantined_fact_is_marked_for_people_and_kept_from_agents(place: Place) -> None:
    quarantine(place.open(), "facts/limit.md", "its source was forged")
    [seen] = [item for item in items(place, "person") if item["id"] == "limit"]
    assert seen["quarantined"] is True
    [kept] = [item for item in items(place, "agent") if item["id"] == "limit"]
    assert "title" not in kept
    [hit] = items(place, "agent", "search", words=["two", "people"])
    assert (hit["withheld"], hit["reason"]) == ("clean", "it is quarantined")
    with (reader := open_reader(place.open(), lambda _: None)).index:
        found = doctor(reader)["items"]
    assert isinstance(found, list)
    [listed] = [i for i in found if isinstance(i, dict) and i["code"] == "quarantined"]
    assert listed["path"] == "facts/limit.md"
    assert "its source was forged (Ada Author <ada@example.org>" in str(listed["message"])


def test_a_hand_edit_is_marked_for_people_and_refused_to_agents(place: Place) -> None:
    file = place.root / "facts/limit.md"
    file.write_text(file.read_text().replace("Two", "Three"))
    assert show(place, "limit", "person")["record"] == "unrecorded"
    refused = show(place, "limit")
    assert (refused["withheld"], refused["remedy"]) == (
        "clean",
        "a person adopts or restores it: syn status",
    )


def test_a_file_that_is_gone_or_unreadable_is_an_erasure(place: Place) -> None:
    (place.root / "facts/limit.md").unlink()
    gone = show(place, "limit", "person")
    assert (gone["withheld"], gone["reason"]) == ("erasure", "its Markdown file is not there")
    (place.root / "facts/limit.md").write_text("---\nid: limit\nid: limit\n---\n")
    assert show(place, "limit", "person")["withheld"] == "erasure"


def segment(place: Place) -> Path:
    return next((place.root / ".synapse/ledger").glob("*/000001.jsonl"))


def cut_middle(place: Place) -> None:
    lines = segment(place).read_bytes().splitlines(keepends=True)
    segment(place).write_bytes(b"".join([*lines[:-2], lines[-1]]))


def edit_line(place: Place) -> None:
    data = segment(place).read_bytes()
    segment(place).write_bytes(data.replace(b'"reason":"import"', b'"reason":"impart"', 1))


def tear(place: Place) -> None:
    with segment(place).open("ab") as file:
        file.write(b'{"action":"quaran')


@pytest.mark.parametrize("damage", [cut_middle, edit_line, tear])
def test_a_ledger_that_does_not_hold_serves_no_agent(
    place: Place, damage: Callable[[Place], None]
) -> None:
    damage(place)
    (place.root / ".synapse/index.db").unlink()
    refused = show(place, "owner-2")
    assert refused["withheld"] == "tampered"
    assert "the ledger does not hold" in str(refused["reason"])
    assert show(place, "owner-2", "person")["record"] == "unproven"


def test_a_tail_that_was_cut_off_is_seen_against_head(place: Place) -> None:
    quarantine(place.open(), "limit", "its source was forged")
    lines = segment(place).read_bytes().splitlines(keepends=True)
    segment(place).write_bytes(b"".join(lines[:-1]))
    (place.root / ".synapse/index.db").unlink()
    refused = show(place, "limit")
    assert refused["withheld"] == "tampered"
    assert "evidence-shrank" in str(refused["reason"])
    segment(place).unlink()
    (place.root / ".synapse/index.db").unlink()
    assert "evidence-removed" in str(show(place, "limit")["reason"])
