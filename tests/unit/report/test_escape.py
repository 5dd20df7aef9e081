"""Text from facts on its way to a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syn.canon.json import parse
from syn.report.escape import block, clip, encodable, json_text, printable

ANY_TEXT = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn"]),
        st.sampled_from("\u200d\u200c\ufe0f\U000e0100❤👨ن葛1#aZ \\"),
    )
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("\x7f\x85\x9b", "\\x7f\\x85\\x9b"),
        ("\u202eevil\u202c", "\\u202eevil\\u202c"),
        ("\u2066x\u2069\u061c\u200e\u200f", "\\u2066x\\u2069\\u061c\\u200e\\u200f"),
        ("zw\u200b\u2060\ufeff\u00ad", "zw\\u200b\\u2060\\ufeff\\xad"),
        ("\U000e0041\U000e007f", "\\U000e0041\\U000e007f"),
        ("\ud800x\udcff", "\\ud800x\\udcff"),
        ("a\u2028b\u2029", "a\\u2028b\\u2029"),
        ("\u3164\u115f\uffa0", "\\u3164\\u115f\\uffa0"),
        ("\ufdd0\uffff\U0010ffff", "\\ufdd0\\uffff\\U0010ffff"),
        ("C:\\new", "C:\\new"),
        ("résumé 日本語 עברית", "résumé 日本語 עברית"),
    ],
)
def test_what_drives_hides_or_reorders_is_visible_under_both_rules(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(text, data=True) == shown


@pytest.mark.parametrize(
    "text",
    [
        "می‌خواهم",
        "क्‍ष",
        "👨‍👩‍👧",
        "👩🏽‍💻",
        "❤️‍🔥",
        "1️⃣ ©️ 🗂️",
        "葛\U000e0100飾",
        "10\u202f000\u00a0€",
        "全角\u3000空白",
    ],
)
def test_what_writing_needs_is_kept_only_where_text_is_read(text: str) -> None:
    assert printable(text, data=True) == text
    assert printable(text) != text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pass\u200dword", "pass\\u200dword"),
        ("a\ufe0fb\ufe0e", "a\\ufe0fb\\ufe0e"),
        ("❤\ufe0f\ufe0f", "❤\ufe0f\\ufe0f"),
        ("a\U000e0100", "a\\U000e0100"),
        ("ن\u200c", "ن\\u200c"),
        ("\u200dن", "\\u200dن"),
        ("x\ufe00", "x\\ufe00"),
    ],
)
def test_a_joiner_or_selector_out_of_place_is_visible(text: str, shown: str) -> None:
    assert printable(text, data=True) == shown


@given(ANY_TEXT)
def test_printable_text_is_encodable_and_drives_nothing(text: str) -> None:
    for data in (False, True):
        shown = printable(text, data=data)
        shown.encode()
        assert not any(unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") for c in shown)
        assert not any(unicodedata.bidirectional(c) in BIDI_CONTROLS for c in shown)


BIDI_CONTROLS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(ANY_TEXT)
def test_strict_text_has_no_invisible_character_at_all(text: str) -> None:
    shown = printable(text)
    assert not any(unicodedata.category(c) == "Cf" and c not in VISIBLE_FORMATS for c in shown)
    assert not any(unicodedata.category(c) == "Zs" and c != " " for c in shown)


VISIBLE_FORMATS = {
    *map(chr, range(0x600, 0x606)),
    *map(chr, range(0x13430, 0x13440)),
    *"\u06dd\u070f\u0890\u0891\u08e2\U000110bd\U000110cd",
}
"""Format characters that draw something: signs around Arabic numbers, hieroglyph quadrats."""


@given(ANY_TEXT)
def test_printable_changes_nothing_twice(text: str) -> None:
    assert printable(printable(text)) == printable(text)


def test_a_block_keeps_lines_and_tabs() -> None:
    assert block("a\tb\r\nc\x1b[1m\n") == "a\tb\nc\\x1b[1m\n"
    assert block("a\rb") == "a\\rb"


def test_what_is_cut_is_counted() -> None:
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdefgh", 6) == "abcdef… (2 more characters)"


def test_lone_surrogates_become_text() -> None:
    assert encodable("a\udc80\U0001f600") == "a\\udc80\U0001f600"


@given(st.dictionaries(st.text(st.characters(max_codepoint=126)), ANY_TEXT.map(encodable)))
def test_json_for_a_terminal_is_the_same_value(value: dict[str, str]) -> None:
    line = json_text(value)
    assert parse(line.encode()) == value
    assert printable(line) == line
