"""Hand edits go through the gate: what is held has to have its path named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from syn.errors import SynError
from syn.services.proving.verifying import Request, verify
from syn.services.recall.indexing import read_workspace
from syn.services.recall.opening import open_current
from syn.services.writing.adopt import Adoption, Consent, adopt, adoption_json, plan_adopt
from syn.services.writing.changes import Close
from syn.services.writing.undo import undo
from syn.services.writing.writes import Terms, write
from tests.support.workspaces import FACTS, Place, adopt_all, git, make_workspace


def quiet(_: str) -> None:
    """Takes the talk of a service."""


def plan(place: Place, *paths: str) -> Adoption:
    return plan_adopt(place.open(), paths, quiet)


def take(place: Place, *paths: str) -> list[tuple[str, str, str]]:
    workspace = place.open()
    entries = adopt(
        workspace, plan_adopt(workspace, paths, quiet), paths, Consent("unreviewed"), quiet
    )
    return [(entry.action, entry.fact, entry.review) for _, entry in entries]


def edited(path: str, text: str) -> Callable[[Place], None]:
    def edit(place: Place) -> None:
        file = place.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    return edit


def closed(place: Place) -> None:
    write(place.open(), [Close("owner-2")], Terms(), quiet)
    file = place.root / "facts/owner-2.md"
    file.write_text(file.read_text() + "More.\n")


HELD: dict[str, tuple[Callable[[Place], None], str, str]] = {
    "another owner at the same time": (
        edited("facts/new.md", "---\nsubject: payments\nfield: owner\nvalue: risk\n---\n"),
        "facts/new.md",
        "value-overlaps",
    ),
    "a fact that says something else now": (
        edited("facts/owner-1.md", FACTS["facts/owner-1.md"].replace("2026-04-15", "2026-05-01")),
        "facts/owner-1.md",
        "value-overlaps",
    ),
    "a secret": (
        edited("facts/limit.md", "---\nid: limit\n---\nAKIAIOSFODNN7EXAMPLE\n"),
        "facts/limit.md",
        "secret",
    ),
    "a secret in a comment only": (
        edited("facts/limit.md", FACTS["facts/limit.md"].replace("]", "] # ghp_" + "a1" * 18)),
        "facts/limit.md",
        "secret",
    ),
    "text that is turned around": (
        edited("facts/more.md", "a\u202eb\n"),
        "facts/more.md",
        "hidden-character",
    ),
    "text that hides in an escape": (
        edited("facts/more.md", '---\nnote: "a\\u200bb"\n---\n'),
        "facts/more.md",
        "hidden-character",
    ),
    "a closed fact": (closed, "facts/owner-2.md", "closed"),
    "a successor that is gone": (
        lambda place: (place.root / "facts/owner-2.md").unlink(),
        "facts/owner-2.md",
        "successor",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HELD)
def test_what_is_held_must_be_named(tmp_path: Path, name: str) -> None:
    edit, path, code = HELD[name]
    place = make_workspace(tmp_path)
    edit(place)
    edited("facts/harmless.md", "Nothing.\n")(place)
    shown = plan(place)
    assert {(p, reason.code) for p, reason in shown.judgement.held} == {(path, code)}
    for words in ((), ("facts",), ("facts/harmless.md", "facts")):
        with pytest.raises(SynError) as caught:
            take(place, *words)
        assert caught.value.code == "must-be-named"
        assert path in caught.value.remedy
    recorded = take(place, "./" + path, "facts/harmless.md")
    assert len(recorded) == 2
    assert {review for _, _, review in recorded} == {"named"}
    report = verify(place.open(), Request(deep=True))
    assert next(r for r in report.invariants if r.id == "INV-10").status.value == "pass"


def test_what_is_not_held_needs_no_name(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    edited("facts/limit.md", "---\nid: limit\n---\nThree people.\n")(place)
    edited("facts/web.md", "---\nsource: https://example.org/x\n---\n")(place)
    assert plan(place).judgement.verdict.kind == "tainted"
    assert take(place) == [
        ("update", "limit", "unreviewed"), ("create", "facts/web", "unreviewed"),
    ]  # fmt: skip


def test_a_mark_that_was_there_before_holds_nothing(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/a.md": "a\u200bb\n"})
    edited("facts/a.md", "one\na\u200bb\n")(place)
    assert plan(place).judgement.held == ()
    edited("facts/a.md", "one\na\u200bb\u200b\n")(place)
    assert len(plan(place).judgement.held) == 1


def test_the_first_adoption_holds_secrets_only(tmp_path: Path) -> None:
    both = {
        "facts/a.md": "---\nsubject: s\nfield: f\nvalue: 1\n---\na\u200bb\n",
        "facts/b.md": "---\nsubject: s\nfield: f\nvalue: 2\n---\n",
    }
    place = make_workspace(tmp_path, both, adopted=False)
    shown = plan(place)
    assert {reason.code for _, reason in shown.judgement.reasons} == {
        "value-overlaps", "hidden-character",
    }  # fmt: skip
    assert shown.judgement.held == ()
    edited("facts/c.md", "-----BEGIN RSA PRIVATE KEY-----\n")(place)
    with pytest.raises(SynError) as caught:
        take(place)
    assert caught.value.code == "must-be-named"
    (place.root / "facts/c.md").unlink()
    assert len(take(place)) == 2


def test_the_fields_that_change_are_shown(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    edited("facts/limit.md", "---\nid: limit\ntitle: Limit\nnote: x\n---\nThree people.\n")(place)
    answer: Any = adoption_json(plan(place))
    (edit,) = answer["edits"]
    fields = [(f["field"], f["before"], f["after"]) for f in edit["fields"]]
    assert fields == [
        ("title", "Refund limit", "Limit"),
        ("tags", ["money"], None),
        ("note", None, "x"),
        ("body", "Two people.\n", "Three people.\n"),
    ]


def test_a_file_moved_with_its_id_is_one_move(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    (place.root / "facts/zz").mkdir()
    (place.root / "facts/limit.md").rename(place.root / "facts/zz/limit.md")
    (place.root / "facts/aa").mkdir()
    moved = place.root / "facts/aa/owner.md"
    (place.root / "facts/owner-1.md").rename(moved)
    moved.write_text(moved.read_text() + "More.\n")
    assert [(e.kind, e.id, e.was) for e in plan(place).edits] == [
        ("moved", "owner-1", "facts/owner-1.md"), ("moved", "limit", "facts/limit.md"),
    ]  # fmt: skip
    assert take(place) == [
        ("update", "owner-1", "unreviewed"), ("move", "limit", "unreviewed"),
    ]  # fmt: skip
    assert verify(place.open(), Request(deep=True)).verdict == "pass"


def test_new_files_with_one_id_are_not_recorded(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    edited("facts/x1.md", "---\nid: x-1\n---\n")(place)
    edited("facts/x2.md", "---\nid: X-1\n---\n")(place)
    edited("facts/x3.md", "---\nid: limit\n---\n")(place)
    shown = plan(place)
    assert shown.edits == ()
    assert [(p.path, p.code) for p in shown.unreadable] == [
        ("facts/x1.md", "duplicate-id"), ("facts/x2.md", "duplicate-id"),
        ("facts/x3.md", "duplicate-id"),
    ]  # fmt: skip
    with pytest.raises(SynError) as caught:
        take(place)
    assert caught.value.code == "unreadable-facts"


def test_a_written_id_goes_before_a_default_one(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    edited("facts/one.md", "---\nid: facts/two\n---\n")(place)
    edited("facts/two.md", "Two.\n")(place)
    shown = plan(place)
    assert [edit.path for edit in shown.edits] == ["facts/one.md"]
    assert [problem.path for problem in shown.unreadable] == ["facts/two.md"]


def test_an_adopted_batch_is_undone_as_one(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    before = {p.name: p.read_bytes() for p in (place.root / "facts").iterdir()}
    edited("facts/limit.md", "---\nid: limit\n---\nx\n")(place)
    edited("facts/new.md", "New.\n")(place)
    (place.root / "facts/plain.md").unlink()
    take(place)
    head = read_workspace(place.open()).ledger.recorded["limit"].heads[0]
    undo(place.open(), head, Terms(), quiet)
    assert {p.name: p.read_bytes() for p in (place.root / "facts").iterdir()} == before
    assert verify(place.open(), Request(deep=True)).verdict == "pass"


def test_adopting_leaves_the_index_up_to_date(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    edited("facts/new.md", "New.\n")(place)
    take(place)
    notes: list[str] = []
    index, _ = open_current(place.open(), notes.append)
    index.close()
    assert notes == []
    report = verify(place.open(), Request())
    assert [f.code for r in report.invariants for f in r.findings] == []


def test_crlf_checkouts_are_adopted_as_git_stores_them(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {})
    (place.root / ".gitattributes").write_text("*.md text eol=crlf\n.synapse/** -text\n")
    git(place, "commit", "-qam", "attributes")
    (place.root / "facts").mkdir(exist_ok=True)
    (place.root / "facts/a.md").write_bytes(b"---\r\nid: a\r\n---\r\nx\r\n")
    adopt_all(place)
    assert git(place, "show", "HEAD:facts/a.md") == "---\nid: a\n---\nx"
    assert git(place, "status", "--porcelain") == ""
    report = verify(place.open(), Request(deep=True))
    assert (report.verdict, report.subject.worktree) == ("pass", "clean")
