"""Signed reports, and what is refused when one is opened."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from syn.canon import base64, dsse
from syn.canon.json import encode, parse
from syn.errors import CannotError, SynError
from syn.keys import openssh
from syn.keys.signing import EnvelopeSignatureError, UnknownEnvelopeKeyError, sign_envelope
from syn.model.finding import Level
from syn.report import statement, vsa
from syn.report.document import Document, to_json
from syn.report.escape import json_text
from syn.report.members import ReportFormatError
from syn.report.seal import (
    ReportSignatureError,
    UnknownReportKeyError,
    open_report,
    open_summary,
    seal,
    sign_document,
)
from syn.report.statement import StatementMismatchError
from tests.support import reports

KEY = openssh.from_seed(bytes(range(32)))
OTHER = openssh.from_seed(bytes(32))
TRUSTED = [OTHER.public, KEY.public]
RESOURCE = f"urn:uuid:{reports.WORKSPACE}"


def _signed() -> Document:
    return sign_document(to_json(reports.passing()), KEY)


@pytest.mark.parametrize(
    "data",
    [
        encode(_signed()),
        json_text(_signed()).encode() + b"\n",
        seal(statement.payload(reports.passing()), [KEY]),
        seal(statement.payload(reports.passing()), [openssh.from_seed(b"x" * 32), KEY]),
    ],
)
def test_a_signed_report_is_opened_under_its_key(data: bytes) -> None:
    opened = open_report(data, TRUSTED)
    assert opened.report == reports.passing()
    assert opened.signers == (KEY.public,)


def test_a_summary_is_opened_under_its_key() -> None:
    data = seal(vsa.payload(reports.passing()), [KEY])
    opened = open_summary(data, TRUSTED, verifier=vsa.VERIFIER, resource=RESOURCE)
    assert opened.summary.levels == ("SYNAPSE_LEVEL_2",)
    assert opened.signers == (KEY.public,)
    for verifier, resource in (("other", RESOURCE), (vsa.VERIFIER, "urn:uuid:other")):
        with pytest.raises(StatementMismatchError):
            open_summary(data, TRUSTED, verifier=verifier, resource=resource)


def _payload_swapped() -> bytes:
    value = cast("Any", parse(seal(statement.payload(reports.passing()), [KEY])))
    other = replace(reports.passing(), level=Level.L3)
    value["payload"] = base64.encode(statement.payload(other))
    return encode(value)


def _edited(edit: Callable[[Any], None], *, resign: bool = False) -> bytes:
    document = cast("Any", parse(encode(_signed())))
    edit(document)
    return encode(sign_document(document, KEY) if resign else document)


def _signature_of_another() -> bytes:
    """A wrong signature under a trusted key's name."""
    return _edited(lambda d: d.update(sig=base64.encode(OTHER.sign(b"x"))))


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (encode(to_json(reports.passing())), ReportSignatureError),
        (_edited(lambda d: d["predicate"].update(level="L4")), ReportSignatureError),
        (_edited(lambda d: d.update(sig="AAAA")), ReportSignatureError),
        (_edited(lambda d: d.update(sig="not base64")), ReportSignatureError),
        (_edited(lambda d: d.update(sig=7)), ReportFormatError),
        (_edited(lambda d: d.update(public_key=None)), ReportFormatError),
        (_signature_of_another(), ReportSignatureError),
        (_edited(lambda d: d["predicate"].update(level="L9"), resign=True), ReportFormatError),
        (_edited(lambda d: d["predicate"].update(extra=1), resign=True), ReportFormatError),
        (_payload_swapped(), EnvelopeSignatureError),
        (seal(b"{}", [KEY]), SynError),
        (seal(vsa.payload(reports.passing()), [KEY]), StatementMismatchError),
        (
            dsse.render(sign_envelope("text/plain", statement.payload(reports.passing()), [KEY])),
            StatementMismatchError,
        ),
        (b"", ReportFormatError),
        (b'{"payloadType":1}', SynError),
    ],
)
def test_a_file_that_does_not_hold_together_is_refused(data: bytes, error: type[SynError]) -> None:
    with pytest.raises(error) as caught:
        open_report(data, TRUSTED)
    assert not isinstance(caught.value, CannotError)


@pytest.mark.parametrize(
    ("data", "error"),
    [
        (encode(_signed()), UnknownReportKeyError),
        (seal(statement.payload(reports.passing()), [KEY]), UnknownEnvelopeKeyError),
    ],
)
@pytest.mark.parametrize("trusted", [[], [OTHER.public]])
def test_an_unknown_key_is_neither_a_pass_nor_an_accusation(
    data: bytes, error: type[SynError], trusted: list[Any]
) -> None:
    with pytest.raises(error) as caught:
        open_report(data, trusted)
    assert isinstance(caught.value, CannotError)


def test_a_key_inside_the_file_is_only_a_hint() -> None:
    forged = sign_document(to_json(reports.passing()), OTHER)
    with pytest.raises(UnknownReportKeyError):
        open_report(encode(forged), [KEY.public])
    renamed = {**_signed(), "public_key": OTHER.public.line()}
    assert open_report(encode(renamed), [KEY.public]).signers == (KEY.public,)
