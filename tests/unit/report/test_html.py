"""The report as one page."""

import base64
import hashlib
from dataclasses import replace
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import override

from syn.model.finding import Finding, InvariantResult, Level, Status
from syn.model.ledger import Entry
from syn.report.html import MAX_FINDINGS, Succession, Timeline, render
from tests.support import reports

TIMELINE = Timeline(
    reports.decisions(), (Succession("payments-owner", "payments-owner-2", "2026-04-13"),), 977
)


class Page(HTMLParser):
    """What a browser would see: elements, attributes, text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)
        self.close()

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    @override
    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())


ALLOWED = {
    *("html", "head", "meta", "title", "style", "body", "header", "footer", "main", "section"),
    *("article", "p", "h1", "h2", "h3", "b", "br", "bdi", "code", "dl", "dt", "dd", "ol", "ul"),
    *("li", "span", "div"),
}


def test_the_page_loads_nothing_and_runs_nothing() -> None:
    page = Page(render(reports.failing(), TIMELINE))
    assert {tag for tag, _ in page.elements} <= ALLOWED
    names = {name for _, attributes in page.elements for name in attributes}
    assert names <= {
        "lang", "charset", "http-equiv", "content", "name", "class", "id", "aria-labelledby"
    }  # fmt: skip


def test_the_policy_allows_the_one_style_sheet_by_hash() -> None:
    text = render(reports.failing(), TIMELINE)
    style = text.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policies = [a["content"] for _, a in Page(text).elements if "http-equiv" in a]
    assert policies == [
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    ]
    assert "url(" not in style
    assert "@import" not in style


def test_the_page_says_what_the_report_says() -> None:
    words = Page(render(reports.failing(), TIMELINE)).text
    for expected in (
        "FAIL (level L0): 2 failures, 1 warning, 1 could not be read",
        "facts/payments.md index-diverged (on this machine)",
        ".synapse/ledger/w1/000002.jsonl:17 segment-unreadable (could not be read)",
        "L1 audited not reached",
        "What this run does not prove",
        "payments-owner → payments-owner-2 from 2026-04-13",
        "974 more are in the ledger",
        "می‌خواهم",
    ):
        assert expected in words
    passed = Page(render(reports.passing(), TIMELINE, required=Level.L3)).text
    assert "L2 hash-chained reached" in passed
    assert "L3 git-witnessed not reached" in passed
    assert "BELOW L3" in passed


def test_a_page_without_timeline_has_no_empty_sections() -> None:
    words = Page(render(reports.passing(), Timeline())).text
    assert "Decisions" not in words
    assert "Supersessions" not in words


def test_findings_over_the_limit_are_counted() -> None:
    findings = tuple(Finding("x", f"s{n}") for n in range(MAX_FINDINGS + 5))
    result = InvariantResult("INV-2", "content", "A", Status.FAIL, "s", {}, findings)
    report = replace(reports.failing(), invariants=(result,))
    assert "5 more in the JSON report." in Page(render(report, Timeline())).text


HOSTILE = st.text(
    st.one_of(st.characters(), st.sampled_from("<>&\"'/=`{}%#\u202e\u2066\x00\x1b")), max_size=30
)


@settings(max_examples=40, deadline=None)
@given(HOSTILE, HOSTILE)
def test_nothing_in_a_fact_becomes_an_element(one: str, two: str) -> None:
    finding = Finding(one, two, one, 1, two, one, two)
    result = InvariantResult(one, two, "A", Status.FAIL, one, {}, (finding,))
    entry = Entry("w", 1, "", one, two, "cli", "create", fact=one, path=two, taint=one, reason=two)
    report = replace(reports.failing(), invariants=(result,), limits=(one,), level_reason=two)
    text = render(report, Timeline(((one, entry),), (Succession(two, one, two),), 1))
    page = Page(text)
    assert {tag for tag, _ in page.elements} <= ALLOWED
    assert not any(char in text for char in "\u202e\u2066\x00\x1b")
    assert len(page.elements) < 200
