"""In-toto Statement and verification summary."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from syn.canon import statement as intoto
from syn.canon.json import encode, parse
from syn.canon.statement import StatementError
from syn.errors import RefusedError
from syn.model.finding import Level
from syn.model.report import Report
from syn.report import statement, vsa
from syn.report.document import signable, to_json
from syn.report.members import ReportFormatError
from syn.report.statement import NoCommitError, StatementMismatchError
from syn.report.vsa import NoSummaryError
from tests.support import reports

RESOURCE = f"urn:uuid:{reports.WORKSPACE}"


def _edited(data: bytes, edit: Callable[[Any], None]) -> bytes:
    value = parse(data)
    edit(cast("Any", value))
    return encode(value)


def test_the_predicate_is_what_is_signed_in_the_json_form() -> None:
    found = intoto.parse(statement.payload(reports.passing()))
    assert encode(dict(found.predicate)) == signable(to_json(reports.passing()))
    assert found.predicate_type == "synapse:verify-report/1"


def test_subjects_are_the_commit_with_its_tree_and_the_manifest() -> None:
    one, two = intoto.parse(statement.payload(reports.passing())).subjects
    assert one.name == RESOURCE
    assert dict(one.digest) == {"gitCommit": reports.COMMIT, "gitTree": reports.TREE}
    assert (two.name, dict(two.digest)) == ("manifest", {"sha256": "3c" * 32})


@pytest.mark.parametrize("make", [statement.payload, vsa.payload])
def test_what_no_commit_holds_is_named_by_no_statement(make: Callable[[Report], bytes]) -> None:
    with pytest.raises(NoCommitError) as caught:
        make(reports.failing())
    assert "--ref HEAD" in caught.value.remedy
    with pytest.raises(NoCommitError):
        make(replace(reports.passing(), manifest_digest=""))


def test_a_statement_is_read_as_the_report() -> None:
    assert statement.read(statement.payload(reports.passing())) == reports.passing()


@pytest.mark.parametrize(
    ("edit", "error"),
    [
        (lambda d: d.update(_type="x"), StatementError),
        (lambda d: d.update(predicateType="x"), StatementMismatchError),
        (lambda d: d["predicate"].update(sig="x"), ReportFormatError),
        (lambda d: d["predicate"].update(extra=1), ReportFormatError),
        (lambda d: d["subject"].reverse(), StatementMismatchError),
        (lambda d: d["subject"].pop(), StatementMismatchError),
        (lambda d: d["subject"][0]["digest"].update(gitCommit="0" * 40), StatementMismatchError),
        (lambda d: d["subject"][1]["digest"].update(sha256="0" * 64), StatementMismatchError),
        (lambda d: d["predicate"]["subject"].update(commit="0" * 40), StatementMismatchError),
        (lambda d: d["predicate"]["subject"].update(commit="", tree=""), StatementMismatchError),
        (lambda d: d["predicate"]["predicate"].update(verdict="maybe"), ReportFormatError),
    ],
)
def test_a_statement_that_does_not_hold_together_is_refused(
    edit: Callable[[Any], None], error: type[RefusedError]
) -> None:
    with pytest.raises(error):
        statement.read(_edited(statement.payload(reports.passing()), edit))


def _summary(data: bytes) -> vsa.Summary:
    return vsa.read(data, verifier=vsa.VERIFIER, resource=RESOURCE)


def test_a_pass_is_summarised_with_its_level() -> None:
    summary = _summary(vsa.payload(reports.passing()))
    assert summary.passed
    assert summary.levels == ("SYNAPSE_LEVEL_2",)
    assert summary.policy == "synapse:profile/standard"
    assert summary.time_verified == reports.TS
    assert summary.subjects == statement.subjects(reports.passing())


def test_a_failure_and_a_level_too_low_are_summarised_as_failed() -> None:
    failed = replace(reports.failing(), subject=reports.clean_subject())
    assert _summary(vsa.payload(failed)).levels == ("FAILED",)
    below = _summary(vsa.payload(reports.passing(), required=Level.L3))
    assert not below.passed
    assert below.policy == "synapse:profile/standard?require=L3"
    assert _summary(vsa.payload(reports.passing(), required=Level.L2)).passed


def test_an_incomplete_run_has_no_summary() -> None:
    with pytest.raises(NoSummaryError) as caught:
        vsa.payload(replace(reports.passing(), verdict="incomplete"))
    assert "--report" in caught.value.remedy


def test_the_summary_names_the_report_it_sums_up() -> None:
    predicate = cast("Any", parse(vsa.payload(reports.passing())))["predicate"]
    digest = reports.hex_of(statement.payload(reports.passing()))
    assert predicate["inputAttestations"] == [{"digest": {"sha256": digest}}]


@pytest.mark.parametrize(
    ("edit", "error"),
    [
        (lambda d: d.update(predicateType="x"), StatementMismatchError),
        (lambda d: d["predicate"]["verifier"].update(id="somebody"), StatementMismatchError),
        (lambda d: d["predicate"].update(resourceUri="urn:uuid:other"), StatementMismatchError),
        (lambda d: d["predicate"].update(verificationResult="FAILED"), StatementMismatchError),
        (lambda d: d["predicate"].update(verificationResult="passed"), ReportFormatError),
        (lambda d: d["predicate"].update(verifiedLevels=[]), StatementMismatchError),
        (lambda d: d["predicate"].update(verifiedLevels=["FAILED"]), StatementMismatchError),
        (lambda d: d["predicate"].pop("verifiedLevels"), ReportFormatError),
        (lambda d: d["predicate"].pop("policy"), ReportFormatError),
        (lambda d: d["predicate"].update(policy={}), ReportFormatError),
    ],
)
def test_a_summary_of_another_kind_is_refused(
    edit: Callable[[Any], None], error: type[RefusedError]
) -> None:
    with pytest.raises(error):
        _summary(_edited(vsa.payload(reports.passing()), edit))


def test_unknown_members_of_a_summary_are_ignored() -> None:
    data = _edited(
        vsa.payload(reports.passing()), lambda d: d["predicate"].update(slsaVersion="1.0")
    )
    assert _summary(data).passed
