"""Ed25519 public keys in OpenSSH's one-line form, and their fingerprints."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from syn.canon import base64
from syn.errors import CannotError
from syn.keys.wire import Reader, WireError, string

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

KEY_TYPE = "ssh-ed25519"
KEY_SIZE = 32
SIGNATURE_SIZE = 64
OTHER_TYPES = frozenset(
    {
        *("ssh-rsa", "ssh-dss", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384"),
        *("ecdsa-sha2-nistp521", "sk-ssh-ed25519@openssh.com"),
        "sk-ecdsa-sha2-nistp256@openssh.com",
    }
)
"""Key types of OpenSSH that Synapse recognises and does not verify."""


class PublicKeyError(CannotError):
    """Text or bytes that are no Ed25519 public key: `key-form`, `key-type`."""


@dataclass(frozen=True, slots=True)
class PublicKey:
    """An Ed25519 public key; equal keys are equal values."""

    raw: bytes
    """32 bytes (RFC 8032)."""

    @property
    def fingerprint(self) -> str:
        """`SHA256:<base64 without padding>`, as `ssh-keygen -l` prints it."""
        digest = hashlib.sha256(self.blob).digest()
        return f"SHA256:{base64.encode(digest).rstrip('=')}"

    @property
    def blob(self) -> bytes:
        """The key in SSH wire encoding."""
        return string(KEY_TYPE.encode()) + string(self.raw)

    def line(self, comment: str = "") -> str:
        """The key as one line of a `.pub` file, without newline; blanks in the comment fold."""
        return " ".join((KEY_TYPE, base64.encode(self.blob), *comment.split()))

    def verify(self, message: bytes, signature: bytes) -> bool:
        """Whether these are the 64 bytes of this key's Ed25519 signature over the message."""
        from cryptography.exceptions import InvalidSignature

        try:
            _loaded(self.raw).verify(signature, message)
        except InvalidSignature:
            return False
        return True


@lru_cache(maxsize=256)
def _loaded(raw: bytes) -> "Ed25519PublicKey":
    """OpenSSL's form of a key: a history has few keys and many signatures."""
    # Where nothing is signed, OpenSSL is not loaded.
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    return Ed25519PublicKey.from_public_bytes(raw)


def from_blob(blob: bytes) -> PublicKey:
    """Read a key in SSH wire encoding.

    Raises:
        PublicKeyError: it is of another type (`key-type`) or malformed (`key-form`).
    """
    reader = Reader(blob)
    try:
        kind = reader.string()
        if kind != KEY_TYPE.encode():
            shown = kind[:60].decode("ascii", "backslashreplace")
            raise _type_error(shown)
        raw = reader.string()
        reader.end()
    except WireError as error:
        raise PublicKeyError("key-form", f"malformed public key: {error}") from error
    if len(raw) != KEY_SIZE:
        raise PublicKeyError("key-form", f"expected a key of 32 bytes, got {len(raw)}")
    return PublicKey(raw)


def from_words(kind: str, encoded: str) -> PublicKey:
    """Read the two words of a public key line: `ssh-ed25519` and the Base64 blob.

    Raises:
        PublicKeyError: it is of another type (`key-type`) or malformed (`key-form`).
    """
    if kind != KEY_TYPE:
        raise _type_error(kind[:60])
    blob = base64.decode(encoded)
    if blob is None:
        raise PublicKeyError("key-form", "expected canonical Base64 after ssh-ed25519")
    return from_blob(blob)


def parse_line(line: str) -> tuple[PublicKey, str]:
    """Read one line of a `.pub` file: the key and its comment.

    Raises:
        PublicKeyError: it is no Ed25519 public key line.
    """
    words = line.split()
    if len(words) < 2:  # noqa: PLR2004 - type and key
        raise PublicKeyError("key-form", "expected a line like: ssh-ed25519 AAAA… comment")
    return from_words(words[0], words[1]), " ".join(words[2:])


def _type_error(shown: str) -> PublicKeyError:
    return PublicKeyError(
        "key-type",
        f"expected an {KEY_TYPE} key, got {shown}",
        "use an Ed25519 key: syn key init, or ssh-keygen -t ed25519",
    )
