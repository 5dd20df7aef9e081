"""Front matter that is read without a YAML scanner is what the strict reader reads."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syn.facts import plain
from syn.facts.collector import Collector
from syn.facts.front_matter import read
from syn.facts.front_values import Watch

WATCHED = Watch(values=frozenset({"a", "rel"}), comments=frozenset({"k", "id"}))
KEYS = st.sampled_from(["a", "rel", "k", "id", "b-c", "_x", "null", "K9", "a b", "é", '"q"', "1a"])
WORDS = st.sampled_from(
    [
        *("word", "two words", "5", "-5", "1.10", "007", "0x1f", "~", "null", "true", "no", ".5"),
        *("2026-01-01", "12:30", "http://e.org/x#y", "a#b", "a #b", "a: b", "a:b", "a:", ":a"),
        *('"quoted"', "'single'", '"a\\n"', "'it''s'", '""', "''", '"[[x]]"', "see [[x]]", "[[x]]"),
        *("[a, b]", "[]", "[ a ]", "[a,b]", "[1, ~, no]", '["x, y", z]', "[a, [b]]", "[a: b]"),
        *(
            "{a: b}",
            "&x",
            "*x",
            "!t",
            "|",
            ">",
            "%",
            "@",
            "`",
            "? x",
            "- x",
            "<<",
            "=",
            "é",
            "日本",
        ),
        *("\ufeff", "\u2028", "a\xa0", "a\x85b", "a  b", "a ", "[a-b, c.d/e]", "[a b, c]"),
    ]
)
PIECES = st.sampled_from(
    [
        *("a: ", "k: ", "rel:", "- ", "  ", "\n", "\n", "\n  ", "\n- ", "\n  - ", "# c", " # c"),
        *("x", "y z", "1", "'", '"', "[", "]", ",", ", ", ":", ": ", "\t", "\r\n", "|", "~", "[["),
    ]
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """One line, plain or nearly so."""
    head = draw(st.sampled_from(["", "", "", "  ", "    ", " "]))
    head += draw(st.sampled_from(["", "", "", "- ", "-   ", "-"]))
    if draw(st.booleans()) or not head:
        head += draw(KEYS) + draw(st.sampled_from([": ", ": ", ":", ":  ", " : "]))
    value = draw(st.one_of(st.just(""), WORDS))
    return head + value + draw(st.sampled_from(["", "", "", " ", " # why", "# why", "   #"]))


BLANKS = st.sampled_from(["", "# note", "  # note", " ", "#", "---", "..."])
FRONTS = st.lists(st.one_of(lines(), lines(), lines(), BLANKS), max_size=9).map("\n".join)


@given(
    st.one_of(FRONTS, st.lists(PIECES, max_size=16).map("".join)), st.sampled_from(["\n", "\n", ""])
)
@settings(max_examples=600, deadline=None)
def test_what_is_read_plainly_is_what_the_strict_reader_reads(front: str, end: str) -> None:
    found = plain.read(front + end, WATCHED)
    if found is not None:
        for scanner in ("libyaml", "python"):
            collector = Collector("a.md")
            assert read(front + end, WATCHED, collector, scanner=scanner) == found
            assert (collector.problems, collector.warnings) == ([], [])


@pytest.mark.parametrize(
    "front",
    [
        "id: x\ntitle: A title\ntags: [a, b]\nvalid_from: 2026-01-01\n",
        "releases:\n  - cycle: '1'\n    eol: false\n\n  # next\n  - cycle: '2'\nlinks:\n- a\n- b\n",
        "z: 1  # a comment that cuts nothing watched\nb:\nc:\n  d:\n    e: f\n",
    ],
)
def test_usual_front_matter_is_read_plainly(front: str) -> None:
    found = plain.read(front, WATCHED)
    assert found is not None
    assert found == read(front, WATCHED, Collector("a.md"), scanner="python")


@pytest.mark.parametrize(
    "front",
    [
        *(
            "",
            "\t",
            "a: |\n  x\n",
            "a: b\n  c\n",
            "a: 1\na: 2\n",
            "k: v # cut\n",
            "a:\n",
            "x: [[y]]\n",
        ),
        *("x: 1\n y: 2\n", "- a\n", "x: &y z\n", "x: a: b\n", "x: 1\r\n", "é: 1\n", "text\n"),
    ],
)
def test_what_is_not_plain_is_left_to_the_strict_reader(front: str) -> None:
    assert plain.read(front, WATCHED) is None
