"""C2SP verifier keys: `<name>+<8 hex key ID>+<base64(type || public key)>`.

Source: https://c2sp.org/signed-note, section "Verifier keys".
"""

import hashlib
import re
from dataclasses import dataclass

from syn.canon import base64
from syn.canon.note import KEY_ID_SIZE, is_key_name
from syn.errors import CannotError
from syn.keys.public import KEY_SIZE, PublicKey

TYPE_ED25519 = 0x01
TYPE_COSIGNATURE = 0x04
TYPES = (TYPE_ED25519, TYPE_COSIGNATURE)
_KEY_ID = re.compile(r"[0-9a-f]{8}\Z")
_PARTS = 3


class VerifierKeyError(CannotError):
    """Text that is no Ed25519 verifier key: `vkey-form`, `vkey-type`, `vkey-id`."""


@dataclass(frozen=True, slots=True)
class VerifierKey:
    """A named public key for notes."""

    name: str
    type: int
    """0x01 signs the note text, 0x04 signs timestamped cosignatures."""
    key: PublicKey

    @property
    def key_id(self) -> bytes:
        """The four bytes that signature lines carry."""
        return key_id(self.name, self.type, self.key)


def key_id(name: str, kind: int, key: PublicKey) -> bytes:
    r"""`SHA-256(name || "\n" || type || public key)[:4]`."""
    material = name.encode() + b"\n" + bytes([kind]) + key.raw
    return hashlib.sha256(material).digest()[:KEY_ID_SIZE]


def parse(text: str) -> VerifierKey:
    """Read a verifier key; its key ID must be the recommended one.

    Raises:
        VerifierKeyError: it is malformed, of another type, or its key ID belongs to another key.
    """
    parts = text.split("+", _PARTS - 1)
    if len(parts) != _PARTS or not is_key_name(parts[0]) or not _KEY_ID.match(parts[1]):
        raise VerifierKeyError("vkey-form", f"expected name+hash+key, got {text[:60]!r}")
    name, written_id, encoded = parts
    data = base64.decode(encoded)
    if not data:
        raise VerifierKeyError("vkey-form", f"the key of {name[:60]} is not canonical Base64")
    if data[0] not in TYPES:
        raise VerifierKeyError(
            "vkey-type", f"expected an Ed25519 key (type 1 or 4), got type {data[0]}"
        )
    if len(data) != KEY_SIZE + 1:
        raise VerifierKeyError("vkey-form", f"expected a key of 32 bytes, got {len(data) - 1}")
    result = VerifierKey(name, data[0], PublicKey(data[1:]))
    if result.key_id.hex() != written_id:
        raise VerifierKeyError(
            "vkey-id", f"expected the key ID {result.key_id.hex()}, got {written_id}"
        )
    return result


def render(key: VerifierKey) -> str:
    """The one-line form; `parse(render(key)) == key`."""
    material = base64.encode(bytes([key.type]) + key.key.raw)
    return f"{key.name}+{key.key_id.hex()}+{material}"
