"""A session stays right while others write, and does not list the work tree for every answer."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from syn.services.doors import session as sessions
from syn.services.doors.operations import operation
from syn.services.doors.session import Session
from syn.services.workspace import surroundings
from tests.support.cli import syn
from tests.support.workspaces import Place, make_workspace


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


class Counted(Session):
    """A session that counts how often the workspace is opened."""

    opened = 0


@pytest.fixture
def session(place: Place) -> Iterator[Counted]:
    def open_workspace(around: Any) -> Any:
        Counted.opened += 1
        return place.open()

    Counted.opened = 0
    found = Counted(open_workspace, lambda: surroundings(place.env), "agent", lambda _: None)
    yield found
    found.close()


def _run(session: Session, name: str, **given: Any) -> Any:
    found = operation(name)
    values = {p.name: p.default for p in found.parameters() if not p.required}
    return session.run(found, {**values, **given})


def test_what_a_person_decides_is_seen_at_once(place: Place, session: Counted) -> None:
    assert _run(session, "search", words=["later"])["total"] == 0
    assert syn(place, "add", "--title", "Later on", "--body", "x").status == 0
    assert _run(session, "search", words=["later"])["total"] == 1
    assert syn(place, "rm", "later-on").status == 0
    assert _run(session, "search", words=["later"])["total"] == 0


def test_an_edit_that_nobody_decided_on_is_withheld_at_once(place: Place, session: Counted) -> None:
    assert "body" in _run(session, "show", id="limit")
    path = place.root / "facts" / "limit.md"
    before = path.read_bytes()
    path.write_bytes(before + b"more\n")
    withheld = _run(session, "show", id="limit")
    assert (withheld["withheld"], "body" in withheld) == ("clean", False)
    path.write_bytes(before)
    assert _run(session, "show", id="limit")["record"] == "recorded"


def test_questions_about_files_wait_for_a_listing(
    place: Place, session: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PATIENCE", 0.0)
    assert _run(session, "status")["edits"] == []
    (place.root / "facts" / "new.md").write_text("---\nid: new\n---\n")
    assert [edit["kind"] for edit in _run(session, "status")["edits"]] == ["new"]


def test_answers_go_on_beside_a_listing(session: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    _run(session, "search", words=["payments"])
    assert Counted.opened == 1
    for _ in range(20):
        _run(session, "search", words=["payments"])
    assert Counted.opened == 1
    monkeypatch.setattr(sessions, "PATIENCE", 0.0)
    monkeypatch.setattr(sessions, "SHARE", 0)
    ended = time.monotonic() + 30
    while Counted.opened < 3 and time.monotonic() < ended:
        assert _run(session, "search", words=["payments"])["total"] == 2
    assert Counted.opened >= 3


def test_a_listing_that_finds_all_as_it_was_keeps_what_was_read(
    place: Place, session: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "PATIENCE", 0.0)

    def seen_by() -> tuple[object, str]:
        _run(session, "status")
        reader = session._reader
        assert reader is not None
        return reader, reader.reading.seen

    ended = time.monotonic() + 30
    known, name = seen_by()
    # A file that was written this very moment may change again without looking so.
    while not name and time.monotonic() < ended:
        time.sleep(0.1)
        known, name = seen_by()
    assert name
    assert seen_by() == (known, name)
    (place.root / "facts" / "new.md").write_text("---\nid: new\n---\n")
    assert seen_by()[0] is not known
    assert [edit["kind"] for edit in _run(session, "status")["edits"]] == ["new"]


def test_a_listing_that_fails_is_told_and_answers_go_on(
    place: Place, session: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _run(session, "show", id="owner-2")["id"] == "owner-2"
    told: list[str] = []
    monkeypatch.setattr(session, "_note", told.append)
    monkeypatch.setattr(session, "_open", _fails)
    monkeypatch.setattr(sessions, "PATIENCE", 0.0)
    monkeypatch.setattr(sessions, "SHARE", 0)
    assert _run(session, "show", id="owner-2")["id"] == "owner-2"
    ended = time.monotonic() + 30
    while not told and time.monotonic() < ended:
        time.sleep(0.01)
    assert "not listed again" in told[0]
    assert _run(session, "show", id="owner-2")["id"] == "owner-2"


def _fails(_: object) -> Any:
    raise OSError("gone for a moment")


def test_writers_beside_readers(place: Place, session: Counted) -> None:
    stop = threading.Event()
    wrong: list[object] = []

    def read() -> None:
        while not stop.is_set():
            found = _run(session, "show", id="owner-2")
            if found.get("value") != "checkout":
                wrong.append(found)

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(4):
        assert syn(place, "add", "--title", f"Number {number}", "--body", "b").status == 0
        assert _run(session, "search", words=["number", str(number)])["total"] == 1
        assert syn(place, "reindex", "--full").status == 0
    stop.set()
    reader.join()
    assert wrong == []
