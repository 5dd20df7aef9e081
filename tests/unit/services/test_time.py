"""Valid time and recorded time: what held, and what was known, at every instant that matters."""

from pathlib import Path
from typing import Any

import pytest

from syn.errors import SynError
from syn.services.doors.operations import operation
from syn.services.recall.reads import open_reader
from syn.services.recall.timetravel import KEPT_INDEXES, at_commit
from syn.services.writing.changes import Add, Close, Delete, Edit, Move, NewFact, Supersede
from syn.services.writing.quarantine import quarantine
from syn.services.writing.undo import undo
from syn.services.writing.writes import Terms, write
from tests.support.cli import syn
from tests.support.workspaces import Place, git, make_workspace


def quiet(_: str) -> None:
    """Takes the talk of a service."""


def ask(place: Place, name: str, audience: Any = "person", **values: Any) -> Any:
    reader = open_reader(place.open("2026-12-31T00:00:00Z"), quiet, audience)
    with reader.index:
        return operation(name).run(reader, **values)


def ids(place: Place, audience: Any = "person", **values: Any) -> list[str]:
    items = ask(place, "list", audience, **values)["items"]
    return [item["id"] for item in items if "withheld" not in item]


def do(place: Place, now: str, *changes: Any) -> str:
    done = write(place.open(now), changes, Terms(), quiet)
    return done.entries[0][0]


BOUNDARIES = {
    "2024-12-31": [],
    "2024-12-31T23:59:59.999999999Z": [],
    "2025-01-01": ["owner-1"],
    "2025-01-01T00:00:00Z": ["owner-1"],
    "2025-01-01T01:30:00+02:00": [],
    "2026-04-14T23:59:59.999999999Z": ["owner-1"],
    "2026-04-15": ["owner-2"],
    "2026-04-15T00:00:00.000000000Z": ["owner-2"],
    "2026-04-14T22:00:00-02:00": ["owner-2"],
    "2026-04-15T01:00:00+02:00": ["owner-1"],
    "9999-12-31": ["owner-2"],
}


@pytest.fixture(scope="module")
def owners(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return make_workspace(tmp_path_factory.mktemp("owners"))


@pytest.mark.parametrize("instant", BOUNDARIES)
def test_at_a_shared_boundary_exactly_one_holds(owners: Place, instant: str) -> None:
    assert ids(owners, subject="payments", as_of=instant) == BOUNDARIES[instant]
    found = ask(owners, "search", words=["owns"], as_of=instant)
    assert [item["id"] for item in found["items"]] == BOUNDARIES[instant]
    for name in ("owner-1", "owner-2"):
        if BOUNDARIES[instant]:
            assert ask(owners, "show", id=name, as_of=instant)["id"] == BOUNDARIES[instant][0]
        else:
            with pytest.raises(SynError) as caught:
                ask(owners, "show", id=name, as_of=instant)
            assert caught.value.code == "not-held"


@pytest.mark.parametrize(
    "instant",
    ["2026", "2026-02-30", "2026-04-15T10:00:00", "yesterday", "2026-04-15T24:00:00Z", " "],
)
def test_what_is_no_instant_is_refused_everywhere(owners: Place, instant: str) -> None:
    for name, values in (
        ("list", {"as_of": instant}),
        ("list", {"known_at": instant}),
        ("show", {"id": "owner-1", "as_of": instant}),
        ("search", {"words": ["x"], "known_at": instant}),
        ("log", {"known_at": instant}),
    ):
        with pytest.raises(SynError) as caught:
            ask(owners, name, **values)
        assert caught.value.code == "invalid-date"


def test_an_undated_supersession_shows_the_successor(tmp_path: Path) -> None:
    place = make_workspace(
        tmp_path,
        {
            "facts/o.md": "---\nid: o\nsuperseded_by: n\n---\n",
            "facts/n.md": "---\nid: n\nsupersedes: o\n---\n",
        },
    )
    assert ask(place, "show", id="o", as_of="2026-01-01")["id"] == "n"


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Twelve decisions, each at a known time, one of them taken back."""
    place = make_workspace(tmp_path_factory.mktemp("story"), now="2026-01-01T00:00:00Z")
    do(place, "2026-02-01T00:00:00Z", Add(NewFact(title="New", body="one\n")))
    do(place, "2026-03-01T00:00:00Z", Edit("new", body="two\n"))
    do(place, "2026-04-01T00:00:00Z", Move("new", "facts/moved.md"))
    do(place, "2026-05-01T00:00:00Z", Delete("limit"))
    digest = do(place, "2026-06-01T00:00:00Z", Close("owner-2", "2026-07-01"))
    undo(place.open("2026-07-01T00:00:00Z"), digest, Terms(), quiet)
    new = NewFact(value="risk", title="Risk owns", valid_from="2026-09-01")
    do(place, "2026-08-01T00:00:00Z", Supersede(("owner-2",), new))
    do(place, "2026-09-01T00:00:00Z", Edit("facts/plain", body="last\n"))
    return place


FIRST = ["limit", "owner-1", "owner-2", "facts/plain"]
KNOWN: dict[str, tuple[list[str], dict[str, str]]] = {
    "2025-12-31T23:59:59Z": ([], {}),
    "2026-01-01": (FIRST, {}),
    "2026-01-31T23:59:59.999999Z": (FIRST, {}),
    "2026-02-01": (["limit", "new", "owner-1", "owner-2", "facts/plain"], {"new": "one\n"}),
    "2026-03-01": (["limit", "new", "owner-1", "owner-2", "facts/plain"], {"new": "two\n"}),
    "2026-04-01": (["limit", "new", "owner-1", "owner-2", "facts/plain"], {"new": "two\n"}),
    "2026-05-01": (["new", "owner-1", "owner-2", "facts/plain"], {"new": "two\n"}),
    "2026-08-01": (
        ["new", "owner-1", "owner-2", "facts/plain", "risk-owns"],
        {"facts/plain": "# Plain\n\nOnly a body.\n"},
    ),
    "2026-10-01": (
        ["new", "owner-1", "owner-2", "facts/plain", "risk-owns"],
        {"facts/plain": "last\n"},
    ),
}


@pytest.mark.parametrize("instant", KNOWN)
def test_known_at_tells_what_was_recorded(story: Place, instant: str) -> None:
    names, bodies = KNOWN[instant]
    assert ids(story, known_at=instant) == names
    for name, body in bodies.items():
        shown = ask(story, "show", id=name, known_at=instant)
        assert (shown["body"], shown["record"]) == (body, "recorded")


def test_both_axes_at_once(story: Place) -> None:
    """In June it was known that owner-2 ends in July; in July that was taken back."""
    values = {"subject": "payments", "as_of": "2026-07-15"}
    assert ids(story, **values, known_at="2026-05-31") == ["owner-2"]
    assert ids(story, **values, known_at="2026-06-15") == []
    assert ids(story, **values, known_at="2026-07-15") == ["owner-2"]
    values = {"subject": "payments", "as_of": "2026-10-01"}
    assert ids(story, **values, known_at="2026-07-15") == ["owner-2"]
    assert ids(story, **values) == ["risk-owns"]


def test_the_log_as_it_was(story: Place) -> None:
    assert ask(story, "log", fact="new", known_at="2026-03-15")["total"] == 2
    assert ask(story, "log", fact="new")["total"] == 3


def test_hand_edits_change_nothing_about_the_past(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    (place.root / "facts/limit.md").write_text("---\nid: limit\n---\nForged.\n")
    (place.root / "facts/plain.md").unlink()
    shown = ask(place, "show", id="limit", known_at="2026-12-01")
    assert shown["body"] == "Two people.\n"
    assert ask(place, "show", id="facts/plain", known_at="2026-12-01")["title"] == "Plain"


def test_bytes_that_are_gone_are_named_and_the_rest_is_shown(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    write(place.open(), [Edit("limit", body="x\n")], Terms(), quiet)
    git(place, "update-ref", "-d", "refs/synapse/kept")
    git(place, "checkout", "-q", "--orphan", "fresh")
    git(place, "commit", "-qm", "squashed")
    git(place, "reflog", "expire", "--expire=now", "--all")
    found = ask(place, "list", known_at="2026-11-30T12:00:00Z")
    assert [item["id"] for item in found["items"]] == ["limit", "owner-1", "owner-2", "facts/plain"]
    later = make_workspace(tmp_path / "other")
    write(later.open("2026-12-15T00:00:00Z"), [Edit("limit", body="x\n")], Terms(), quiet)
    git(later, "update-ref", "-d", "refs/synapse/kept")
    git(later, "checkout", "-q", "--orphan", "fresh")
    git(later, "commit", "-qm", "squashed")
    assert "limit" not in ids(later, known_at="2026-12-01")
    problems = ask(later, "doctor")
    assert problems["total"] == 0


def test_an_agent_does_not_get_in_the_past_what_is_quarantined_now(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    quarantine(place.open("2026-12-15T00:00:00Z"), "limit", "suspicious")
    assert "limit" in ids(place, known_at="2026-12-01")
    assert "limit" not in ids(place, "agent", known_at="2026-12-01")


def test_a_clock_that_was_set_back_reorders_nothing(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, now="2026-06-01T00:00:00Z")
    do(place, "2026-01-01T00:00:00Z", Add(NewFact(title="Late", body="x\n")))
    assert "late" not in ids(place, known_at="2026-05-31")
    assert "late" in ids(place, known_at="2026-06-01")


def test_at_a_commit_everything_is_as_it_was_there(story: Place) -> None:
    first = git(story, "rev-list", "--reverse", "HEAD").split()[1]
    workspace = story.open()
    with at_commit(workspace, first) as reader:
        assert [i["id"] for i in operation("list").run(reader)["items"]] == FIRST  # type: ignore[index,union-attr,call-overload]
        assert operation("show").run(reader, id="limit")["record"] == "recorded"
        assert operation("log").run(reader)["total"] == 5
    with pytest.raises(SynError) as caught, at_commit(workspace, "nothing"):
        pass
    assert caught.value.code == "unknown-ref"


def test_the_indexes_of_other_times_are_few(story: Place) -> None:
    folder = Path(story.env["SYNAPSE_CACHE_DIR"]) / "at"
    for day in range(1, KEPT_INDEXES + 4):
        ids(story, known_at=f"2026-02-{day:02d}")
    commits = git(story, "rev-list", "HEAD").split()
    for commit in commits:
        with at_commit(story.open(), commit):
            pass
    files = list(folder.rglob("*.db"))
    assert 1 < len(files) <= KEPT_INDEXES


def test_the_command(story: Place) -> None:
    ran = syn(story, "at", "HEAD~3", "--", "list", "--json")
    assert ran.status == 0
    assert "risk-owns" not in ran.out
    assert syn(story, "at", "HEAD~3", "show", "new", "--as-of", "2026-01-01").status == 0
    ran = syn(story, "at", "HEAD", "--", "adopt", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "not-a-read")
    ran = syn(story, "at", "nothing", "--", "list", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "unknown-ref")
    ran = syn(story, "list", "--known-at", "never", "--json")
    assert (ran.status, ran.json["error"]["code"]) == (2, "invalid-date")
    before = {p: p.stat().st_mtime_ns for p in (story.root / ".git").rglob("*")}
    syn(story, "at", "HEAD", "--", "list")
    assert before == {p: p.stat().st_mtime_ns for p in (story.root / ".git").rglob("*")}
