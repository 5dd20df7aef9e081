"""INV-10's core on random histories: nothing recorded is accused, nothing unrecorded gets away."""

from typing import TYPE_CHECKING

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from syn.ledger.entry import HashedEntry
from syn.ledger.heads import recorded
from syn.ledger.transitions import Seen, Version, unexplained
from tests.support.histories import History, Tree, file
from tests.support.ledgers import Book

if TYPE_CHECKING:
    from syn.model.ledger import Action

FACTS = ("a", "b")
TEXTS = ("X", "Y", "Z")
Line = tuple[str, Tree, list[HashedEntry]]


class Story:
    """Commits that record what they change, on lines of history that fork and merge."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.book = Book()
        self.history = History()
        self.number = 0
        tree: Tree = {}
        for fact in FACTS:
            self.book.add("w0", "create", fact, "X")
            tree[f"facts/{fact}.md"] = file("X")
        self.lines: list[Line] = [self.commit(tree, list(self.book.entries), [])]

    def commit(self, tree: Tree, entries: list[HashedEntry], parents: list[str]) -> Line:
        """One commit on a line of its own."""
        name = f"c{self.number}"
        self.number += 1
        self.history.commit(name, tree, entries, *parents)
        return (name, tree, entries)

    def advance(self) -> None:
        """Fork a line, or change some facts on one with a decision for each change."""
        at = self.draw(st.integers(0, len(self.lines) - 1))
        name, tree, entries = self.lines[at]
        if len(self.lines) < 3 and self.draw(st.booleans()):
            self.lines.append((name, tree, entries))
            at = len(self.lines) - 1
        tree, entries = dict(tree), list(entries)
        writer = f"w{self.number}"
        for fact in self.draw(st.sets(st.sampled_from(FACTS), min_size=1)):
            for text in self.draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=2)):
                self.change(writer, fact, text, tree, entries)
        self.lines[at] = self.commit(tree, entries, [name])

    def change(
        self, writer: str, fact: str, text: str, tree: Tree, entries: list[HashedEntry]
    ) -> None:
        """One recorded change: an update, a deletion, or a creation of what was deleted."""
        path = f"facts/{fact}.md"
        gone = path not in tree
        if not gone and self.draw(st.integers(0, 5)) == 0:
            self.book.add(writer, "delete", fact, sees=entries)
            del tree[path]
        else:
            self.book.add(writer, "create" if gone else "update", fact, text, sees=entries)
            tree[path] = file(text)
        entries.append(self.book.entries[-1])

    def merge(self) -> None:
        """Merge two lines: each fact as one of the sides has it."""
        if len(self.lines) < 2:
            return
        (left, tree, mine), (right, other, theirs) = self.lines.pop(), self.lines.pop()
        if left == right:
            self.lines.append((left, tree, mine))
            return
        merged: Tree = {}
        for fact in FACTS:
            path = f"facts/{fact}.md"
            taken = (tree if self.draw(st.booleans()) else other).get(path)
            if taken is not None:
                merged[path] = taken
        entries = [*mine, *(entry for entry in theirs if entry not in mine)]
        self.lines.append(self.commit(merged, entries, [left, right]))

    def found(self) -> list[Version]:
        """Every version that no decision explains, over all lines."""
        steps = self.history.steps()
        return list(unexplained(self.book.entries, steps))


def in_step(fact: str, tree: Tree, entries: list[HashedEntry]) -> bool:
    """Whether a tree has what its ledger records; a merge may have taken another version."""
    state = recorded(entries)[fact]
    now = tree.get(f"facts/{fact}.md", Seen())
    return not state.forked and state.payload == now.payload


@st.composite
def stories(draw: st.DrawFn) -> Story:
    """Histories in which everything is recorded."""
    story = Story(draw)
    for _ in range(draw(st.integers(1, 7))):
        if draw(st.integers(0, 3)):
            story.advance()
        else:
            story.merge()
    return story


@settings(max_examples=40, deadline=None)
@given(stories())
def test_a_history_in_which_everything_is_recorded_is_explained(story: Story) -> None:
    assert story.found() == []


@settings(max_examples=40, deadline=None)
@given(stories(), st.data())
def test_an_unrecorded_edit_is_found_whatever_follows(story: Story, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(story.lines) - 1))
    name, tree, entries = story.lines[at]
    fact = data.draw(st.sampled_from(FACTS))
    assume(in_step(fact, tree, entries))
    edited: Tree = dict(tree) | {f"facts/{fact}.md": file("smuggled")}
    bad, _, _ = story.commit(edited, entries, [name])
    back, _, _ = story.commit(dict(tree), entries, [bad])
    for text in data.draw(st.lists(st.sampled_from(TEXTS), max_size=3)):
        after, later = dict(tree), list(entries)
        story.change("w9", fact, text, after, later)
        back, tree, entries = story.commit(after, later, [back])
    assert [(v.commit, v.fact, v.payload) for v in story.found()] == [
        (bad, fact, file("smuggled").payload)
    ]


@settings(max_examples=40, deadline=None)
@given(stories(), st.data())
def test_an_edit_that_is_adopted_later_is_explained(story: Story, data: st.DataObject) -> None:
    name, tree, entries = story.lines[-1]
    fact = data.draw(st.sampled_from(FACTS))
    assume(in_step(fact, tree, entries))
    path = f"facts/{fact}.md"
    action: Action = "update" if path in tree else "create"
    edited: Tree = dict(tree) | {path: file("by hand")}
    edit, _, _ = story.commit(edited, entries, [name])
    story.book.add("w-adopt", action, fact, "by hand", sees=entries)
    story.commit(edited, [*entries, story.book.entries[-1]], [edit])
    assert story.found() == []
