"""The bytes of a report that are signed are RFC 8785 bytes."""

import rfc8785

from syn.report import sarif, statement, vsa
from syn.report.document import comparable, signable, to_json
from syn.report.members import load
from tests.support import reports


def test_signed_and_compared_bytes_are_jcs() -> None:
    for report in (reports.passing(), reports.failing()):
        document = to_json(report)
        for data in (signable(document), comparable(document)):
            assert rfc8785.dumps(load(data)) == data


def test_payloads_and_sarif_are_jcs() -> None:
    for data in (statement.payload(reports.passing()), vsa.payload(reports.passing())):
        assert rfc8785.dumps(load(data)) == data
    assert load(rfc8785.dumps(sarif.to_sarif(reports.failing()))) == sarif.to_sarif(
        reports.failing()
    )
