"""Signing a report and opening somebody else's (docs/formats/report.md, "Signature", "Statement").

Opening goes in one order: signature under a trusted key first, then the strict reading of what it
covers. A key that stands in the file is a hint that is never trusted.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from syn.canon import base64, dsse
from syn.canon.statement import PAYLOAD_TYPE
from syn.errors import CannotError, RefusedError
from syn.keys.openssh import PrivateKey
from syn.keys.public import PublicKey
from syn.keys.signing import sign_envelope, verify_envelope
from syn.model.report import Report
from syn.report import statement, vsa
from syn.report.document import Document, signable, signed
from syn.report.members import load
from syn.report.parse import from_json, signature
from syn.report.statement import StatementMismatchError
from syn.report.vsa import Summary


class ReportSignatureError(RefusedError):
    """A report without a signature (`report-unsigned`) or with a wrong one (`report-signature`)."""


class UnknownReportKeyError(CannotError):
    """No trusted key signed it: nothing is shown, neither good nor bad (`report-unknown-key`)."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A report under a trusted key."""

    report: Report
    signers: tuple[PublicKey, ...]
    """The trusted keys that signed it, at least one."""


@dataclass(frozen=True, slots=True)
class OpenedSummary:
    """A verification summary under a trusted key."""

    summary: Summary
    signers: tuple[PublicKey, ...]


def sign_document(document: Document, key: PrivateKey) -> Document:
    """The JSON form with its signature."""
    sig = base64.encode(key.sign(signable(document)))
    return signed(document, sig, key.public.line())


def seal(payload: bytes, keys: Sequence[PrivateKey]) -> bytes:
    """The DSSE envelope around `statement.payload` or `vsa.payload`."""
    return dsse.render(sign_envelope(PAYLOAD_TYPE, payload, keys))


def open_report(data: bytes, trusted: Sequence[PublicKey]) -> Opened:
    """A report in a file: the signed JSON form, or an envelope with a Statement.

    Raises:
        ReportFormatError, EnvelopeError, StatementError, StatementMismatchError: the file is no
            report, or does not hold together.
        ReportSignatureError, EnvelopeSignatureError: unsigned, or a signature is wrong.
        UnknownReportKeyError, UnknownEnvelopeKeyError: no trusted key signed it.
    """
    document = load(data)
    if "payloadType" in document:
        payload, signers = _open(data, trusted)
        return Opened(statement.read(payload), signers)
    signer = verify_document(document, trusted)
    return Opened(from_json(document), (signer,))


def open_summary(
    data: bytes, trusted: Sequence[PublicKey], *, verifier: str, resource: str
) -> OpenedSummary:
    """A verification summary in an envelope, of this verifier and about this resource.

    Raises:
        EnvelopeError, StatementError, StatementMismatchError, ReportFormatError: no summary, or not
            the expected one.
        EnvelopeSignatureError, UnknownEnvelopeKeyError: see `open_report`.
    """
    payload, signers = _open(data, trusted)
    return OpenedSummary(vsa.read(payload, verifier=verifier, resource=resource), signers)


def verify_document(document: Document, trusted: Sequence[PublicKey]) -> PublicKey:
    """The trusted key that signed a JSON report; its content is not looked at.

    Raises:
        ReportSignatureError: unsigned, or the key it names is trusted and did not sign this.
        UnknownReportKeyError: no trusted key signed it.
    """
    found = signature(document)
    if found is None:
        raise ReportSignatureError(
            "report-unsigned",
            "expected a signed report, got an unsigned one",
            "verify the workspace yourself, or ask for a signed report",
        )
    sig, line = found
    raw, message = base64.decode(sig), signable(document)
    signer = next((key for key in trusted if raw and key.verify(message, raw)), None)
    if signer is not None:
        return signer
    if line in {key.line() for key in trusted}:
        raise ReportSignatureError(
            "report-signature",
            "the signature does not match the report and the trusted key it names",
            "do not rely on this file",
        )
    raise UnknownReportKeyError(
        "report-unknown-key",
        "expected a signature under a trusted key, got none",
        "give the signer's public key, obtained from outside the repository",
    )


def _open(data: bytes, trusted: Sequence[PublicKey]) -> tuple[bytes, tuple[PublicKey, ...]]:
    envelope = dsse.parse(data)
    signers = verify_envelope(envelope, trusted)
    if envelope.payload_type != PAYLOAD_TYPE:
        raise StatementMismatchError(
            f"expected the payload type {PAYLOAD_TYPE}, got {envelope.payload_type!r:.80}"
        )
    return envelope.payload, signers
