"""A note on the listing saves a read the listing, and never changes what the read says."""

import os
import random  # noqa: TID251 - seeded below
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from syn.errors import SynError
from syn.index.rows import TABLES
from syn.index.store import open_index
from syn.services.doors.operations import operation
from syn.services.recall import opening
from syn.services.recall.listingnote import Unlisted, listing_path
from syn.services.recall.opening import reindex
from syn.services.recall.reads import open_reader
from tests.support.workspaces import Place, git, make_workspace

BROKEN = "---\nid: [\n---\n"
SETTLED = 0.12
"""Seconds until a file is old enough to be trusted by its times."""
ASKED: list[tuple[str, dict[str, object]]] = [
    ("status", {}),
    ("doctor", {}),
    ("show", {"id": "limit"}),
    ("list", {}),
    ("search", {"words": ["people"]}),
    ("diff", {}),
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = make_workspace(tmp_path)
    (place.root / "facts/draft.md").write_text("A draft for people.\n")
    time.sleep(SETTLED)
    reindex(place.open())
    answers(place)
    assert is_spared(place)
    return place


def answers(place: Place) -> list[object]:
    found: list[object] = []
    reader = open_reader(place.open(), lambda _: None)
    with reader.index:
        found += [operation(name).run(reader, **values) for name, values in ASKED]
    return found


def outcome(place: Place) -> object:
    try:
        return answers(place)
    except SynError as error:
        return error.code, error.message


def is_spared(place: Place) -> bool:
    """Whether a read is spared the listing."""
    reader = open_reader(place.open(), lambda _: None)
    with reader.index:
        return isinstance(reader.reading.files.known, Unlisted)


def edit(place: Place) -> None:
    (place.root / "facts/limit.md").write_text("---\nid: limit\n---\nOne person.\n")


def edit_in_disguise(place: Place) -> None:
    """The same size and the same time of change, as `touch -r` would set it."""
    path = place.root / "facts/limit.md"
    stat, data = path.stat(), path.read_bytes()
    path.write_bytes(data[:-3] + b"ly\n")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def edit_draft(place: Place) -> None:
    (place.root / "facts/draft.md").write_text("Another draft.\n")


def add(place: Place) -> None:
    (place.root / "facts/new.md").write_text("New people.\n")


def add_in_folder(place: Place) -> None:
    (place.root / "facts/deep/er").mkdir(parents=True)
    (place.root / "facts/deep/er/new.md").write_text("New people.\n")


def add_twin(place: Place) -> None:
    (place.root / "facts/LIMIT.md").write_text("---\nid: other\n---\nPeople.\n")
    git(place, "add", "-A")


def remove(place: Place) -> None:
    (place.root / "facts/limit.md").unlink()


def rename(place: Place) -> None:
    (place.root / "facts/plain.md").rename(place.root / "facts/other.md")


def swap_names(place: Place) -> None:
    one, other = place.root / "facts/plain.md", place.root / "facts/limit.md"
    one.rename(place.root / "facts/third")
    other.rename(one)
    (place.root / "facts/third").rename(other)


def link(place: Place) -> None:
    path = place.root / "facts/limit.md"
    path.rename(place.root / "limit.txt")
    path.symlink_to("../limit.txt")


def nest(place: Place) -> None:
    shutil.copytree(place.root / ".git", place.root / "facts/.git")


def stage(place: Place) -> None:
    git(place, "add", "-f", "facts/draft.md")


def untrack(place: Place) -> None:
    git(place, "rm", "-q", "--cached", "facts/limit.md")
    git(place, "commit", "-q", "-m", "untracked, and recorded still")


def commit(place: Place) -> None:
    git(place, "add", "-A")
    git(place, "commit", "-q", "--allow-empty", "-m", "a draft")


def unborn(place: Place) -> None:
    git(place, "symbolic-ref", "HEAD", "refs/heads/nothing")


def ignore_here(place: Place) -> None:
    (place.root / "facts/.gitignore").write_text("draft.md\n")


def ignore_in_private(place: Place) -> None:
    (place.root / ".git/info").mkdir(exist_ok=True)
    (place.root / ".git/info/exclude").write_text("draft.md\n")


def ignore_by_setting(place: Place) -> None:
    (place.root.parent / "ignored").write_text("draft.md\n")
    git(place, "config", "core.excludesFile", str(place.root.parent / "ignored"))


def convert(place: Place) -> None:
    (place.root / ".gitattributes").write_text("*.md text\n")
    path = place.root / "facts/limit.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def convert_by_setting(place: Place) -> None:
    git(place, "config", "core.autocrlf", "true")
    (place.root / ".gitattributes").unlink()


def leave_out(place: Place) -> None:
    git(place, "sparse-checkout", "set", "--no-cone", "/*", "!/facts/limit.md")


def exclude(place: Place) -> None:
    path = place.root / "synapse.toml"
    path.write_text(path.read_text().replace("exclude = []", 'exclude = ["**/draft.md"]'))


def close_folder(place: Place) -> None:
    (place.root / "facts/shut").mkdir(mode=0o000)


def rewrite_row(place: Place) -> None:
    with closing(sqlite3.connect(place.root / ".synapse/index.db")) as index:
        index.execute("UPDATE fact SET title = 'Forged' WHERE id = 'limit'")
        index.commit()


def lose_index(place: Place) -> None:
    (place.root / ".synapse/index.db").unlink()


CHANGES = [edit, edit_in_disguise, edit_draft, add, add_in_folder, add_twin, remove, rename]
CHANGES += [swap_names, link, nest, stage, untrack, commit, unborn, ignore_here, ignore_in_private]
CHANGES += [ignore_by_setting, convert, convert_by_setting, leave_out, exclude, close_folder]
CHANGES += [rewrite_row, lose_index]


def without(place: Place) -> object:
    listing_path(place.open()).unlink(missing_ok=True)
    return outcome(place)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_answers_are_the_same_without_the_note(
    place: Place, change: Callable[[Place], None]
) -> None:
    note, index = listing_path(place.open()), place.root / ".synapse/index.db"
    before = note.read_bytes()
    change(place)
    kept = index.read_bytes() if index.exists() else None
    noted = [outcome(place), outcome(place)]
    if kept is not None:
        index.write_bytes(kept)
    note.write_bytes(before)
    assert [outcome(place), outcome(place), without(place)] == [*noted, noted[0]]


@pytest.mark.parametrize("seed", range(4))
def test_lives_of_many_changes(place: Place, seed: int) -> None:
    """Whatever happens in whatever order, and however fresh the files are."""
    chance = random.Random(seed)
    moves = [edit, edit_in_disguise, edit_draft, add, stage, commit, ignore_here, rewrite_row]
    moves += [swap_names, lose_index, exclude]
    for _ in range(6):
        chance.choice(moves)(place)
        if chance.random() < 0.5:
            time.sleep(SETTLED)
        noted = outcome(place)
        again = outcome(place)
        assert noted == again == without(place)


def look_of(place: Place) -> str:
    reader = open_reader(place.open(), lambda _: None)
    with reader.index:
        return reader.reading.seen


@pytest.mark.parametrize("change", [edit, add], ids=lambda change: change.__name__)
def test_what_is_fresh_is_looked_at_again(place: Place, change: Callable[[Place], None]) -> None:
    change(place)
    assert look_of(place) == ""
    assert is_spared(place)  # the listing, not the looking
    time.sleep(SETTLED)
    first = look_of(place)
    assert first
    assert look_of(place) == first


def test_an_edit_in_place_needs_no_listing(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    edit(place)
    monkeypatch.setattr(opening, "take_inventory", lambda *_: pytest.fail("listed"))
    monkeypatch.setattr(opening, "read_snapshot", lambda *_: pytest.fail("listed"))
    reader = open_reader(place.open(), lambda _: None)
    with reader.index:
        assert operation("show").run(reader, id="limit")["body"] == "One person.\n"


@pytest.mark.parametrize("seed", range(8))
def test_edits_in_place_give_the_rows_of_a_full_build(
    place: Place, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance = random.Random(seed)
    names = ["limit", "plain", "owner-1", "owner-2"]
    path = place.root / ".synapse/index.db"
    for _ in range(5):
        for name in chance.sample(names, chance.randint(1, 2)):
            link, other = chance.choice(names), chance.choice([name, name, *names])
            head = chance.choice(["", f"---\nid: {other}\ntitle: {link}\n---\n", BROKEN])
            (place.root / f"facts/{name}.md").write_text(f"{head}See [[{link}]].\n")
        if chance.random() < 0.5:
            time.sleep(SETTLED)
        with monkeypatch.context() as patch:
            patch.setattr(opening, "take_inventory", lambda *_: pytest.fail("listed"))
            assert reindex(place.open()).mode != "full"
        rows = dump(path)
        reindex(place.open(), full=True)
        assert dump(path) == rows
        outcome(place)


def test_an_edit_below_a_name_that_is_no_text(place: Place) -> None:
    odd = Path(os.fsdecode(os.fsencode(place.root) + b"/facts/\xff"))
    odd.mkdir()
    for name in ("a.txt", "b.md"):
        (odd / name).write_text("one\n")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "an odd name")
    answers(place)
    (odd / "a.txt").write_text("other\n")
    noted = outcome(place)
    assert isinstance(noted, list)
    assert noted == without(place)


def dump(path: Path) -> list[list[tuple[object, ...]]]:
    with open_index(path) as index:
        return [sorted(index.rows(table), key=repr) for table in TABLES]


def test_what_is_derived_needs_no_listing(place: Place) -> None:
    first = look_of(place)
    (place.root / ".synapse/scrub.cursor").write_text("where the patrol is")
    (place.root / ".synapse/index.db.new-1-0").write_text("a build of another process")
    assert look_of(place) == first
    (place.root / ".synapse/other").write_text("no part of it")
    assert look_of(place) != first


def test_a_full_build_leaves_a_note(place: Place) -> None:
    reindex(place.open(), full=True)
    assert is_spared(place)


def test_the_note_is_no_part_of_the_repository(place: Place) -> None:
    assert listing_path(place.open()).is_relative_to(Path(place.env["SYNAPSE_CACHE_DIR"]))


def test_a_note_that_decayed_is_no_note(place: Place) -> None:
    note, expected = listing_path(place.open()), answers(place)
    sound = note.read_bytes()
    for at in range(0, len(sound), 41):
        note.write_bytes(sound[:at] + bytes([sound[at] ^ 4]) + sound[at + 1 :])
        assert not is_spared(place)
        assert is_spared(place)  # a read without a note leaves one
    assert answers(place) == expected


def test_facts_are_listed_after_all_for_what_asks_for_them(place: Place) -> None:
    reader = open_reader(place.open(), lambda _: None)
    with reader.index:
        files = reader.reading.files
        known = files.known
        assert isinstance(known, Unlisted)
        entry = known.find(b"facts/limit.md")
        assert entry is not None
        assert "_listed" not in vars(known)
        assert entry in files.facts
        assert len(known) == len(files.facts)
        for path in (b"facts/draft.md", b"synapse.toml", b"../x.md", b".git/config", b"facts"):
            assert known.find(path) is None
