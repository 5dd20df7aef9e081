"""A note on the ledger saves its decoding, and never changes what a read says."""

import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

import pytest

from syn.canon import json as canonical
from syn.errors import SynError
from syn.index.store.files import row_sum
from syn.ledger import segments
from syn.services.doors.operations import operation
from syn.services.proving.collect import pass_over
from syn.services.proving.verifying import Request, verify
from syn.services.recall.indexing import read_workspace
from syn.services.recall.ledgernote import Note, note_path, recall, remember
from syn.services.recall.opening import open_current, reindex
from syn.services.recall.pagein import Withheld, page_in_path
from syn.services.recall.reads import open_reader
from syn.services.writing.quarantine import quarantine
from tests.support.workspaces import Place, git, make_workspace

ASKED: list[tuple[str, dict[str, object]]] = [
    ("status", {}),
    ("show", {"id": "limit"}),
    ("list", {}),
    ("search", {"words": ["people"]}),
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = make_workspace(tmp_path)
    time.sleep(0.12)  # until the files are old enough to be trusted by their times
    reindex(place.open())
    answers(place)
    return place


def note(place: Place) -> Path:
    return note_path(place.open())


def segment(place: Place) -> Path:
    return next((place.root / ".synapse/ledger").glob("*/*.jsonl"))


def answers(place: Place) -> list[object]:
    found: list[object] = []
    reader = open_reader(place.open(), lambda _: None, "agent")
    with reader.index:
        found += [operation(name).run(reader, **values) for name, values in ASKED]
    return found


def edit_fact(place: Place) -> None:
    (place.root / "facts/limit.md").write_text("---\nid: limit\n---\nOne person.\n")


def remove_fact(place: Place) -> None:
    (place.root / "facts/limit.md").unlink()


def move_fact(place: Place) -> None:
    (place.root / "facts/plain.md").rename(place.root / "facts/other.md")


def add_file(place: Place) -> None:
    (place.root / "facts/new.md").write_text("New people.\n")


def untrack(place: Place) -> None:
    git(place, "rm", "-q", "--cached", "facts/limit.md")
    git(place, "commit", "-q", "-m", "untracked, and recorded still")


def hold(place: Place) -> None:
    quarantine(place.open(), "limit", "its source was forged")


def edit_line(place: Place) -> None:
    data = segment(place).read_bytes()
    segment(place).write_bytes(data.replace(b'"reason":"import"', b'"reason":"impart"', 1))


def tear(place: Place) -> None:
    with segment(place).open("ab") as file:
        file.write(b'{"action":"quaran')


def cut(place: Place) -> None:
    lines = segment(place).read_bytes().splitlines(keepends=True)
    segment(place).write_bytes(b"".join([*lines[:-2], lines[-1]]))


def swap(place: Place) -> None:
    lines = segment(place).read_bytes().splitlines(keepends=True)
    lines[1], lines[2] = lines[2], lines[1]
    segment(place).write_bytes(b"".join(lines))


def truncate(place: Place) -> None:
    lines = segment(place).read_bytes().splitlines(keepends=True)
    segment(place).write_bytes(b"".join(lines[:-1]))


def remove_segment(place: Place) -> None:
    segment(place).unlink()


def another_id(place: Place) -> None:
    """Every chain begins with the workspace's id, so none holds under another."""
    config = place.root / "synapse.toml"
    text = config.read_text()
    old = place.open().config.id
    config.write_text(text.replace(old, "0" * 8 + old[8:]))


def edit_config(place: Place) -> None:
    with (place.root / "synapse.toml").open("a") as file:
        file.write("\n# a comment\n")


CHANGES = [edit_fact, remove_fact, move_fact, add_file, untrack, hold]
CHANGES += [edit_line, tear, cut, swap, truncate, remove_segment, another_id, edit_config]


def outcome(place: Place) -> tuple[object, ...]:
    try:
        return tuple(answers(place))
    except SynError as error:
        return error.code, error.message


def decoded(place: Place) -> bool:
    """Whether any of the reads decodes the whole ledger."""
    found = False
    for name, values in ASKED:
        reader = open_reader(place.open(), lambda _: None)
        with reader.index:
            operation(name).run(reader, **values)
        found = found or reader.reading.ledger_files.is_decoded
    return found


def test_a_read_decodes_only_the_lines_it_hands_out(place: Place) -> None:
    assert note(place).exists()
    assert not decoded(place)


def test_a_note_that_is_lost_comes_back(place: Place) -> None:
    note(place).unlink()
    answers(place)
    assert note(place).exists()


def test_lines_can_be_looked_for_while_the_ledger_is_decoded(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A session decodes in another thread; a line that was not seen may have been a quarantine."""
    hold(place)
    answers(place)
    reader = open_reader(place.open(), lambda _: None)
    files, seen = reader.reading.ledger_files, []

    def read(ws: str, given: Iterable[tuple[str, bytes]]) -> segments.Ledger:
        found = list(given)
        seen.append([entry.action for _, entry in files.about("limit")])
        return real(ws, found)

    real = segments.read
    monkeypatch.setattr(segments, "read", read)
    with reader.index:
        assert files.note is not None
        assert files.view.recorded["limit"].quarantine
    assert seen == [["create", "quarantine"]]


def test_a_write_is_given_no_note(place: Place) -> None:
    index, reading = open_current(place.open(), lambda _: None)
    with index:
        assert reading.ledger_files.note is None
    with pass_over(place.open(), "") as done:
        assert done.reading.ledger_files.note is None


def test_the_note_is_no_part_of_the_repository(place: Place) -> None:
    assert not note(place).is_relative_to(place.root)
    assert note(place).is_relative_to(Path(place.env["SYNAPSE_CACHE_DIR"]))


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_answers_are_the_same_without_the_note(
    place: Place, change: Callable[[Place], None]
) -> None:
    before = note(place).read_bytes()
    change(place)
    index = place.root / ".synapse/index.db"
    kept = index.read_bytes()
    noted = outcome(place)
    index.write_bytes(kept)
    note(place).unlink(missing_ok=True)
    assert outcome(place) == noted
    index.write_bytes(kept)
    note(place).write_bytes(before)
    assert outcome(place) == noted


@pytest.mark.parametrize("change", [edit_line, tear, cut, swap], ids=lambda c: c.__name__)
def test_a_ledger_with_a_fault_gets_no_note(place: Place, change: Callable[[Place], None]) -> None:
    note(place).unlink()
    change(place)
    (place.root / ".synapse/index.db").unlink()
    outcome(place)
    assert not note(place).exists()


def test_a_note_that_decayed_is_no_note(place: Place) -> None:
    sound, digest = note(place).read_bytes(), read_workspace(place.open()).ledger_files.digest
    assert recall(note(place), digest) is not None
    for at in range(len(sound)):
        note(place).write_bytes(sound[:at] + bytes([sound[at] ^ 4]) + sound[at + 1 :])
        assert recall(note(place), digest) is None


def test_forged_tails_of_the_index_refuse_with_and_without_a_note(place: Place) -> None:
    writer = segment(place).parent.name
    for length, head in ((4, f"sha256:{'0' * 64}"), (9, f"sha256:{'1' * 64}")):
        set_tails(place, canonical.encode({writer: [length, head]}).decode())
        noted = outcome(place)
        note(place).rename(note(place).with_suffix(".kept"))
        assert outcome(place) == noted
        note(place).with_suffix(".kept").rename(note(place))
        assert noted[0] == "ledger-shrank"


def set_tails(place: Place, tails: str) -> None:
    with closing(sqlite3.connect(place.root / ".synapse/index.db")) as index:
        values = (tails, row_sum("tails", tails))
        index.execute("UPDATE meta SET value = ?, sum = ? WHERE key = 'tails'", values)
        index.commit()


def test_a_forged_note_never_reaches_a_verdict(place: Place) -> None:
    """Whoever writes the user's own cache may hide a broken chain from reads, not from verify."""
    before = verdict(place)
    swap(place)
    digest = read_workspace(place.open()).ledger_files.digest
    remember(note(place), Note(digest, {"facts/plain.md": "limit"}))
    assert recall(note(place), digest) is not None
    assert (before, verdict(place)) == ("pass", "fail")


def test_a_forged_note_makes_no_read_say_what_the_ledger_does_not(place: Place) -> None:
    """The lines of what is handed out are decoded, hashed and judged whatever the note says."""
    hold(place)
    (place.root / "facts/plain.md").write_text("# Plain\n\nAnother body.\n")
    answers(place)
    digest = read_workspace(place.open()).ledger_files.digest
    remember(note(place), Note(digest, {"facts/plain.md": "limit"}))
    reader = open_reader(place.open(), lambda _: None, "agent")
    with reader.index:
        assert reader.reading.ledger_files.note is not None
        for path in ("facts/limit.md", "facts/plain.md"):
            assert isinstance(page_in_path(reader.reading, reader.index, path, "agent"), Withheld)


def verdict(place: Place) -> str:
    return verify(place.open(), Request()).verdict
