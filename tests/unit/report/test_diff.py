"""Two texts beside each other on a terminal."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syn.report.diff import MAX_LINES, Line, compare, render

LINES = st.lists(st.sampled_from(["a", "b c", "b d", "", "\t", "x\r", "é"]), max_size=12)
TEXTS = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


def _side(lines: tuple[Line, ...], sign: str) -> str:
    return "".join(
        "".join(span.text for span in line.spans) + "\n" * line.ended
        for line in lines
        if line.sign in (" ", sign)
    )


@given(TEXTS, TEXTS)
def test_a_difference_holds_both_texts(old: str, new: str) -> None:
    hunks = compare(old, new, context=1000)
    assert bool(hunks) == (old != new)
    for hunk in hunks:
        assert (hunk.old_line, hunk.new_line) == (1, 1)
        assert _side(hunk.lines, "-") == old
        assert _side(hunk.lines, "+") == new


@given(TEXTS, TEXTS, st.integers(0, 3))
def test_hunks_stand_where_they_say(old: str, new: str, context: int) -> None:
    for hunk in compare(old, new, context=context):
        before, after = _side(hunk.lines, "-"), _side(hunk.lines, "+")
        assert old.split("\n")[hunk.old_line - 1 :][: before.count("\n")] == before.split("\n")[
            :-1
        ] or not before.endswith("\n")
        assert "".join(_keep(old)[hunk.old_line - 1 :]).startswith(before)
        assert "".join(_keep(new)[hunk.new_line - 1 :]).startswith(after)
        assert any(line.sign != " " for line in hunk.lines)


def _keep(text: str) -> list[str]:
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def test_equal_texts_have_no_difference() -> None:
    assert render("a\n", "a\n", color=False) == ""


def test_changed_words_are_marked() -> None:
    shown = render("owner: team-a\nnext\n", "owner: team-b\nnext\n", color=False)
    assert shown == "@@ line 1 -> line 1 @@\n- owner: team-[-a-]\n+ owner: team-{+b+}\n  next\n"


@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        ("x\r\n", "x\n", "x[-\\r-]"),
        ("x\n", "x\u200b\n", "x{+\\u200b+}"),
        ("a b\n", "a\u00a0b\n", "a{+\\xa0+}b"),
        ("id: e\u0301\n", "id: \u00e9\n", "id: {+é+}"),
        ("a\u202eb\n", "ab\n", "- a\\u202eb"),
        ("x\x1b[2J\n", "x\n", "\\x1b"),
    ],
)
def test_a_change_that_nobody_sees_is_visible(old: str, new: str, shown: str) -> None:
    rendered = render(old, new, color=False)
    assert shown in rendered
    assert rendered.replace("\n", "").replace("\t", "").replace("é", "").isprintable()


def test_a_missing_line_end_is_said() -> None:
    shown = render("a", "a\n", color=False)
    assert shown.count("\\ no line end") == 1
    assert shown.index("- a") < shown.index("\\ no line end") < shown.index("+ a")


def test_far_changes_are_apart() -> None:
    old = "".join(f"{n}\n" for n in range(100))
    new = old.replace("\n10\n", "\nten\n").replace("\n80\n", "\neighty\n")
    hunks = compare(old, new)
    assert [(h.old_line, h.new_line, len(h.lines)) for h in hunks] == [(8, 8, 8), (78, 78, 8)]


def test_colour_marks_words_by_reverse_video() -> None:
    shown = render("a b\n", "a c\n", color=True)
    assert "\x1b[31;7mb\x1b[0m" in shown
    assert "\x1b[32;7mc\x1b[0m" in shown
    assert "[-" not in shown


def test_texts_that_share_nothing_are_shown_whole_and_fast() -> None:
    old = "".join(f"a{n}\n" for n in range(MAX_LINES))
    new = "".join(f"b{n}\n" for n in range(MAX_LINES))
    (hunk,) = compare(old, new)
    assert len(hunk.lines) == 2 * MAX_LINES


def test_one_very_long_line_is_shown_whole() -> None:
    old, new = "a " * 5000 + "\n", "b " * 5000 + "\n"
    (hunk,) = compare(old, new)
    assert [len(line.spans) for line in hunk.lines] == [1, 1]
