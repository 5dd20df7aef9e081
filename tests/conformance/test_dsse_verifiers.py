"""Envelopes against securesystemslib and OpenSSL."""

import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from securesystemslib import dsse as other
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer import (  # type: ignore[attr-defined]  # it has no __all__
    CryptoSigner,
    Key,
    SSlibKey,
)

from syn.canon import dsse, json, statement
from syn.canon.dsse import Envelope
from syn.canon.statement import Statement, Subject
from syn.keys import signing
from syn.keys.public import PublicKey
from tests.support.proofs import private_key

KEY = private_key(1)
PAYLOAD = statement.encode(
    Statement(
        (
            Subject("workspace", (("gitCommit", "a" * 40),)),
            Subject("manifest", (("sha256", "b" * 64),)),
        ),
        "https://example.org/report/v1",
        {"verdict": "pass", "summary": "é, \u2028 and \U0001f600"},
    )
)
ENVELOPE = signing.sign_envelope(statement.PAYLOAD_TYPE, PAYLOAD, [KEY])


def pem(key: PublicKey) -> bytes:
    loaded = Ed25519PublicKey.from_public_bytes(key.raw)
    return loaded.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def their_key(key: PublicKey) -> Key:
    return SSlibKey(key.fingerprint, "ed25519", "ed25519", {"public": key.raw.hex()})


def their_envelope(envelope: Envelope) -> other.Envelope:
    value = json.parse(dsse.render(envelope))
    assert isinstance(value, dict)
    return other.Envelope.from_dict(value)


def test_securesystemslib_verifies_our_envelope() -> None:
    found = their_envelope(ENVELOPE)
    assert found.pae() == dsse.pae(ENVELOPE.payload_type, ENVELOPE.payload)
    assert set(found.verify([their_key(KEY.public)], 1)) == {KEY.public.fingerprint}


def test_securesystemslib_refuses_another_key_and_another_payload() -> None:
    with pytest.raises(VerificationError):
        their_envelope(ENVELOPE).verify([their_key(private_key(2).public)], 1)
    swapped = Envelope(ENVELOPE.payload_type, PAYLOAD + b" ", ENVELOPE.signatures)
    with pytest.raises(VerificationError):
        their_envelope(swapped).verify([their_key(KEY.public)], 1)


def test_we_verify_what_securesystemslib_signs() -> None:
    signer = CryptoSigner.generate_ed25519()
    envelope = other.Envelope(PAYLOAD, statement.PAYLOAD_TYPE, {})
    envelope.sign(signer)
    ours = dsse.parse(json.encode(envelope.to_dict()))
    key = PublicKey(bytes.fromhex(signer.public_key.keyval["public"]))
    assert signing.verify_envelope(ours, [key]) == (key,)


@pytest.mark.parametrize(("payload", "expected"), [(PAYLOAD, 0), (PAYLOAD + b" ", 1)])
def test_openssl_verifies_the_signed_bytes(tmp_path: Path, payload: bytes, expected: int) -> None:
    (tmp_path / "key.pem").write_bytes(pem(KEY.public))
    (tmp_path / "sig").write_bytes(ENVELOPE.signatures[0].sig)
    (tmp_path / "pae").write_bytes(dsse.pae(ENVELOPE.payload_type, payload))
    done = subprocess.run(
        [
            "openssl",
            "pkeyutl",
            "-verify",
            "-pubin",
            "-inkey",
            "key.pem",
            "-rawin",
            "-in",
            "pae",
            "-sigfile",
            "sig",
        ],
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert done.returncode == expected
