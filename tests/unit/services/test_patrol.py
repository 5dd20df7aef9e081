"""The patrol: every kind of damage is found, classed, and believed only when it is read twice."""

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from syn.errors import UsageError
from syn.git.loose import loose_path
from syn.services.patrol import cursor
from syn.services.patrol.scrub import Budget, Scrub, parse_age, scrub, scrub_json
from syn.services.recall.opening import reindex
from syn.services.writing.quarantine import quarantine
from tests.support.images import ITEMS, native_image, recall_files, write_files
from tests.support.workspaces import Place, adopt_all, git, make_workspace

Damage = Callable[[Place], None]
LATER = "2026-12-01T12:00:00Z"


def run(place: Place, budget: Budget | None = None, now: str = LATER) -> Scrub:
    return scrub(place.open(now), budget)


def found(done: Scrub) -> set[tuple[str, str, str]]:
    return {(item.kind, item.cls, item.finding.code) for item in done.faults}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return ready(tmp_path)


def ready(folder: Path) -> Place:
    place = make_workspace(folder)
    (place.root / "images").mkdir()
    write_files(place.root / "images/monday", *recall_files())
    git(place, "add", "-A")
    git(place, "commit", "-qm", "images")
    time.sleep(0.12)
    reindex(place.open())
    return place


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return ready(tmp_path_factory.mktemp("patrol"))


@pytest.fixture
def indexed(shared: Place) -> Iterator[Place]:
    """A workspace of which only the index is edited."""
    index = shared.root / ".synapse/index.db"
    before = index.read_bytes()
    yield shared
    index.write_bytes(before)


def test_a_sound_workspace_is_clean(place: Place) -> None:
    done = run(place)
    assert (done.faults, done.transient, done.notes) == ([], [], [])
    assert (done.verdict, done.complete) == ("pass", True)
    assert done.counts["fact"] == {"clean": 4}
    assert done.counts["image"] == {"clean": 2}
    assert done.counts["index"] == {"clean": 1}
    assert git(place, "status", "--porcelain") == ""
    assert scrub_json(done)["verdict"] == "pass"


def sql(statement: str) -> Damage:
    def damage(place: Place) -> None:
        with closing(sqlite3.connect(place.root / ".synapse/index.db")) as database, database:
            assert database.execute(statement).rowcount == 1

    return damage


@pytest.mark.parametrize(
    ("statement", "cls", "code"),
    [
        ("UPDATE state SET quarantine='[1]' WHERE id='limit'", "repairable", "word-mismatch"),
        ("UPDATE state SET word='' WHERE id='limit'", "unchecked", "word-missing"),
        ("UPDATE state SET closed=1 WHERE id='limit'", "repairable", "state-changed"),
        ("UPDATE fact SET title='x' WHERE id='limit'", "repairable", "row-changed"),
        ("UPDATE fact SET body='x' WHERE id='limit'", "repairable", "row-changed"),
        ("DELETE FROM fact WHERE id='limit'", "repairable", "row-changed"),
        ("DELETE FROM state WHERE id='limit'", "unchecked", "word-missing"),
        ("UPDATE attr SET value='x' WHERE value='checkout'", "repairable", "row-changed"),
        ("DELETE FROM tag WHERE tag='money'", "repairable", "row-missing"),
        ("INSERT INTO tag VALUES ('facts/limit.md','x')", "repairable", "row-extra"),
        ("INSERT INTO tag VALUES ('facts/none.md','x')", "repairable", "row-extra"),
        ("UPDATE link SET target='x'", "repairable", "row-changed"),
        ("UPDATE target SET outcome='missing'", "repairable", "row-changed"),
        ("DELETE FROM supersession", "repairable", "row-missing"),
        ("UPDATE decision SET actor='x' WHERE fact='limit'", "repairable", "row-changed"),
        ("DELETE FROM decision WHERE fact='limit'", "repairable", "row-missing"),
        ("DELETE FROM file WHERE path='facts/limit.md'", "repairable", "record-changed"),
        (
            "UPDATE file SET source_digest='x' WHERE path='facts/limit.md'",
            "repairable",
            "index-corrupt",
        ),
        ("DELETE FROM meta WHERE key='projection'", "repairable", "index-version"),
        (
            "INSERT INTO fact_fts (fact_fts, rowid, title) VALUES ('delete', 1, 'x')",
            "repairable",
            "index-fts",
        ),
    ],
)
def test_an_edited_index_is_repairable(indexed: Place, statement: str, cls: str, code: str) -> None:
    sql(statement)(indexed)
    done = run(indexed)
    assert ("index", cls, code) in found(done)
    assert {item.kind for item in done.faults} == {"index"}
    assert done.verdict == (
        "incomplete" if cls == "unchecked" and len(done.faults) == 1 else "fail"
    )


def write(path: str, text: str) -> Damage:
    return lambda place: void((place.root / path).write_text(text))


def void(_: object) -> None:
    """Nothing: for lambdas that return what nobody wants."""


def no_index(place: Place) -> None:
    (place.root / ".synapse/index.db").write_bytes(b"not a database" * 100)


def link(place: Place) -> None:
    file = place.root / "facts/limit.md"
    file.rename(place.root / "elsewhere")
    file.symlink_to("../elsewhere")


def lose(path: str) -> Damage:
    def damage(place: Place) -> None:
        oid = git(place, "rev-parse", f"HEAD:{path}")
        (loose_path(place.root / ".git/objects", oid)).unlink()

    return damage


def rot(path: str) -> Damage:
    def damage(place: Place) -> None:
        oid = git(place, "rev-parse", f"HEAD:{path}")
        file = loose_path(place.root / ".git/objects", oid)
        file.chmod(0o644)
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)

    return damage


def segment(place: Place) -> Path:
    return next((place.root / ".synapse/ledger").glob("*/000001.jsonl"))


def tear(place: Place) -> None:
    with segment(place).open("ab") as file:
        file.write(b'{"action":"quar')


def cut(place: Place) -> None:
    lines = segment(place).read_bytes().splitlines(keepends=True)
    segment(place).write_bytes(b"".join(lines[:-1]))


def rewrite(place: Place) -> None:
    data = segment(place).read_bytes()
    segment(place).write_bytes(data.replace(b'"reason":"import"', b'"reason":"impart"', 1))


def misname(place: Place) -> None:
    blob = git(place, "rev-parse", "HEAD:facts/limit.md")
    name = "ab" * 31
    inner = GitTree(place).make(f"100644 blob {blob}\t{name}")
    git(place, "update-ref", "refs/synapse/kept", GitTree(place).make(f"040000 tree {inner}\tab"))


class GitTree:
    def __init__(self, place: Place) -> None:
        self.place = place

    def make(self, line: str) -> str:
        file = self.place.root.parent / "tree"
        file.write_text(line + "\n")
        return git(self.place, "-c", f"alias.t=!git mktree < {file}", "t")


def unword(place: Place) -> None:
    file = place.root / "images/monday/manifest.json"
    data = file.read_bytes()
    file.write_bytes(data.replace(b'"quarantined": true', b'"quarantined": false', 1))


def bad_receipt(place: Place) -> None:
    (place.root / ".synapse/receipts").mkdir()
    (place.root / ".synapse/receipts/x.json").write_text("{}\n")


DAMAGE: dict[str, tuple[Damage, set[tuple[str, str, str]]]] = {
    "fact gone": (
        lambda place: (place.root / "facts/limit.md").unlink(),
        {("fact", "erasure", "fact-missing"), ("index", "stale", "index-stale")},
    ),
    "fact edited": (
        write("facts/limit.md", "---\nid: limit\n---\nNobody.\n"),
        {("fact", "erasure", "payload-changed"), ("index", "stale", "index-stale")},
    ),
    "fact unreadable": (
        write("facts/limit.md", "---\nid: limit\nid: limit\n---\n"),
        {("fact", "erasure", "duplicate-key"), ("index", "stale", "index-stale")},
    ),
    "fact under another id": (
        write("facts/limit.md", "---\nid: other\n---\nTwo people.\n"),
        {("fact", "erasure", "id-changed"), ("index", "stale", "index-stale")},
    ),
    "fact reformatted": (
        write(
            "facts/limit.md",
            "---\nid: limit\ntitle: 'Refund limit'\ntags: [money]\n---\nTwo people.\n",
        ),
        {("fact", "stale", "reformatted"), ("index", "stale", "index-stale")},
    ),
    "fact is a link": (
        link,
        {("fact", "erasure", "symlink"), ("index", "stale", "index-stale")},
    ),
    "index overwritten": (no_index, {("index", "repairable", "index-corrupt")}),
    "blob of a fact lost": (
        lose("facts/limit.md"),
        {("object", "erasure", "missing-object")},
    ),
    "blob of a fact rotten": (
        rot("facts/limit.md"),
        {("object", "erasure", "object-mismatch")},
    ),
    "tree lost": (lose("facts"), {("object", "erasure", "missing-object")}),
    "tree rotten": (rot(".synapse"), {("object", "erasure", "object-mismatch")}),
    "ledger torn": (tear, {("ledger", "repairable", "torn-tail")}),
    "kept bytes misnamed": (misname, {("object", "tampered", "kept-misnamed")}),
    "image edited": (unword, {("image", "tampered", "word-mismatch")}),
    "receipt that is none": (
        bad_receipt,
        {("receipt", "tampered", "receipt-form")},
    ),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named_and_classed(name: str, place: Place) -> None:
    damage, expected = DAMAGE[name]
    damage(place)
    assert found(run(place)) >= expected
    assert {item[:2] for item in found(run(place))} == {item[:2] for item in expected}


def test_a_ledger_that_was_cut_or_rewritten_is_tampered(place: Place) -> None:
    rewrite(place)
    done = run(place)
    ledger = {item for item in found(done) if item[0] == "ledger"}
    assert ("ledger", "tampered", "chain-broken") in ledger
    assert ("ledger", "tampered", "evidence-rewritten") in ledger
    assert {cls for _, cls, _ in ledger} == {"tampered"}
    git(place, "checkout", "HEAD", "--", ".synapse/ledger")
    cut(place)
    assert ("ledger", "tampered", "evidence-shrank") in found(run(place))


def test_a_tracked_fact_without_a_decision_is_unchecked(place: Place) -> None:
    (place.root / "facts/new.md").write_text("New.\n")
    assert run(place).verdict == "pass"
    git(place, "add", "facts/new.md")
    done = run(place)
    assert ("fact", "unchecked", "unrecorded-fact") in found(done)
    assert done.verdict == "incomplete"
    adopt_all(place)
    reindex(place.open())
    assert run(place).verdict == "pass"


def test_a_fault_that_one_reading_shows_is_transient(place: Place) -> None:
    file = place.root / "facts/limit.md"
    before = file.read_bytes()
    file.write_text("---\nid: limit\n---\nNobody.\n")
    done = run(place, Budget(settle=lambda: void(file.write_bytes(before))))
    assert done.verdict == "pass"
    assert done.faults == []
    assert {item.finding.code for item in done.transient} >= {"payload-changed"}
    assert done.counts["fact"] == {"clean": 4}


def test_a_budget_ends_a_patrol_and_the_next_one_goes_on(place: Place) -> None:
    first, second = count(1), count(1)
    total = run(place, Budget(spent=lambda: next(first) >= 3)).total
    done = run(place, Budget(spent=lambda: next(second) >= 4))
    assert (done.checked, done.complete) == (4, False)
    checked = cursor.load(place.root / ".synapse", place.open().config.id).checked
    assert len(checked) == 7
    rest = run(place, Budget(max_age=timedelta(hours=1)))
    assert (rest.checked, rest.recent) == (total - 7, 7)
    assert run(place, Budget(max_age=timedelta(hours=1))).checked == 0
    assert run(place, Budget(max_age=timedelta(hours=1)), now="2026-12-01T14:00:00Z").recent == 0


def test_the_least_recently_checked_come_first(place: Place) -> None:
    run(place, Budget(spent=lambda: True), now="2026-12-01T10:00:00Z")
    run(place, now="2026-12-01T11:00:00Z")
    run(place, Budget(spent=lambda: True), now="2026-12-01T12:00:00Z")
    checked = cursor.load(place.root / ".synapse", place.open().config.id).checked
    newest = [unit for unit, ts in checked.items() if ts.startswith("2026-12-01T12")]
    assert newest == [min(checked, key=lambda unit: unit != newest[0])]
    assert newest[0].startswith("ledger:")


def test_what_is_faulty_is_never_left_out_as_recently_clean(place: Place) -> None:
    run(place)
    (place.root / "facts/limit.md").unlink()
    assert run(place).verdict == "fail"
    again = run(place, Budget(max_age=timedelta(days=30)))
    assert (again.verdict, again.checked) == ("fail", 2)


def test_an_interrupted_patrol_keeps_its_place(place: Place) -> None:
    def stop(done: int, _: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scrub(place.open(), None, stop)
    assert len(cursor.load(place.root / ".synapse", place.open().config.id).checked) == 5


def test_a_damaged_cursor_is_said_and_begun_anew(place: Place) -> None:
    run(place)
    file = place.root / ".synapse/scrub.cursor"
    data = file.read_bytes()
    for bad in (
        b"",
        b"{}\n",
        data.replace(b"fact:facts/limit.md", b"fact:facts/lemit.md"),
        data[:-9],
    ):
        file.write_bytes(bad)
        done = run(place, Budget(max_age=timedelta(days=1)))
        assert (done.recent, done.notes) == (
            0,
            ["scrub.cursor was damaged: the patrol begins anew"],
        )
    assert run(place).notes == []


def test_the_cursor_is_a_line_an_instant() -> None:
    data = cursor.encode("w", {"fact:b": "2", "fact:a": "1", "index:index": "2"})
    assert data.count(b"\n") == 3
    assert b'{"checked":"2","units":["fact:b","index:index"]}\n' in data
    assert cursor.decode("w", data).checked == {"fact:a": "1", "fact:b": "2", "index:index": "2"}
    assert cursor.decode("other", data).damaged


def test_without_an_index_there_is_nothing_wrong_with_it(place: Place) -> None:
    (place.root / ".synapse/index.db").unlink()
    done = run(place)
    assert done.verdict == "pass"
    assert done.notes == ["there is no index to look at: syn reindex makes one"]


def test_a_quarantine_that_the_index_hides_is_found(place: Place) -> None:
    quarantine(place.open(), "limit", "doubtful")
    reindex(place.open())
    assert run(place).verdict == "pass"
    sql("UPDATE state SET quarantine='[]' WHERE id='limit'")(place)
    done = run(place)
    assert found(done) == {
        ("index", "repairable", "word-mismatch"),
        ("index", "repairable", "state-changed"),
    }
    assert done.counts["fact"] == {"clean": 3, "repairable": 1}


def test_a_native_image_and_a_native_fault(place: Place) -> None:
    native_image(place.root / "images/tuesday", ITEMS[:2])
    assert run(place).verdict == "pass"
    file = place.root / "images/tuesday/image.jsonl"
    file.write_bytes(file.read_bytes().replace(b"read_note", b"read_mote", 1))
    done = run(place)
    assert {item.kind for item in done.faults} == {"image"}
    assert done.verdict == "fail"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("30m", 1800), ("12h", 43200), ("7d", 604800), ("1w", 604800)],
)
def test_ages(text: str, seconds: int) -> None:
    assert parse_age(text).total_seconds() == seconds


@pytest.mark.parametrize("text", ["", "7", "d", "-1d", "1y", "9999999d"])
def test_ages_that_are_none(text: str) -> None:
    with pytest.raises(UsageError, match="expected an age such as 12h or 7d"):
        parse_age(text)
