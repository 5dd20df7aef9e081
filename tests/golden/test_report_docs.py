"""The worked examples and tables of the report's documentation hold."""

import base64
import re
import shutil
import subprocess

import pytest

from syn.cli import exits
from syn.model.finding import Level, Verdict
from syn.report import sarif, statement, vsa
from syn.report.document import SCHEMA, comparable, signable
from syn.report.members import load
from syn.report.parse import from_json, signature
from syn.report.verdict import verdict_line
from tests.support import golden, reports
from tests.support.shared import ROOT

REPORT = (ROOT / "docs" / "formats" / "report.md").read_text("utf-8")
EXITS = (ROOT / "docs" / "formats" / "exit-codes.md").read_text("utf-8")


def test_the_digests_of_the_worked_examples() -> None:
    document = load((golden.FOLDER / "signed.json").read_bytes())
    assert reports.hex_of(signable(document)) in REPORT
    assert reports.hex_of(comparable(document)) in REPORT
    assert len(set(re.findall(r"`[0-9a-f]{64}`", REPORT))) == 2


def test_the_signature_of_the_worked_example() -> None:
    document = load((golden.FOLDER / "signed.json").read_bytes())
    found = signature(document)
    assert found is not None
    sig, line = found
    assert line == golden.KEY.public.line()
    assert golden.KEY.public.verify(signable(document), base64.b64decode(sig))
    assert from_json(document) == reports.passing()


@pytest.mark.skipif(shutil.which("jq") is None, reason="needs jq")
@pytest.mark.parametrize("name", ["signed.json", "pass.json", "fail.json"])
def test_jq_gives_the_signed_and_the_comparable_bytes(name: str) -> None:
    path = golden.FOLDER / name
    document = load(path.read_bytes())
    local = ".predicate.local,.predicate.ts,.subject.git_ref,.subject.worktree"
    for program, expected in (
        ("del(.sig,.public_key)", signable(document)),
        (f"del(.sig,.public_key,{local})", comparable(document)),
    ):
        done = subprocess.run(
            ["jq", "-cjS", program, str(path)], capture_output=True, check=True, env={}
        )
        assert done.stdout == expected


def test_the_names_are_the_ones_in_the_code() -> None:
    for name in (
        SCHEMA,
        statement.PREDICATE_TYPE,
        statement.PAYLOAD_TYPE,
        vsa.PREDICATE_TYPE,
        vsa.VERIFIER,
        sarif.FINGERPRINT,
        sarif.NO_FILE,
    ):
        assert name in REPORT


def test_the_last_lines_are_the_ones_that_are_printed() -> None:
    for line in (
        verdict_line(reports.passing()),
        verdict_line(reports.failing()),
        verdict_line(reports.passing(), Level.L3),
    ):
        assert f"\n{line}\n" in REPORT


def test_every_member_of_a_report_is_documented() -> None:
    document = load((golden.FOLDER / "fail.json").read_bytes())
    predicate, subject = document["predicate"], document["subject"]
    assert isinstance(predicate, dict)
    assert isinstance(subject, dict)
    for part in (document, predicate, subject):
        for name in part:
            assert re.search(rf"`(subject|predicate)?\.?{name}[`.]", REPORT), name


def test_the_table_of_statuses_is_the_one_in_the_code() -> None:
    rows = {
        int(n): name for n, name in re.findall(r"^\| (\d+) \| ([a-z ]+) \|", EXITS, re.MULTILINE)
    }
    assert rows == {
        exits.OK: "pass",
        exits.FAIL: "fail",
        exits.USAGE: "usage",
        exits.INCOMPLETE: "incomplete",
        exits.BELOW_LEVEL: "below level",
        exits.INTERRUPTED: "interrupted",
    }


@pytest.mark.parametrize(
    ("verdict", "required", "status"),
    [
        ("pass", None, 0),
        ("pass", Level.L2, 0),
        ("fail", Level.L4, 1),
        ("incomplete", Level.L4, 3),
        ("pass", Level.L3, 4),
    ],
)
def test_the_table_of_verdicts_is_the_one_in_the_code(
    verdict: Verdict, required: Level | None, status: int
) -> None:
    assert exits.of_verdict(verdict, Level.L2, required) == status
