"""What a job is told, which lines a change wrote, and how much of a report it says."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from syn.errors import CannotError, UsageError
from syn.git.repository import open_repository
from syn.model.finding import Finding, InvariantResult, Status
from syn.model.report import Report
from syn.services.doors.ci import Change, _written, changed_lines, outside_input, read_change
from syn.services.doors.ci_job import MAX_SUMMARY, summary_of
from tests.support import reports
from tests.support.gitbox import GitBox

A, B = "a" * 40, "b" * 40


def _event(folder: Path, event: Any) -> dict[str, str]:
    path = folder / "event.json"
    path.write_text(json.dumps(event))  # noqa: TID251 - the runner's
    return {"GITHUB_EVENT_PATH": str(path), "GITHUB_SHA": B}


@pytest.mark.parametrize(
    ("event", "change"),
    [
        ({}, Change(B, "")),
        ({"before": A}, Change(B, A)),
        ({"before": "0" * 40}, Change(B, "")),
        ({"before": "main; rm -rf ."}, Change(B, "")),
        ({"before": f"{A}\n"}, Change(B, "")),
        ({"before": ["x"]}, Change(B, "")),
        ({"pull_request": {"head": {"sha": A}, "base": {"sha": B}}}, Change(A, B)),
        ({"pull_request": {"head": {"sha": A}}}, Change(A, "")),
        ({"pull_request": {"head": {"sha": A}, "base": "main"}}, Change(A, "")),
        ({"merge_group": {"head_sha": A}}, Change(B, "")),
    ],
)
def test_only_object_ids_are_taken_from_an_event(
    tmp_path: Path, event: Any, change: Change
) -> None:
    assert read_change(_event(tmp_path, event)) == change


@pytest.mark.parametrize("head", [{}, {"sha": "HEAD"}, {"sha": A.upper()}, {"sha": "0" * 40}, 3])
def test_a_pull_request_without_a_head_is_not_guessed(tmp_path: Path, head: Any) -> None:
    with pytest.raises(CannotError) as caught:
        read_change(_event(tmp_path, {"pull_request": {"head": head}}))
    assert caught.value.code == "event"


def test_without_a_commit_there_is_no_job() -> None:
    with pytest.raises(UsageError) as caught:
        read_change({"GITHUB_SHA": "main"})
    assert caught.value.code == "no-job"


def test_an_input_is_a_name_or_a_text(tmp_path: Path) -> None:
    assert outside_input(tmp_path, "k", "") == ""
    assert outside_input(tmp_path, "k", " keys/a.pub\n") == "keys/a.pub"
    assert outside_input(tmp_path, "k", A) == A
    assert outside_input(tmp_path, "k", "0" * 40) == ""
    for text in ("ssh-ed25519 AAAA me", "name+1a2b3c4d+AXyz", "one\ntwo"):
        path = outside_input(tmp_path, "k", f"\n{text}\n")
        assert Path(path).read_text() == f"{text}\n"
    named = tmp_path / "a+b"
    named.write_text("x")
    assert outside_input(tmp_path, "k", str(named)) == str(named)


def test_lines_are_those_since_the_branch_left_its_base(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "r")
    text = "".join(f"line {n}\n" for n in range(9))
    box.commit("one", {"a.md": text, "b.md": text, "gone.md": text})
    box.git("checkout", "-q", "-b", "topic")
    changed = text.replace("line 2", "LINE 2").replace("line 6", "LINE 6\nmore")
    head = box.commit("two", {"a.md": changed, "new.md": "x\ny\n", "gone.md": None})
    box.git("checkout", "-q", "main")
    base = box.commit("three", {"b.md": text.replace("line 4", "elsewhere")})
    repository = open_repository(box.path)
    asked = ["a.md", "b.md", "new.md", "gone.md", "none.md"]
    found = changed_lines(repository, Change(head, base), asked)
    assert found == {"a.md": (3, 7, 8), "new.md": (1, 2), "gone.md": ()}
    assert changed_lines(repository, Change(head, ""), asked) == {}
    assert changed_lines(repository, Change(head, A), asked) == {}
    assert changed_lines(repository, Change(A, base), asked) == {}
    assert changed_lines(repository, Change(head, base), []) == {}


LINES = st.lists(st.sampled_from([b"a", b"b", b"c"]), max_size=8)


@given(LINES, LINES)
def test_equal_texts_have_no_changed_lines_and_others_stay_inside(
    old: list[bytes], new: list[bytes]
) -> None:
    found = list(_written(old, new))
    assert set(found) <= set(range(1, len(new) + 1))
    assert found == sorted(set(found))
    assert (not found) if old == new else (bool(found) or len(new) < len(old))


def _report(number: int, text: str) -> Report:
    findings = tuple(Finding("x", f"s{n}", f"f{n}", 1, text, text, text) for n in range(number))
    results = tuple(
        InvariantResult(f"INV-{n}", "t", "A", Status.FAIL, "s", {}, findings) for n in range(12)
    )
    return replace(reports.failing(), invariants=results)


@pytest.mark.parametrize("number", [1, 50])
def test_a_summary_is_bounded(number: int) -> None:
    text = summary_of(_report(number, "@" * 5000), Change(A, ""), None, ("a note",))
    assert len(text.encode()) <= MAX_SUMMARY
    assert "**FAIL" in text
    assert f"<code>{A}</code>" in text
    assert text.endswith("- a note\n")
