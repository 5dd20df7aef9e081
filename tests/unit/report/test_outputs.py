"""SARIF, annotations, job summary, badge: what other programs read."""

import xml.etree.ElementTree as ET
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from syn.model.finding import Finding, InvariantResult, Level, Status
from syn.model.report import Report
from syn.report import annotations, badge, markdown, sarif
from tests.support import reports

HOSTILE = st.text(
    st.one_of(st.characters(), st.sampled_from("|`*_[](){}<>&!#~@$:.%,\n\r\\-+=1 ")), max_size=20
)


def _with(*findings: Finding, status: Status = Status.FAIL) -> Report:
    result = InvariantResult("INV-2", "content", "A", status, "s", {}, findings)
    return replace(reports.failing(), invariants=(result,))


def _run(report: Report) -> Any:
    return cast("Any", sarif.to_sarif(report))["runs"][0]


def test_sarif_has_one_rule_per_code_and_one_result_per_finding() -> None:
    run = _run(reports.failing())
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [
        "index-diverged",
        "payload-changed",
        "reformatted",
        "segment-unreadable",
    ]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert [(r["kind"], r["level"]) for r in run["results"]] == [
        ("fail", "error"),
        ("fail", "error"),
        ("fail", "warning"),
        ("open", "none"),
    ]


def test_sarif_places_every_result_on_a_file_and_a_line() -> None:
    run = _run(_with(Finding("a", "s", "facts/é #1.md", 7), Finding("b", "w1")))
    places = [r["locations"][0]["physicalLocation"] for r in run["results"]]
    assert [p["artifactLocation"]["uri"] for p in places] == [
        "synapse.toml",
        "facts/%C3%A9%20%231.md",
    ]
    assert [p["region"]["startLine"] for p in places] == [1, 7]


def test_sarif_fingerprints_stay_when_lines_move_and_part_equal_findings() -> None:
    one, two = Finding("a", "s", "p", 3), Finding("a", "s", "p", 9)
    marks = [r["partialFingerprints"][sarif.FINGERPRINT] for r in _run(_with(one, two))["results"]]
    moved = _run(_with(replace(one, line=4), replace(two, line=10)))["results"]
    assert marks == [r["partialFingerprints"][sarif.FINGERPRINT] for r in moved]
    assert len(set(marks)) == 2


def test_sarif_messages_hold_no_link_and_no_placeholder() -> None:
    message = _run(_with(Finding("a", "[x](http://e) {0} \\[y](1)")))["results"][0]["message"]
    assert message == {"text": "INV-2 a: \\[x\\](http://e) {{0}} \\\\\\[y\\](1)"}


def test_sarif_of_a_run_that_could_not_read_says_so() -> None:
    report = replace(_with(status=Status.INCOMPLETE), verdict="incomplete")
    (invocation,) = _run(report)["invocations"]
    assert invocation["executionSuccessful"] is False
    (note,) = invocation["toolExecutionNotifications"]
    assert note["descriptor"] == {"id": "INV-2"}


def _commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """What a runner reads: the second format of workflow commands."""

    def unescape(value: str) -> str:
        for code, char in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
            value = value.replace(code, char)
        return value

    found = []
    for line in text.splitlines():
        head, _, message = line.removeprefix("::").partition("::")
        name, _, listed = head.partition(" ")
        pairs = (pair.partition("=") for pair in listed.split(","))
        found.append((name, {k: unescape(v) for k, _, v in pairs}, unescape(message)))
    return found


def test_annotations_name_file_line_and_what() -> None:
    commands = _commands(annotations.render(reports.failing()))
    assert [name for name, _, _ in commands] == ["error", "error", "warning", "error"]
    assert commands[1][1] == {
        "file": "facts/ev|il\\u200b, [x](y)%.md",
        "title": "INV-2 payload-changed",
        "line": "4",
    }
    assert commands[0][1].keys() == {"file", "title"}
    assert "expected owner = team-a" in commands[1][2]
    assert annotations.render(reports.passing()) == ""


@given(HOSTILE, HOSTILE)
def test_an_annotation_is_one_command_whatever_a_fact_holds(path: str, subject: str) -> None:
    text = annotations.render(_with(Finding("x", subject, path, 3)))
    assert text.count("\n") == 1
    ((name, properties, message),) = _commands(text)
    assert name == "error"
    assert properties["title"] == "INV-2 x"
    assert message.startswith("INV-2 x")


def test_annotations_of_a_change_stand_first_and_on_its_lines() -> None:
    report = _with(
        Finding("far", "a", "facts/a.md", 1),
        Finding("whole", "b", "facts/b.md"),
        Finding("start", "b", "facts/b.md", 1),
        Finding("near", "b", "facts/b.md", 2),
        Finding("on", "b", "facts/b.md", 7),
    )
    commands = _commands(annotations.render(report, {"facts/b.md": (7, 8)}))
    assert [(p["title"], p["line"]) for _, p, _ in commands] == [
        ("INV-2 whole", "7"),
        ("INV-2 start", "7"),
        ("INV-2 on", "7"),
        ("INV-2 near", "2"),
        ("INV-2 far", "1"),
    ]


def test_annotations_are_bounded_by_kind_and_the_rest_is_counted() -> None:
    warning = Finding("w", "s", severity="warning")
    report = _with(*(Finding("x", f"s{n}") for n in range(5)), warning)
    commands = _commands(annotations.render(report, limit=2))
    kinds = [name for name, _, _ in commands]
    assert sorted(kinds) == ["error", "error", "notice", "warning"]
    assert commands[-1][2].startswith("3 more")


def test_a_long_message_is_cut_and_says_so() -> None:
    ((_, _, message),) = _commands(annotations.render(_with(Finding("x", "s" * 9000))))
    assert "more characters" in message


def test_an_error_of_the_run_is_one_command() -> None:
    commands = _commands(annotations.error("a:b,c", "x\n::error::y%0A"))
    assert commands == [("error", {"title": "a:b,c"}, "x\\n::error::y%0A")]


def test_commands_can_be_stopped_and_resumed() -> None:
    assert annotations.stop("t0k") + annotations.resume("t0k") == "::stop-commands::t0k\n::t0k::\n"


def test_the_job_summary_states_verdict_findings_and_limits() -> None:
    text = markdown.render(reports.failing())
    assert "**FAIL &#40;level L0&#41;&#58; 2 failures, 1 warning, 1 could not be read**" in text
    assert "| ❌ fail | INV-2 content |" in text
    assert "What this run does not prove" in text
    assert markdown.render(reports.passing(), required=Level.L4).count("BELOW L4") == 1


def test_the_job_summary_counts_what_it_leaves_out() -> None:
    text = markdown.render(_with(*(Finding("x", f"s{n}") for n in range(25))))
    assert "- 5 more in the JSON report" in text


READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


@given(HOSTILE)
def test_text_from_facts_is_inert_in_markdown(text: str) -> None:
    line = markdown.inert(text)
    assert "\n" not in line
    tokens = READER.parse(f"| a |\n| --- |\n| x{line} |\n\n- <code>{line}</code> end\n")
    kinds = {child.type for token in tokens for child in token.children or ()}
    assert kinds <= {"text", "html_inline", "text_special"}
    tags = [c.content for t in tokens for c in t.children or () if c.type == "html_inline"]
    assert set(tags) <= {"<code>", "</code>", "<span>", "</span>"}
    assert [token.type for token in tokens].count("td_open") == 1


@pytest.mark.parametrize(
    ("report", "required", "word"),
    [
        (reports.passing(), None, "pass L2"),
        (reports.passing(), Level.L2, "pass L2"),
        (reports.passing(), Level.L3, "L2, below L3"),
        (reports.failing(), Level.L3, "fail"),
        (replace(reports.failing(), verdict="incomplete"), None, "incomplete"),
    ],
)
def test_a_badge_is_an_image_of_its_words(
    report: Report, required: Level | None, word: str
) -> None:
    root = ET.fromstring(badge.render(report, required=required))
    assert root.get("aria-label") == f"syn verify: {word}"
    texts = list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert [node.text for node in texts] == ["syn verify", word]
    ends = [float(n.get("x", "0")) + float(n.get("textLength", "0")) for n in texts]
    assert ends[0] < float(texts[1].get("x", "0"))
    assert ends[1] < float(root.get("width", "0"))
    assert not [n for n in root.iter() if n.tag.endswith(("script", "image", "a", "style"))]
