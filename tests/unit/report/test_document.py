"""The JSON form of a report and its strict reading."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syn.canon.json import encode, parse
from syn.model.finding import Finding, InvariantResult, Level, Status
from syn.model.report import Report
from syn.report.document import Document, comparable, signable, signed, to_json
from syn.report.escape import json_text
from syn.report.members import ReportFormatError, load
from syn.report.parse import from_json, signature
from tests.support import reports


@pytest.mark.parametrize("report", [reports.passing(), reports.failing()])
def test_a_report_survives_being_written_and_read(report: Report) -> None:
    document = to_json(report)
    for data in (encode(document), json_text(document).encode()):
        assert to_json(from_json(load(data))) == document


def test_a_report_with_sorted_findings_is_read_as_the_same_value() -> None:
    assert from_json(to_json(reports.passing())) == reports.passing()


def test_findings_are_sorted_and_local_ones_stand_apart() -> None:
    predicate = cast("Any", to_json(reports.failing()))["predicate"]
    content = predicate["invariants"][1]["findings"]
    assert [finding["code"] for finding in content] == ["payload-changed", "reformatted"]
    assert predicate["invariants"][0]["findings"] == []
    (local,) = predicate["local"]["findings"]
    assert (local["invariant"], local["code"]) == ("INV-1", "index-diverged")


TEXT = st.text(st.characters(), max_size=3) | st.sampled_from(["", "\udc80", "\\z", "\ud800a"])
FINDINGS = st.lists(
    st.builds(
        Finding,
        code=st.sampled_from(["a", "b"]),
        subject=TEXT,
        path=TEXT,
        line=st.integers(0, 2),
        expected=TEXT,
        actual=TEXT,
        remedy=TEXT,
        severity=st.sampled_from(["failure", "warning", "unknown"]),
        local=st.booleans(),
    ),
    max_size=6,
)


@given(FINDINGS, st.randoms(use_true_random=False))
def test_any_findings_in_any_order_are_one_document(findings: list[Finding], random: Any) -> None:
    def document(some: list[Finding]) -> Document:
        result = InvariantResult("INV-2", "t", "A", Status.FAIL, "", {}, tuple(some))
        return to_json(replace(reports.failing(), invariants=(result,)))

    written = document(findings)
    shuffled = list(findings)
    random.shuffle(shuffled)
    assert document(shuffled) == written
    assert to_json(from_json(load(encode(written)))) == written


def test_two_machines_agree_on_everything_but_what_is_theirs() -> None:
    here = reports.passing()
    there = replace(
        here,
        subject=replace(here.subject, git_ref="HEAD", worktree="none"),
        local={"index": "absent", "locale": "fa_IR"},
        ts="2027-01-01T00:00:00.000000Z",
    )
    assert signable(to_json(here)) != signable(to_json(there))
    assert comparable(to_json(here)) == comparable(to_json(there))
    other = replace(there, manifest_digest="sha256:" + "ff" * 32)
    assert comparable(to_json(other)) != comparable(to_json(there))


def test_a_signature_changes_nothing_that_is_signed() -> None:
    document = to_json(reports.passing())
    both = signed(document, "c2ln", "ssh-ed25519 AAAA")
    assert signable(both) == signable(document)
    assert comparable(both) == comparable(document)
    assert signature(both) == ("c2ln", "ssh-ed25519 AAAA")
    assert signature(document) is None
    assert from_json(both) == reports.passing()
    with pytest.raises(ReportFormatError):
        signature({**document, "sig": "c2ln"})


def test_text_that_cannot_be_encoded_is_escaped_not_lost() -> None:
    finding = Finding("x", "a\udc80", "p\ud800", 1, "\udfff")
    result = InvariantResult(
        "INV-2", "t", "A", Status.FAIL, "s\udc80", {"k": ["\udc80", {"n": "\udc80"}]}, (finding,)
    )
    report = replace(
        reports.failing(), invariants=(result,), local={"x": "\udc80"}, limits=("\udc80",)
    )
    document = to_json(report)
    assert b"p\\\\ud800" in signable(document)
    assert to_json(from_json(document)) == document


def _set(path: str, value: object) -> Callable[[Any], None]:
    *steps, last = [int(s) if s.isdigit() else s for s in path.split(".")]

    def edit(document: Any) -> None:
        for step in steps:
            document = document[step]
        document[last] = value

    return edit


def _delete(path: str) -> Callable[[Any], None]:
    *steps, last = [int(s) if s.isdigit() else s for s in path.split(".")]

    def edit(document: Any) -> None:
        for step in steps:
            document = document[step]
        del document[last]

    return edit


DAMAGE = {
    "schema": _set("schema", "synapse.verify-report/2"),
    "missing member": _delete("subject.name"),
    "unknown member": _set("predicate.extra", 1),
    "no object": _set("subject", []),
    "no list": _set("predicate.limits", {}),
    "no text": _set("subject.name", 7),
    "digest": _set("subject.inputs_hash", "sha256:xyz"),
    "commit": _set("subject.commit", "HEAD"),
    "tree without commit": _set("subject.tree", reports.TREE),
    "object format": _set("subject.object_format", "sha256"),
    "work tree": _set("subject.worktree", "tidy"),
    "verdict": _set("predicate.verdict", "PASS"),
    "level": _set("predicate.level", "L5"),
    "level as number": _set("predicate.level", 2),
    "time": _set("predicate.ts", "yesterday"),
    "time with line": _set("predicate.ts", reports.TS + "\n"),
    "status": _set("predicate.invariants.0.status", "ok"),
    "invariant id": _set("predicate.invariants.0.id", "INV-01"),
    "invariant twice": _set("predicate.invariants.1.id", "INV-1"),
    "float": _set("predicate.invariants.0.evidence", {"x": 1.5}),
    "large integer": _set("predicate.invariants.0.evidence", {"x": 2**60}),
    "surrogate": _set("subject.name", "\ud800"),
    "line": _set("predicate.invariants.1.findings.0.line", -1),
    "line as bool": _set("predicate.invariants.1.findings.0.line", True),
    "severity": _set("predicate.invariants.1.findings.0.severity", "fatal"),
    "local finding of nothing": _set("predicate.local.findings.0.invariant", "INV-9"),
    "no local findings": _delete("predicate.local.findings"),
    "checkpoint": _set("predicate.checkpoint", {}),
    "none checked": _set("predicate.invariants", []),
    "pass over a failure": _set("predicate.verdict", "pass"),
    "incomplete over a failure": _set("predicate.verdict", "incomplete"),
    "level of a failure": _set("predicate.level", "L2"),
    "failure in a pass": _set("predicate.invariants.1.status", "pass"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_document_of_another_shape_is_refused(name: str) -> None:
    document = cast("Any", parse(encode(to_json(reports.failing()))))
    DAMAGE[name](document)
    with pytest.raises(ReportFormatError):
        from_json(document)


def test_findings_in_another_order_are_refused() -> None:
    document = cast("Any", to_json(reports.failing()))
    document["predicate"]["invariants"][1]["findings"].reverse()
    with pytest.raises(ReportFormatError, match="order"):
        from_json(document)


def test_a_pass_over_what_could_not_be_read_is_refused() -> None:
    results = (InvariantResult("INV-3", "history", "B", Status.INCOMPLETE, ""),)
    report = replace(reports.passing(), invariants=results, level=Level.L0)
    with pytest.raises(ReportFormatError, match="incomplete"):
        from_json(to_json(report))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"{",
        b"\xff",
        b'{"a":1,"a":1}',
        b'{"a":1.0}',
        b'{"a":NaN}',
        b"[" * 100_000,
        b'"x"',
    ],
)
def test_bytes_that_are_no_object_are_refused(data: bytes) -> None:
    with pytest.raises(ReportFormatError):
        load(data)


def test_a_refusal_names_the_place() -> None:
    document: Document = to_json(reports.failing())
    DAMAGE["line"](document)
    with pytest.raises(ReportFormatError, match=r"predicate\.invariants\[1\]\.findings\[0\]\.line"):
        from_json(document)


def test_invariants_are_in_order_and_there_is_one() -> None:
    report = reports.passing()
    for results, reason in (
        ((), "no invariant was checked"),
        (report.invariants[::-1], "order"),
        (report.invariants[:1] * 2, "order"),
    ):
        with pytest.raises(ReportFormatError, match=reason):
            from_json(to_json(replace(report, invariants=results)))


def test_only_a_document_is_compared() -> None:
    with pytest.raises(TypeError):
        comparable({"schema": "x", "subject": [], "predicate": {}})


def test_a_file_over_the_limit_is_not_read() -> None:
    with pytest.raises(ReportFormatError, match="at most"):
        load(b" " * (64 * 1024 * 1024 + 1))


def test_a_run_without_its_checkpoint_key_state_is_refused() -> None:
    document = cast("Any", to_json(reports.passing()))
    document["predicate"]["checkpoint"]["authorized"] = "yes"
    with pytest.raises(ReportFormatError, match="true or false"):
        from_json(document)
