"""Rows on a narrow terminal: nothing is lost, and no word is cut."""

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from syn.cli.output import flow

ROW = ["payments-api-owner-2026", "decision", "The API is the checkout team's", "facts/team/o.md"]


def test_a_row_flows_over_indented_lines() -> None:
    assert list(flow(ROW, 40)) == [
        "payments-api-owner-2026  decision  The",
        "  API is the checkout team's",
        "  facts/team/o.md",
    ]


def test_a_word_that_is_too_long_stands_alone_and_whole() -> None:
    assert list(flow(ROW, 10))[:2] == ["payments-api-owner-2026", "  decision"]


def test_wide_characters_count_twice() -> None:
    assert list(flow(["重量重量", "重量"], 10, cell_len)) == ["重量重量", "  重量"]


@given(st.lists(st.text("ab ", max_size=30), min_size=1, max_size=5), st.integers(1, 60))
def test_every_word_is_there_in_order(row: list[str], columns: int) -> None:
    lines = list(flow(row, columns))
    assert " ".join(lines).split() == " ".join(row).split()
    for line in lines:
        assert len(line.rstrip()) <= columns or len(line.split()) == 1
