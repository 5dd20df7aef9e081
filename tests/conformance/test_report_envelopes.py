"""Reports as other people's programs read them: securesystemslib, OpenSSL and OpenSSH."""

import base64
import json
import subprocess
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from securesystemslib.dsse import Envelope
from securesystemslib.exceptions import VerificationError
from securesystemslib.signer._key import SSlibKey

from syn.canon import dsse
from syn.keys import openssh, sshsig
from syn.keys.signing import sign_envelope, verify_envelope
from syn.report import statement, vsa
from syn.report.document import signable, signed, to_json
from syn.report.escape import json_text
from syn.report.members import load
from tests.support import reports

KEY = openssh.from_seed(bytes(range(32)))
OTHER = openssh.from_seed(bytes(32))
PAYLOADS = {
    "report": statement.payload(reports.passing()),
    "vsa": vsa.payload(reports.passing()),
}


def _their_key(key: openssh.PrivateKey) -> SSlibKey:
    return SSlibKey(key.public.fingerprint, "ed25519", "ed25519", {"public": key.public.raw.hex()})


def _pem(tmp_path: Path) -> Path:
    path = tmp_path / "key.pem"
    public = Ed25519PublicKey.from_public_bytes(KEY.public.raw)
    path.write_bytes(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path


def _openssl(pem: Path, message: bytes, signature: bytes, folder: Path) -> int:
    (folder / "message").write_bytes(message)
    (folder / "sig").write_bytes(signature)
    words = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", str(pem), "-rawin"]
    words += ["-in", str(folder / "message"), "-sigfile", str(folder / "sig")]
    return subprocess.run(words, capture_output=True, check=False).returncode


@pytest.mark.parametrize("kind", PAYLOADS)
def test_securesystemslib_verifies_the_envelope(kind: str) -> None:
    data = dsse.render(sign_envelope(statement.PAYLOAD_TYPE, PAYLOADS[kind], [KEY]))
    envelope = Envelope.from_dict(json.loads(data))
    assert envelope.payload_type == "application/vnd.in-toto+json"
    assert list(envelope.verify([_their_key(KEY)], 1)) == [KEY.public.fingerprint]
    with pytest.raises(VerificationError):
        envelope.verify([_their_key(OTHER)], 1)
    envelope.payload += b" "
    with pytest.raises(VerificationError):
        envelope.verify([_their_key(KEY)], 1)


@pytest.mark.parametrize("kind", PAYLOADS)
def test_openssl_verifies_what_the_envelope_signs(kind: str, tmp_path: Path) -> None:
    envelope = json.loads(dsse.render(sign_envelope(statement.PAYLOAD_TYPE, PAYLOADS[kind], [KEY])))
    payload = base64.b64decode(envelope["payload"])
    head = f"DSSEv1 {len(envelope['payloadType'])} {envelope['payloadType']} {len(payload)} "
    signature = base64.b64decode(envelope["signatures"][0]["sig"])
    pem = _pem(tmp_path)
    assert _openssl(pem, head.encode() + payload, signature, tmp_path) == 0
    assert _openssl(pem, head.encode() + payload + b" ", signature, tmp_path) != 0


def test_openssl_verifies_the_signature_of_the_json_form(tmp_path: Path) -> None:
    document = to_json(reports.passing())
    sig = base64.b64encode(KEY.sign(signable(document))).decode()
    written = load(json_text(signed(document, sig, KEY.public.line())).encode())
    pem = _pem(tmp_path)
    assert _openssl(pem, signable(written), base64.b64decode(sig), tmp_path) == 0
    other = to_json(reports.failing())
    assert _openssl(pem, signable(other), base64.b64decode(sig), tmp_path) != 0


def test_openssh_verifies_a_signature_over_the_envelope_file(tmp_path: Path) -> None:
    envelope = dsse.render(sign_envelope(statement.PAYLOAD_TYPE, PAYLOADS["report"], [KEY]))
    (tmp_path / "allowed").write_text(f"auditor {KEY.public.line()}\n")
    (tmp_path / "sig").write_text(sshsig.sign(KEY, envelope, "synapse-report"))
    words = ["ssh-keygen", "-Y", "verify", "-f", str(tmp_path / "allowed")]
    words += ["-I", "auditor", "-s", str(tmp_path / "sig"), "-n"]
    for namespace, status in (("synapse-report", 0), ("git", 255)):
        done = subprocess.run([*words, namespace], input=envelope, capture_output=True, check=False)
        assert done.returncode == status


def test_our_own_verifier_agrees() -> None:
    envelope = dsse.parse(
        dsse.render(sign_envelope(statement.PAYLOAD_TYPE, PAYLOADS["report"], [KEY]))
    )
    assert verify_envelope(envelope, [OTHER.public, KEY.public]) == (KEY.public,)
    assert statement.read(envelope.payload) == reports.passing()
