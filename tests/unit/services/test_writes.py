"""A person's own writes and what they leave behind."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from syn.errors import RefusedError, SynError, UsageError
from syn.services.proving.verifying import Request, verify
from syn.services.recall.opening import reindex
from syn.services.writing.changes import (
    Add,
    Change,
    Close,
    Delete,
    Edit,
    Link,
    Move,
    NewFact,
    Supersede,
    change_json,
    parse_changes,
)
from syn.services.writing.gate import GateError, Override
from syn.services.writing.naming import MAX_BYTES, slug
from syn.services.writing.undo import undo
from syn.services.writing.writes import Terms, Written, write
from tests.support.workspaces import NOW, Place, make_workspace

ANYWAY = Terms(override=Override(anyway=True))


def quiet(_: str) -> None:
    """Takes the talk of a service."""


def do(place: Place, *changes: Change, terms: Terms | None = None, now: str = NOW) -> Written:
    return write(place.open(now), changes, terms or Terms("a test"), quiet)


def refused(place: Place, *changes: Change, terms: Terms | None = None) -> SynError:
    before = _all_files(place)
    with pytest.raises(SynError) as caught:
        do(place, *changes, terms=terms)
    assert _all_files(place) == before
    return caught.value


def _all_files(place: Place) -> dict[str, bytes]:
    return {
        str(path.relative_to(place.root)): path.read_bytes()
        for path in sorted(place.root.rglob("*"))
        if path.is_file() and ".git/" not in str(path) and "index.db" not in path.name
    }


def sound(place: Place) -> bool:
    report = verify(place.open(), Request(deep=True))
    return report.verdict == "pass" and report.subject.worktree == "clean"


def text(place: Place, path: str) -> str:
    return (place.root / path).read_bytes().decode()


def test_add_writes_a_fact_that_every_reader_reads(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    new = NewFact(
        title="Region: eu-1",
        type="setting",
        tags=("ops", "no"),
        subject="ledger",
        field="region",
        value="1.10",
        valid_from="2026-01-01",
        more=(("start", "11:45"),),
        source=(("kind", "person"),),
        body="Text.\n",
    )
    done = do(place, Add(new))
    assert text(place, "facts/region-eu-1.md") == (
        '---\nid: region-eu-1\ntype: setting\ntitle: "Region: eu-1"\nsubject: ledger\n'
        'field: region\nvalue: "1.10"\nvalid_from: "2026-01-01"\ntags:\n  - ops\n  - "no"\n'
        'source:\n  kind: person\nstart: "11:45"\n---\nText.\n'
    )
    ((_, entry),) = done.entries
    assert (entry.action, entry.fact, entry.via, entry.review, entry.reason) == (
        "create", "region-eu-1", "cli", "seen", "a test",
    )  # fmt: skip
    assert sound(place)
    assert reindex(place.open()).mode == "none"


def test_ids_and_paths_are_never_taken_twice(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    for _ in range(3):
        do(place, Add(NewFact(title="Same", body=f"{_}\n")))
    names = {path.name for path in (place.root / "facts").glob("same*")}
    assert names == {"same.md", "same-2.md", "same-3.md"}
    assert refused(place, Add(NewFact(title="x", id="SAME"))).code == "fact-exists"
    assert refused(place, Add(NewFact(title="x", path="facts/Same.md"))).code == "bad-path"
    (place.root / "facts/loose.md").write_text("loose\n")
    assert refused(place, Add(NewFact(title="x", path="facts/loose.md"))).code == "bad-path"
    (place.root / "facts/loose.md").unlink()
    assert sound(place)


@pytest.mark.parametrize(
    "path",
    [
        "../x.md",
        "facts/../../x.md",
        "/etc/x.md",
        "x.md",
        "facts/x:y.md",
        "facts/con.md",
        ".synapse/x.md",
        "facts/a\nb.md",
        "facts/.git/x.md",
    ],
)
def test_a_path_that_no_fact_can_have_is_refused(tmp_path: Path, path: str) -> None:
    place = make_workspace(tmp_path, {})
    assert refused(place, Add(NewFact(title="x", path=path))).code == "bad-path"


def test_names_are_cut_by_bytes_on_a_character_boundary() -> None:
    name = slug("ä" * 300)
    assert len(name.encode()) <= MAX_BYTES
    assert set(name) == {"ä"}
    assert slug("!!!") == "fact"
    assert slug("Straße 7/8") == "straße-7-8"


def test_edit_changes_only_the_named_lines(tmp_path: Path) -> None:
    crlf = (
        '\ufeff---\r\nid: e-1 # the id\r\nstart: 11:45\r\npet: "goat"\r\n# note\r\n'
        "status: draft\r\n---\r\nBody\r\n"
    )
    place = make_workspace(tmp_path, {"facts/e.md": crlf})
    done = do(place, Edit("e-1", reserved=(("status", "final"),)))
    assert text(place, "facts/e.md") == crlf.replace("draft", "final")
    assert len(done.entries) == 1
    assert do(place, Edit("e-1", reserved=(("status", "final"),))).entries == ()
    do(place, Edit("e-1", tag=("a", "b"), unset=("pet",)))
    do(place, Edit("e-1", untag=("a",), body="New\n"))
    assert text(place, "facts/e.md") == (
        crlf.replace("draft", "final").replace("pet: \"goat\"\r\n", "")
        .replace("final\r\n", "final\r\ntags:\r\n  - b\r\n").replace("Body", "New")
    )  # fmt: skip
    assert sound(place)


def test_an_id_never_changes(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    assert refused(place, Edit("limit", set=(("id", "other"),))).code == "id-changes"
    assert refused(place, Edit("facts/plain", set=(("id", "other"),))).code == "id-changes"


def test_supersede_ends_the_one_and_links_both(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    done = do(place, Supersede(("owner-2",), NewFact(value="risk", valid_from="2026-09-01")))
    assert [entry.action for _, entry in done.entries] == ["close", "supersede"]
    assert len({entry.batch for _, entry in done.entries}) == 1
    old = text(place, "facts/owner-2.md")
    assert 'valid_to: "2026-09-01"\n' in old
    assert "superseded_by:\n  - checkout-owns-payments\n" in old
    new = text(place, "facts/checkout-owns-payments.md")
    assert "subject: payments\nfield: owner\nvalue: risk\n" in new
    assert "supersedes:\n  - owner-2\n" in new
    assert sound(place)


def test_a_second_successor_needs_its_name(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    change = Supersede(("owner-1",), NewFact(title="Other", value="x", valid_from="2025-06-01"))
    error = refused(place, change)
    assert isinstance(error, GateError)
    assert {reason.code for reason in error.reasons} == {"superseded", "value-overlaps"}


def test_an_interval_that_never_holds_is_refused(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    early = NewFact(value="x", valid_from="2026-04-15")
    assert refused(place, Supersede(("owner-2",), early)).code == "empty-interval"
    assert refused(place, Close("owner-2", "2026-04-15")).code == "empty-interval"
    bad = NewFact(title="t", valid_from="2026-03-01", valid_to="2026-02-01")
    assert refused(place, Add(bad)).code == "empty-interval"
    same = NewFact(title="t", valid_from="2026-03-01T00:00:00Z", valid_to="2026-03-01")
    assert refused(place, Add(same)).code == "empty-interval"
    assert refused(place, Add(NewFact(title="t", valid_from="2026-02-30"))).code == "invalid-date"
    naive = NewFact(title="t", valid_from="2026-02-01T10:00:00")
    assert refused(place, Add(naive)).code == "invalid-date"


def test_close_makes_a_fact_closed_until_it_is_undone(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    done = do(place, Close("owner-2"))
    assert 'valid_to: "2026-11-30T12:00:00Z"' in text(place, "facts/owner-2.md")
    assert refused(place, Close("owner-2")).code == "already-closed"
    assert refused(place, Edit("owner-2", reserved=(("status", "x"),))).code == "conflict"
    assert sound(place)
    undo(place.open(), done.entries[0][0], Terms(), quiet)
    assert "valid_to" not in text(place, "facts/owner-2.md")
    do(place, Edit("owner-2", reserved=(("status", "x"),)))
    assert sound(place)


def test_a_closed_fact_changes_by_name_and_by_move_and_rm(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    do(place, Close("owner-2"))
    done = do(place, Edit("owner-2", reserved=(("status", "x"),)), terms=ANYWAY)
    assert done.entries[0][1].review == "named"
    do(place, Move("owner-2", "facts/old/owner-2.md"))
    assert "owner-1 is superseded by owner-2" in refused(place, Delete("owner-2")).message
    do(place, Delete("owner-2"), Delete("owner-1"))
    assert sound(place)


def test_move_keeps_id_and_bytes(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    before = text(place, "facts/plain.md")
    do(place, Move("facts/plain", "facts/deep/er/name.md"))
    assert text(place, "facts/deep/er/name.md") == before
    assert not (place.root / "facts/plain.md").exists()
    assert refused(place, Move("limit", "facts/deep/er/Name.md")).code == "bad-path"
    do(place, Move("limit", "facts/LIMIT.md"))
    assert sound(place)


def test_what_nobody_decided_on_is_not_built_upon(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    (place.root / "facts/limit.md").write_text("---\nid: limit\n---\nEdited by hand.\n")
    for change in (
        Edit("limit", body="x\n"),
        Close("limit"),
        Delete("limit"),
        Move("limit", "facts/l.md"),
    ):
        assert refused(place, change).code == "undecided"
    (place.root / "facts/limit.md").unlink()
    assert refused(place, Edit("limit", body="x\n")).code == "undecided"
    assert refused(place, Add(NewFact(title="x", id="limit"))).code == "fact-exists"


def test_unknown_names_suggest_near_ones(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    error = refused(place, Delete("limt"))
    assert (error.code, error.remedy) == ("unknown-fact", "did you mean limit?")


def test_link_adds_a_reference_once(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    do(place, Link("owner-2", "limit"))
    assert 'related:\n  - "[[limit]]"\n' in text(place, "facts/owner-2.md")
    assert do(place, Link("owner-2", "limit")).entries == ()
    assert refused(place, Link("owner-2", "nothing")).code == "unknown-fact"


def test_one_decision_of_several_changes_and_its_undo(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    before = _all_files(place)
    done = do(
        place,
        Add(NewFact(title="New one", body="x\n")),
        Edit("limit", body="y\n"),
        Move("facts/plain", "facts/moved.md"),
        Delete("owner-1"),
    )
    assert len({entry.batch for _, entry in done.entries}) == 1
    assert sound(place)
    taken_back = undo(place.open(), done.entries[2][0][7:20], Terms("oops"), quiet)
    assert len(taken_back.entries) == 4
    after = _all_files(place)
    ledger = [name for name in after if "ledger" in name]
    assert {k: v for k, v in after.items() if k not in ledger} == {
        k: v for k, v in before.items() if k not in ledger
    }
    assert sound(place)


def test_undo_is_refused_while_something_depends_on_it(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    first = do(place, Edit("limit", body="1\n")).entries[0][0]
    second = do(place, Edit("limit", body="2\n")).entries[0][0]
    with pytest.raises(RefusedError) as caught:
        undo(place.open(), first, Terms(), quiet)
    assert caught.value.code == "later-decision"
    assert second[7:19] in caught.value.remedy
    undo(place.open(), second, Terms(), quiet)
    undo(place.open(), first, Terms(), quiet)
    assert text(place, "facts/limit.md").endswith("Two people.\n")
    assert sound(place)


def test_undo_of_an_undo(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    gone = do(place, Delete("limit"))
    back = undo(place.open(), gone.entries[0][0], Terms(), quiet)
    undo(place.open(), back.entries[0][0], Terms(), quiet)
    assert not (place.root / "facts/limit.md").exists()
    assert sound(place)


def test_undo_names_what_it_is_not_for(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    entries = list(_entries(place))
    config = next(digest for digest, action in entries if action == "config")
    for name, code in (
        (config, "not-undoable"),
        ("ffff", "unknown-decision"),
        ("a", "unknown-decision"),
        ("", "unknown-decision"),
    ):
        with pytest.raises(SynError) as caught:
            undo(place.open(), name, Terms(), quiet)
        assert caught.value.code == code


def _entries(place: Place) -> Sequence[tuple[str, str]]:
    from syn.services.recall.indexing import read_workspace

    ledger = read_workspace(place.open()).ledger.ledger
    return [(digest, entry.action) for digest, entry in ledger.entries()]


def test_staged_and_unstaged_work_of_others_is_untouched(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    (place.root / "staged.txt").write_text("staged")
    git(place, "add", "staged.txt")
    (place.root / "loose.txt").write_text("loose")
    (place.root / "facts/owner-1.md").write_text("edited by hand\n")
    do(place, Add(NewFact(title="New")))
    status = git(place, "status", "--porcelain").splitlines()
    assert status == [" M facts/owner-1.md", "A  staged.txt", "?? loose.txt"]
    assert git(place, "show", "--name-only", "--format=", "HEAD").split() == [
        next(n for n in _all_files(place) if "ledger" in n), "facts/new.md",
    ]  # fmt: skip


def test_a_lock_of_git_stops_a_write_before_anything_changed(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    lock = place.root / ".git/index.lock"
    lock.touch()
    error = refused(place, Add(NewFact(title="New")))
    assert error.code == "locked"
    assert "index.lock is there since" in error.message
    lock.unlink()
    do(place, Add(NewFact(title="New")))
    assert sound(place)


def test_crlf_checkouts_are_edited_as_they_are(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {})
    (place.root / ".gitattributes").write_text("*.md text eol=crlf\n.synapse/** -text\n")
    git(place, "commit", "-qam", "attributes")
    do(place, Add(NewFact(title="New", body="one\ntwo\n")))
    file = place.root / "facts/new.md"
    file.unlink()
    git(place, "checkout", "--", "facts/new.md")
    assert file.read_bytes().count(b"\r\n") == 6
    done = do(place, Edit("new", reserved=(("status", "x"),)))
    assert file.read_bytes().count(b"\r\n") == 7
    assert git(place, "status", "--porcelain") == ""
    assert b"\r" not in git(place, "show", "HEAD:facts/new.md").encode()
    assert sound(place)
    undo(place.open(), done.entries[0][0], Terms(), quiet)
    assert "status" not in text(place, "facts/new.md")
    assert sound(place)


def test_without_commits_the_bytes_are_kept(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/a.md": "---\nid: a\n---\none\n"})
    config = place.root / "synapse.toml"
    config.write_text(config.read_text().replace("commit = true", "commit = false"))
    from tests.support.workspaces import adopt_all

    adopt_all(place)
    head = git(place, "rev-parse", "HEAD")
    first = do(place, Edit("a", body="two\n"))
    do(place, Edit("a", body="three\n"))
    do(place, Add(NewFact(title="b")))
    assert git(place, "rev-parse", "HEAD") == head
    undo(place.open(), _last(place, "a"), Terms(), quiet)
    assert text(place, "facts/a.md").endswith("two\n")
    undo(place.open(), first.entries[0][0], Terms(), quiet)
    assert text(place, "facts/a.md").endswith("one\n")
    assert verify(place.open(), Request(deep=True)).verdict == "pass"


def _last(place: Place, fact: str) -> str:
    from syn.services.recall.indexing import read_workspace

    return read_workspace(place.open()).ledger.recorded[fact].heads[0]


CHANGES: tuple[Change, ...] = (
    Add(NewFact(title="t", id="i", tags=("a",), more=(("k", ("x", "y")), ("é", "z")), body="b\n")),
    Supersede(("a", "b"), NewFact(value="v", source=(("agent", "bot"),))),
    Edit("a", set=(("k", "v"),), reserved=(("status", "x"),), unset=("z",), tag=("t",), body=""),
    Edit("a", untag=("t",)),
    Close("a", "2026-01-01"),
    Delete("a"),
    Move("a", "facts/b.md"),
    Link("a", "b", "owner"),
)


def test_changes_survive_their_json_form() -> None:
    assert parse_changes({"changes": [change_json(change) for change in CHANGES]}) == CHANGES


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "at least one change"),
        ("x", "expected a change as an object"),
        ({"op": "burn"}, "op: expected one of add"),
        ({"op": "close"}, "id: expected a text, got none"),
        ({"op": "add", "titel": "x"}, "unknown member 'titel'"),
        ({"op": "add", "tags": "a,b"}, "tags: expected a list of texts, got text"),
        ({"op": "add", "title": None}, "title: expected text, got null"),
        ({"op": "supersede", "title": "x"}, "old: expected at least one id"),
        ({"op": "edit", "id": "a", "set": {"k": None}}, "k: expected a value, got null"),
        ({"op": "add", "source": {"colour": "x"}}, "source: expected kind, agent"),
        ({"op": "edit", "id": "a", "set": [["k", "v"], ["k", "w"]]}, "stands twice"),
    ],
)  # fmt: skip
def test_what_is_no_change_is_named(value: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        parse_changes(value)  # type: ignore[arg-type]


def git(place: Place, *words: str) -> str:
    done = subprocess.run(
        ["git", *words],
        cwd=place.root,
        env={**place.env, "GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.org"},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().rstrip("\n")
