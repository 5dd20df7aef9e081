"""The report for people."""

from dataclasses import replace

import pytest
from rich.cells import cell_len
from rich.text import Text

from syn.model.finding import Finding, InvariantResult, Level, Status
from syn.model.report import Report
from syn.report import text
from syn.report.verdict import verdict_line
from tests.support import reports


def _with(findings: tuple[Finding, ...]) -> Report:
    result = InvariantResult("INV-2", "content", "A", Status.FAIL, "n facts", {}, findings)
    return replace(reports.failing(), invariants=(result,))


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
@pytest.mark.parametrize("report", [reports.passing(), reports.failing()])
def test_no_line_is_wider_than_the_terminal(report: Report, width: int) -> None:
    lines = text.render(report, width, color=False).split("\n")
    assert max(map(cell_len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_a_narrow_terminal_still_gets_everything() -> None:
    assert "INV-2" in text.render(reports.failing(), 1, color=False)


@pytest.mark.parametrize("color", [False, True])
def test_text_from_facts_drives_no_terminal(color: bool) -> None:
    shown = text.render(reports.failing(), 200, color)
    assert "\u202e" not in shown
    assert "\u200b" not in shown
    assert "\x1b]" not in shown
    assert "\x07" not in shown
    assert "evil\\u202e\\x1b]0;owned\\x07" in shown


def test_colour_says_nothing_that_the_words_do_not() -> None:
    plain = text.render(reports.failing(), 80, color=False)
    colored = text.render(reports.failing(), 80, color=True)
    assert "\x1b" not in plain
    assert Text.from_ansi(colored).plain.split() == plain.split()


def test_markup_in_a_fact_stays_text() -> None:
    shown = text.render(_with((Finding("x", "[red]a[/red] :smile:"),)), 80, color=False)
    assert "[red]a[/red] :smile:" in shown


@pytest.mark.parametrize("color", [False, True])
@pytest.mark.parametrize(
    ("report", "last"),
    [
        (reports.passing(), "PASS (level L2)"),
        (reports.failing(), "FAIL (level L0): 2 failures, 1 warning, 1 could not be read"),
        (replace(reports.failing(), verdict="incomplete", invariants=()), "INCOMPLETE (level L0)"),
    ],
)
def test_the_last_line_states_the_verdict(report: Report, last: str, color: bool) -> None:
    shown = text.render(report, 80, color).removesuffix("\n").split("\n")[-1]
    assert Text.from_ansi(shown).plain == last
    assert verdict_line(report) == last


def test_a_pass_below_the_required_level_says_so_last() -> None:
    shown = text.render(reports.passing(), 80, color=False, required=Level.L3)
    assert shown.endswith("\nBELOW L3: the checks pass, and only level L2 holds\n")
    assert verdict_line(reports.passing(), Level.L2) == "PASS (level L2)"
    assert verdict_line(reports.failing(), Level.L3).startswith("FAIL")


def test_findings_over_the_limit_are_counted() -> None:
    findings = tuple(Finding("changed", f"f{n:05}", f"facts/{n:05}.md", 1) for n in range(5000))
    shown = text.render(_with(findings), 80, color=False)
    assert "INV-2 content: 5,000 failures" in shown
    assert "4,980 more; --json lists all of them" in shown
    assert "facts/00019.md:1" in shown
    assert "facts/00020.md:1" not in shown


def test_a_long_value_is_cut_and_the_rest_counted() -> None:
    shown = text.render(_with((Finding("x", "s", actual="y" * 1000),)), 80, color=False)
    assert "(600 more characters)" in " ".join(shown.split())


def test_a_finding_shows_where_what_and_what_to_do() -> None:
    shown = text.render(reports.failing(), 120, color=False)
    assert "  .synapse/ledger/w1/000002.jsonl:17  segment-unreadable, could not be read" in shown
    assert "    expected  a readable object\n    actual    object absent\n" in shown
    assert "    remedy    git fetch --unshallow\n" in shown
    assert "index-diverged, on this machine  payments-owner" in shown


def test_a_checkpoint_says_who_signed_and_what_came_after() -> None:
    state = replace(reports.CHECKPOINT, authorized=False, unanchored=12)
    shown = text.render(replace(reports.passing(), checkpoint=state), 200, color=False)
    assert "which policy does not name as publisher, 12 decisions after it" in " ".join(
        shown.split()
    )
    unsigned = text.render(
        replace(reports.passing(), checkpoint=replace(state, key="")), 200, color=False
    )
    assert "unsigned" in unsigned
