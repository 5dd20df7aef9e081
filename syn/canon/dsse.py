"""DSSE 1.0 envelopes (https://github.com/secure-systems-lab/dsse): what is signed, and its JSON.

The signed bytes are the pre-authentication encoding of type and payload, never the envelope; the
payload that was verified is handed out, so that nobody reads the envelope a second time. A `keyid`
is a hint that nothing authenticates.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from syn.canon import base64, json
from syn.canon.json import CanonError
from syn.errors import RefusedError
from syn.model.finding import Json

MAX_BYTES = 32 << 20
MAX_SIGNATURES = 100


class EnvelopeError(RefusedError):
    """Bytes that are no DSSE envelope, or over the limits: `envelope-limit`, `envelope-form`."""


@dataclass(frozen=True, slots=True)
class EnvelopeSignature:
    """One signature over the pre-authentication encoding."""

    keyid: str
    """A hint; "" when it is left out."""
    sig: bytes


@dataclass(frozen=True, slots=True)
class Envelope:
    """A payload, its type and the signatures over both; not verified."""

    payload_type: str
    payload: bytes
    signatures: tuple[EnvelopeSignature, ...]


def pae(payload_type: str, payload: bytes) -> bytes:
    """The signed bytes; lengths count bytes, not characters.

    Raises:
        EnvelopeError: the type is not ASCII, on which implementations count differently.
    """
    if not payload_type.isascii():
        raise EnvelopeError("envelope-form", "expected a payload type in ASCII")
    kind = payload_type.encode()
    return b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload)


def render(envelope: Envelope) -> bytes:
    """The envelope as canonical JSON; `keyid` is always written, as some readers need it."""
    return json.encode(
        {
            "payload": base64.encode(envelope.payload),
            "payloadType": envelope.payload_type,
            "signatures": [
                {"keyid": item.keyid, "sig": base64.encode(item.sig)}
                for item in envelope.signatures
            ],
        }
    )


def parse(data: bytes) -> Envelope:
    """Read an envelope in any spelling of its JSON; checks its form only.

    Unknown members are ignored, as the specification asks; doubled ones are refused.

    Raises:
        EnvelopeError: it is no envelope, or over 32 MiB or 100 signatures.
    """
    if len(data) > MAX_BYTES:
        raise EnvelopeError(
            "envelope-limit", f"expected an envelope of at most 32 MiB, got {len(data)} bytes"
        )
    try:
        value = json.parse(data)
    except CanonError as error:
        raise _form(error.message) from error
    match value:
        case {"payload": str(payload), "payloadType": str(kind), "signatures": list(signatures)}:
            pass
        case _:
            raise _form("expected payload, payloadType and signatures")
    if not kind.isascii() or not kind:
        raise _form("expected a payload type in ASCII")
    return Envelope(kind, _base64(payload, "payload"), _signatures(signatures))


def _signatures(items: Iterable[Json]) -> tuple[EnvelopeSignature, ...]:
    result = []
    for item in items:
        match item:
            case {"sig": str(sig), "keyid": str(keyid)}:
                result.append(EnvelopeSignature(keyid, _base64(sig, "sig")))
            case {"sig": str(sig), **rest} if "keyid" not in rest:
                result.append(EnvelopeSignature("", _base64(sig, "sig")))
            case _:
                raise _form("expected signatures with sig and keyid as text")
        if len(result) > MAX_SIGNATURES:
            raise EnvelopeError("envelope-limit", f"expected at most {MAX_SIGNATURES} signatures")
    if not result:
        raise _form("expected at least one signature")
    return tuple(result)


def _base64(text: str, what: str) -> bytes:
    data = base64.decode_either(text)
    if data is None:
        raise _form(f"{what} is not canonical Base64")
    return data


def _form(message: str) -> EnvelopeError:
    return EnvelopeError("envelope-form", f"not a DSSE envelope: {message}")
