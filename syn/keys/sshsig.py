"""SSH signatures (OpenSSH PROTOCOL.sshsig), read strictly, Ed25519 only.

Everything `ssh-keygen -Y` refuses is refused here too; beyond that the outer reserved field is
empty, Base64 has one spelling, and nothing stands before or after the armor. What is merely not
supported (another key type) is told apart from what is wrong: nobody is accused for an RSA key.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.canon import base64
from syn.errors import CannotError, RefusedError
from syn.keys import public
from syn.keys.openssh import PrivateKey
from syn.keys.public import PublicKey, PublicKeyError
from syn.keys.wire import Reader, WireError, string, uint32

HashName: TypeAlias = Literal["sha256", "sha512"]
SignatureKind: TypeAlias = Literal["ssh", "openpgp", "x509", "unknown"]

NAMESPACE_GIT = "git"
NAMESPACE_REPORT = "synapse-report"
MAX_BYTES = 64 << 10
_BEGIN = "-----BEGIN SSH SIGNATURE-----"
_END = "-----END SSH SIGNATURE-----"
_FIRST_LINES: Mapping[bytes, SignatureKind] = {
    _BEGIN.encode(): "ssh",
    b"-----BEGIN PGP SIGNATURE-----": "openpgp",
    b"-----BEGIN PGP MESSAGE-----": "openpgp",
    b"-----BEGIN SIGNED MESSAGE-----": "x509",
}
"""The formats git itself tells apart (gpg-interface.c)."""
_MAGIC = b"SSHSIG"
_VERSION = 1
_WIDTH = 70
_MAX_WIDTH = 76
_USUAL = re.compile(
    rb"SSHSIG\0\0\0\x01\0\0\0\x33\0\0\0\x0bssh-ed25519\0\0\0\x20(.{32})"
    rb"\0\0\0\x03git\0\0\0\0\0\0\0\x06(sha512|sha256)"
    rb"\0\0\0\x53\0\0\0\x0bssh-ed25519\0\0\0\x40(.{64})\Z",
    re.DOTALL,
)
"""A whole Ed25519 signature in git's namespace."""
_ARMOR = re.compile(
    rb"-----BEGIN SSH SIGNATURE-----\n((?:[A-Za-z0-9+/]{70}\n){3}[A-Za-z0-9+/]{20,22}={0,2})\n"
    rb"-----END SSH SIGNATURE-----\n?\Z"
)
"""The armor that OpenSSH writes around it."""
_HASHES: Mapping[bytes, Callable[[bytes], bytes]] = {
    b"sha256": lambda data: hashlib.sha256(data).digest(),
    b"sha512": lambda data: hashlib.sha512(data).digest(),
}


class SshSignatureError(RefusedError):
    """A signature that is malformed or does not verify.

    Codes: `sshsig-limit`, `sshsig-armor`, `sshsig-form`, `sshsig-version`, `sshsig-namespace`,
    `sshsig-hash`, `sshsig-bad`.
    """


class UnsupportedSignatureError(CannotError):
    """A signature by a key type that Synapse does not verify (`sshsig-unsupported`)."""


@dataclass(frozen=True, slots=True)
class SshSignature:
    """The fields of a signature; not verified."""

    key: PublicKey
    namespace: str
    hash_name: HashName
    signature: bytes
    """64 bytes."""


def parse(armored: bytes) -> SshSignature:
    """Read an armored signature; checks its form only.

    Raises:
        SshSignatureError: it has another form.
        UnsupportedSignatureError: its key is not Ed25519.
    """
    shape = _ARMOR.match(armored)
    body = base64.decode(shape[1].replace(b"\n", b"").decode()) if shape else None
    blob = _dearmor(armored) if body is None else body
    usual = _USUAL.match(blob)
    if usual:
        name: HashName = "sha512" if usual[2] == b"sha512" else "sha256"
        return SshSignature(PublicKey(usual[1]), NAMESPACE_GIT, name, usual[3])
    return _parse_slowly(blob)


def _parse_slowly(blob: bytes) -> SshSignature:
    """The definition of the format; the pattern above only saves time on commits."""
    reader = Reader(blob)
    try:
        if reader.take(len(_MAGIC)) != _MAGIC:
            raise SshSignatureError("sshsig-form", "expected the preamble SSHSIG")
        version = reader.uint32()
        if version != _VERSION:
            raise SshSignatureError("sshsig-version", f"expected version 1, got {version}")
        key_blob, namespace, reserved = reader.string(), reader.string(), reader.string()
        hash_name, signature = reader.string(), reader.string()
        reader.end()
    except WireError as error:
        raise SshSignatureError("sshsig-form", f"malformed signature: {error}") from error
    if reserved:
        raise SshSignatureError("sshsig-form", "expected an empty reserved field")
    return SshSignature(
        key=_parse_key(key_blob),
        namespace=_parse_namespace(namespace),
        hash_name=_parse_hash(hash_name),
        signature=_parse_signature(signature),
    )


def kind_of(signature: bytes) -> SignatureKind:
    """What the content of a commit's signature header is, by its first line alone."""
    first = signature.split(b"\n", 1)[0]
    return _FIRST_LINES.get(first, "unknown")


def verify(armored: bytes, message: bytes, namespace: str) -> PublicKey:
    """The key that made this signature over the message in this namespace.

    Whether that key may sign anything is the policy's to say.

    Raises:
        SshSignatureError: it is malformed, of another namespace, or does not verify.
        UnsupportedSignatureError: its key is not Ed25519.
    """
    parsed = parse(armored)
    if parsed.namespace != namespace:
        raise SshSignatureError(
            "sshsig-namespace", f"expected the namespace {namespace}, got {parsed.namespace[:60]!r}"
        )
    signed = _signed_bytes(namespace, parsed.hash_name, message)
    if not parsed.key.verify(signed, parsed.signature):
        raise SshSignatureError("sshsig-bad", "the signature does not match the message")
    return parsed.key


def sign(key: PrivateKey, message: bytes, namespace: str, hash_name: HashName = "sha512") -> str:
    """An armored signature as `ssh-keygen -Y sign` writes it, ending in a newline."""
    signature = key.sign(_signed_bytes(namespace, hash_name, message))
    blob = b"".join(
        (
            _MAGIC,
            uint32(_VERSION),
            string(key.public.blob),
            string(namespace.encode()),
            string(b""),
            string(hash_name.encode()),
            string(string(public.KEY_TYPE.encode()) + string(signature)),
        )
    )
    encoded = base64.encode(blob)
    lines = (encoded[start : start + _WIDTH] for start in range(0, len(encoded), _WIDTH))
    return "\n".join((_BEGIN, *lines, _END, ""))


def _signed_bytes(namespace: str, hash_name: HashName, message: bytes) -> bytes:
    digest = _HASHES[hash_name.encode()](message)
    fields = (namespace.encode(), b"", hash_name.encode(), digest)
    return _MAGIC + b"".join(map(string, fields))


def _dearmor(armored: bytes) -> bytes:
    if len(armored) > MAX_BYTES:
        raise SshSignatureError(
            "sshsig-limit", f"expected a signature of at most 64 KiB, got {len(armored)} bytes"
        )
    try:
        lines = armored.decode("ascii").removesuffix("\n").split("\n")
    except UnicodeDecodeError as error:
        raise SshSignatureError("sshsig-armor", "expected ASCII in a signature") from error
    body = lines[1:-1]
    if not body or lines[0] != _BEGIN or lines[-1] != _END:
        raise SshSignatureError("sshsig-armor", f"expected one block from {_BEGIN} to {_END}")
    width = len(body[0])
    full, last = body[:-1], body[-1]
    if width > _MAX_WIDTH or any(len(line) != width for line in full) or len(last) > width:
        raise SshSignatureError("sshsig-armor", "expected Base64 lines of one width up to 76")
    blob = base64.decode("".join(body))
    if blob is None:
        raise SshSignatureError("sshsig-armor", "expected canonical Base64 in the armor")
    return blob


def _parse_key(blob: bytes) -> PublicKey:
    try:
        return public.from_blob(blob)
    except PublicKeyError as error:
        if error.code == "key-type":
            raise UnsupportedSignatureError(
                "sshsig-unsupported", f"the signature is not verified: {error.message}"
            ) from error
        raise SshSignatureError("sshsig-form", error.message) from error


def _parse_namespace(data: bytes) -> str:
    if not data or not data.isascii() or not data.decode().isprintable():
        raise SshSignatureError("sshsig-namespace", "expected a namespace in printable ASCII")
    return data.decode()


def _parse_hash(data: bytes) -> HashName:
    match data:
        case b"sha256":
            return "sha256"
        case b"sha512":
            return "sha512"
        case _:
            raise SshSignatureError(
                "sshsig-hash", f"expected sha256 or sha512, got {data[:20].hex()} (hex)"
            )


def _parse_signature(data: bytes) -> bytes:
    reader = Reader(data)
    try:
        kind, signature = reader.string(), reader.string()
        reader.end()
    except WireError as error:
        raise SshSignatureError("sshsig-form", f"malformed signature: {error}") from error
    if kind != public.KEY_TYPE.encode() or len(signature) != public.SIGNATURE_SIZE:
        raise SshSignatureError("sshsig-form", "expected an ssh-ed25519 signature of 64 bytes")
    return signature
