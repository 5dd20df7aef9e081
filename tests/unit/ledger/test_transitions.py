from dataclasses import replace

import pytest

from syn.ledger import transitions
from syn.ledger.build import Draft
from syn.ledger.transitions import Change, Transitions, Version, unexplained
from tests.support.histories import History, file
from tests.support.ledgers import Book, digest

A = "facts/a.md"


def found(book: Book, history: History) -> list[tuple[str, str, str]]:
    """Commit, fact and verdict of every version that no decision explains."""
    versions = unexplained(book.entries, history.steps())
    return [(version.commit, version.fact, version.verdict) for version in versions]


def _acknowledge(payload: str, commit: str) -> Draft:
    return Draft("Ann", "cli", "acknowledge", fact="a", payload=payload, commit=commit)


def started(*more: str) -> tuple[Book, History]:
    """A fact `a` created with text X in commit c0, then each text recorded in its own commit."""
    book, history = Book(), History()
    for number, text in enumerate(("X", *more)):
        book.add("w1", "update" if number else "create", "a", text)
        history.commit(f"c{number}", {A: file(text)}, book.entries)
    return book, history


def test_versions_that_were_recorded_where_they_were_made_are_explained() -> None:
    book, history = started("Y", "Z", "Y")
    assert found(book, history) == []


def test_a_version_without_a_decision_is_found() -> None:
    book, history = started()
    history.commit("bad", {A: file("Y")}, book.entries)
    (version,) = unexplained(book.entries, history.steps())
    assert version == Version(
        commit="bad",
        fact="a",
        path=A,
        payload=digest("Y"),
        recorded=((A, digest("X")),),
        verdict="unrecorded",
    )


def test_an_edit_that_was_made_and_taken_back_is_found() -> None:
    book, history = started()
    history.commit("bad", {A: file("Y")}, book.entries)
    history.commit("back", {A: file("X")}, book.entries)
    assert found(book, history) == [("bad", "a", "unrecorded")]


def test_an_edit_that_was_taken_back_and_later_made_with_a_record_is_still_found() -> None:
    book, history = started()
    history.commit("bad", {A: file("Y")}, book.entries)
    history.commit("back", {A: file("X")}, book.entries)
    book.add("w1", "update", "a", "Y")
    history.commit("good", {A: file("Y")}, book.entries)
    assert found(book, history) == [("bad", "a", "unrecorded")]


def test_a_return_to_an_older_recorded_value_is_found() -> None:
    book, history = started("Y")
    history.commit("bad", {A: file("X")}, book.entries)
    assert found(book, history) == [("bad", "a", "unrecorded")]


def test_a_hand_edit_that_a_descendant_adopts_is_explained() -> None:
    book, history = started()
    history.commit("edit", {A: file("Y")}, book.entries)
    history.commit("other", {A: file("Y"), "README.md": file("r")}, book.entries)
    book.add("w1", "update", "a", "Y")
    history.commit("adopt", {A: file("Y"), "README.md": file("r")}, book.entries)
    assert found(book, history) == []


def test_one_adoption_explains_one_edit() -> None:
    book, history = started()
    for name, text in (("one", "Y"), ("back", "X"), ("two", "Y")):
        history.commit(name, {A: file(text)}, book.entries)
    book.add("w1", "update", "a", "Y")
    history.commit("adopt", {A: file("Y")}, book.entries)
    assert found(book, history) == [("one", "a", "unrecorded")]


def test_a_version_between_two_adopted_ones_is_found() -> None:
    book, history = started()
    history.commit("skipped", {A: file("Y")}, book.entries)
    history.commit("edit", {A: file("Z")}, book.entries)
    book.add("w1", "update", "a", "Z")
    history.commit("adopt", {A: file("Z")}, book.entries)
    assert [commit for commit, _, _ in found(book, history)] == ["edit", "skipped"]


def test_several_decisions_in_one_commit_are_a_path() -> None:
    book, history = started()
    book.add("w1", "update", "a", "Y")
    book.add("w1", "update", "a", "Z")
    history.commit("both", {A: file("Z")}, book.entries)
    assert found(book, history) == []


def test_decisions_that_are_committed_after_the_files_explain_them() -> None:
    """Without automatic commits a person may commit facts first and the ledger later."""
    book, history = started()
    before = list(book.entries)
    for text in "YXY":
        book.add("w1", "update", "a", text)
        history.commit(f"file {text}{len(book.entries)}", {A: file(text)}, before)
    history.commit("ledger", {A: file("Y")}, book.entries)
    assert found(book, history) == []


def test_a_path_of_decisions_may_be_committed_after_the_last_file() -> None:
    book, history = started()
    before = list(book.entries)
    book.add("w1", "update", "a", "Y")
    book.add("w1", "update", "a", "Z")
    history.commit("file", {A: file("Z")}, before)
    history.commit("ledger", {A: file("Z")}, book.entries)
    assert found(book, history) == []


def test_before_the_first_decision_nothing_is_asked() -> None:
    book, history = Book(), History()
    for number, text in enumerate("PQR"):
        history.commit(f"old{number}", {A: file(text)}, book.entries)
    book.add("w1", "create", "a", "R")
    history.commit("adopt", {A: file("R")}, book.entries)
    assert found(book, history) == []


def test_a_deletion_needs_a_decision() -> None:
    book, history = started()
    history.commit("gone", {}, book.entries)
    (version,) = unexplained(book.entries, history.steps())
    assert (version.commit, version.path, version.payload) == ("gone", "", "")
    book.add("w1", "delete", "a")
    history.commit("adopt", {}, book.entries)
    assert found(book, history) == []


def test_a_deleted_fact_that_reappears_needs_a_decision() -> None:
    book, history = started()
    book.add("w1", "delete", "a")
    history.commit("gone", {}, book.entries)
    history.commit("again", {A: file("X")}, book.entries)
    assert found(book, history) == [("again", "a", "unrecorded")]


def test_a_move_that_was_recorded_is_explained() -> None:
    book, history = started()
    book.add("w1", "move", "a", "X", path="old/a.md")
    history.commit("move", {"old/a.md": file("X")}, book.entries)
    book.add("w1", "update", "a", "Y", path="old/a.md")
    history.commit("update", {"old/a.md": file("Y")}, book.entries)
    assert found(book, history) == []


def test_identity_follows_a_move_that_is_recorded_later() -> None:
    book, history = started()
    history.commit("git mv", {"old/a.md": file("X")}, book.entries)
    book.add("w1", "move", "a", "X", path="old/a.md")
    history.commit("adopt", {"old/a.md": file("X")}, book.entries)
    assert found(book, history) == []


def test_a_move_that_nobody_recorded_is_found() -> None:
    book, history = started()
    history.commit("git mv", {"elsewhere.md": file("X")}, book.entries)
    assert found(book, history) == [("git mv", "a", "unrecorded")]


def test_identity_follows_a_written_id() -> None:
    book, history = Book(), History()
    book.add("w1", "create", "a", "X")
    history.commit("c0", {A: file("X", "a")}, book.entries)
    history.commit("git mv", {"b.md": file("X", "a")}, book.entries)
    (version,) = unexplained(book.entries, history.steps())
    assert (version.fact, version.path) == ("a", "b.md")


def test_an_unknown_id_is_nobodys_version() -> None:
    book, history = started()
    history.commit("new", {A: file("X"), "facts/n.md": file("N", "n")}, book.entries)
    assert found(book, history) == []


def test_a_newcomer_on_a_path_that_a_fact_has_left_is_another_fact() -> None:
    book, history = Book(), History()
    book.add("w1", "create", "a", "X", path="a.md")
    history.commit("c0", {"a.md": file("X")}, book.entries)
    book.add("w1", "move", "a", "X", path="b.md")
    history.commit("c1", {"b.md": file("X")}, book.entries)
    history.commit("c2", {"b.md": file("X"), "a.md": file("N")}, book.entries)
    assert found(book, history) == []


def test_two_facts_that_swap_places_are_followed() -> None:
    book, history = Book(), History()
    book.add("w1", "create", "a", "A", path="a.md")
    book.add("w1", "create", "b", "B", path="b.md")
    history.commit("c0", {"a.md": file("A"), "b.md": file("B")}, book.entries)
    book.add("w1", "move", "a", "A", path="b.md")
    book.add("w1", "move", "b", "B", path="a.md")
    history.commit("c1", {"a.md": file("B"), "b.md": file("A")}, book.entries)
    assert found(book, history) == []


def test_a_merge_may_take_any_parents_version() -> None:
    book, history = started()
    base = list(book.entries)
    book.add("w1", "update", "a", "left", sees=base)
    left = list(book.entries)
    history.commit("left", {A: file("left")}, left, "c0")
    book.add("w2", "update", "a", "right", sees=base)
    right = [*base, book.entries[-1]]
    history.commit("right", {A: file("right")}, right, "c0")
    history.commit("merge", {A: file("right")}, book.entries, "left", "right")
    assert found(book, history) == []


def test_a_merge_that_makes_a_third_version_needs_a_decision() -> None:
    book, history = started()
    base = list(book.entries)
    book.add("w1", "update", "a", "left", sees=base)
    history.commit("left", {A: file("left")}, list(book.entries), "c0")
    book.add("w2", "update", "a", "right", sees=base)
    history.commit("right", {A: file("right")}, [*base, book.entries[-1]], "c0")
    history.commit("merge", {A: file("both")}, book.entries, "left", "right")
    assert found(book, history) == [("merge", "a", "unrecorded")]
    book.add("w1", "update", "a", "both")
    history.commit("adopt", {A: file("both")}, book.entries)
    assert found(book, history) == []


def test_two_lines_of_descent_may_share_a_later_decision() -> None:
    book, history = started()
    base = list(book.entries)
    history.commit("left", {A: file("Y")}, base, "c0")
    history.commit("right", {A: file("Y")}, base, "c0")
    history.commit("merge", {A: file("Y")}, base, "left", "right")
    book.add("w1", "update", "a", "Y")
    history.commit("adopt", {A: file("Y")}, book.entries)
    assert found(book, history) == []


def test_a_decision_that_one_line_used_is_used_up_below_the_fork() -> None:
    book, history = started()
    base = list(book.entries)
    history.commit("early", {A: file("Y")}, base)
    history.commit("back", {A: file("X")}, base)
    history.commit("left", {A: file("X"), "l.md": file("l")}, base, "back")
    history.commit("right", {A: file("Y")}, base, "back")
    history.commit("merge", {A: file("Y"), "l.md": file("l")}, base, "left", "right")
    book.add("w1", "update", "a", "Y")
    history.commit("adopt", {A: file("Y"), "l.md": file("l")}, book.entries)
    assert found(book, history) == [("early", "a", "unrecorded")]


def test_an_acknowledged_version_is_listed_as_such() -> None:
    book, history = started()
    history.commit("b" * 40, {A: file("Y")}, book.entries)
    history.commit("back", {A: file("X")}, book.entries)
    more = {"payload": digest("Y"), "commit": "b" * 40}
    book.batch("w1", [_acknowledge(**more)])
    history.commit("record", {A: file("X")}, book.entries)
    assert found(book, history) == [("b" * 40, "a", "acknowledged")]


def test_an_acknowledge_of_another_version_does_not_help() -> None:
    book, history = started()
    history.commit("b" * 40, {A: file("Y")}, book.entries)
    history.commit("back", {A: file("X")}, book.entries)
    book.batch("w1", [_acknowledge(payload=digest("Z"), commit="b" * 40)])
    book.batch("w1", [_acknowledge(payload=digest("Y"), commit="c" * 40)])
    history.commit("record", {A: file("X")}, book.entries)
    assert found(book, history) == [("b" * 40, "a", "unrecorded")]


def test_a_version_whose_bytes_were_expunged_is_listed_as_such() -> None:
    """After a rewrite that removed the secret, its decision is still in the ledger."""
    book, history = Book(), History()
    secret = book.add("w1", "create", "a", "secret")
    history.commit("c0", {A: file("placeholder")}, book.entries)
    book.add("w1", "expunge", "a", "clean", names=(secret,))
    history.commit("c1", {A: file("clean")}, book.entries)
    assert found(book, history) == [("c0", "a", "expunged")]


def test_the_work_tree_counts_as_the_child_of_head() -> None:
    book, history = started()
    history.commit("worktree", {A: file("Y")}, book.entries)
    assert found(book, history) == [("worktree", "a", "unrecorded")]


def test_versions_are_counted() -> None:
    book, history = started("Y", "Z")
    judge = Transitions(book.entries)
    for step in history.steps():
        assert judge.step(step) == ()
    assert judge.checked == 3


def test_many_facts_do_not_need_to_stay_indexed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transitions, "_INDEXED", 3)
    book, history = Book(), History()
    facts = [f"f{number}" for number in range(20)]
    for fact in facts:
        book.add("w1", "create", fact, fact, sees=())
    tree = {f"facts/{fact}.md": file(fact) for fact in facts}
    history.commit("c0", tree, book.entries)
    history.commit("c1", tree | {"facts/f7.md": file("other")}, book.entries)
    assert found(book, history) == [("c1", "f7", "unrecorded")]


def test_a_deleted_fact_reappears_where_its_id_comes_from() -> None:
    book, history = Book(), History()
    book.add("w1", "create", "a", "X", path="a.md")
    history.commit("c0", {"a.md": file("X")}, book.entries)
    book.add("w1", "move", "a", "X", path="b.md")
    book.add("w1", "delete", "a", path="b.md")
    history.commit("gone", {}, book.entries)
    history.commit("again", {"a.md": file("X")}, book.entries)
    assert found(book, history) == [("again", "a", "unrecorded")]


def test_a_change_that_changes_nothing_needs_no_decision() -> None:
    """A caller may list a reformatted file: other bytes, the same payload."""
    book, history = started()
    history.commit("same", {A: file("X")}, book.entries)
    (last, *_) = history.steps()
    assert last.changes == ()
    same = replace(last, changes=(Change(A, file("X"), (file("X"),)),))
    assert list(unexplained(book.entries, [same])) == []


def test_a_name_that_no_decision_knows_is_no_version() -> None:
    book, history = started()
    history.commit("other", {A: file("X"), "notes/n.md": file("N")}, book.entries)
    assert found(book, history) == []
