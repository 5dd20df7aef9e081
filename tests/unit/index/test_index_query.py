"""Search expressions, filters and cursors."""

import pytest

from syn.errors import UsageError
from syn.index.query import (
    MAX_WORDS,
    Filters,
    checked_limit,
    decode_cursor,
    encode_cursor,
    search_expression,
)


@pytest.mark.parametrize(
    ("text", "expression"),
    [
        ("", ""),
        ("  \t\n", ""),
        ("TKT-42", '"TKT-42"'),
        ("isn't two-phase", '"isn\'t" "two-phase"'),
        ('say "hi"', '"say" """hi"""'),
        ("a\0b", '"a" "b"'),
        ("NEAR(a b) OR title:x*", '"NEAR(a" "b)" "OR" "title:x*"'),
        ("\ud800", '"?"'),
    ],
)
def test_every_word_is_a_quoted_phrase(text: str, expression: str) -> None:
    assert search_expression(text) == expression


def test_words_may_be_taken_as_beginnings() -> None:
    assert search_expression('two "b', prefixes=True) == '"two"* """b"*'


def test_a_very_long_text_is_cut() -> None:
    assert search_expression("a " * 10_000).count('"a"') == MAX_WORDS


def test_no_filter_asks_nothing() -> None:
    assert Filters().where() == ("1", [])
    assert Filters().asks_nothing
    assert not Filters(quarantined=False).asks_nothing
    assert Filters(state="recorded").needs_state


def test_values_are_parameters_never_sql() -> None:
    where, values = Filters(type="x' OR 1", tag="t", under="a/%", subject="\ud800").where()
    assert "OR 1" not in where
    assert values == ["x' OR 1", "?", "t", "a/%/", "a/%/"]


def test_a_cursor_comes_back() -> None:
    assert decode_cursor("list", encode_cursor("list", "facts/ä.md")) == "facts/ä.md"
    assert decode_cursor("search", encode_cursor("search", 40)) == 40


@pytest.mark.parametrize(
    "cursor", ["", "x", "=", "ä", "W10", encode_cursor("search", 1), "WyJsaXN0Il0", "\ud800"]
)
def test_a_foreign_cursor_is_a_usage_error(cursor: str) -> None:
    with pytest.raises(UsageError) as caught:
        decode_cursor("list", cursor)
    assert caught.value.code == "bad-cursor"


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_limit_has_bounds(limit: int) -> None:
    with pytest.raises(UsageError):
        checked_limit(limit)
