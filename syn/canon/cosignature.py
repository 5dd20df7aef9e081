"""C2SP tlog-cosignatures of type 0x04 (https://c2sp.org/tlog-cosignature).

A cosignature says: as of this time, this is the largest consistent tree I saw for this log. The
signed message does not name the cosigner, so one key is one cosigner, whatever names it signs
under: `cosigners` counts keys.
"""

import struct
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from syn.canon.note import Verified

TYPE = 0x04
_FORM = struct.Struct(">Q64s")
_MAX_TIME = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Cosigner:
    """One key that cosigned a checkpoint."""

    public: bytes
    name: str
    """The name of its first signature line."""
    time: int
    """Seconds since the epoch, as the cosigner says; the latest of its signatures."""


def message(time: int, text: bytes) -> bytes:
    """What a cosigner signs: the time and the whole checkpoint text."""
    return b"cosignature/v1\ntime %d\n" % time + text


def encode(time: int, signature: bytes) -> bytes:
    """The 72 bytes that follow the key ID: big-endian seconds, then the Ed25519 signature.

    Raises:
        ValueError: the time is negative or over 2^63-1, or the signature is not 64 bytes.
    """
    if not 0 <= time <= _MAX_TIME or len(signature) != _FORM.size - 8:
        raise ValueError("expected a time below 2^63 and a signature of 64 bytes")
    return _FORM.pack(time, signature)


def decode(data: bytes) -> tuple[int, bytes] | None:
    """Time and Ed25519 signature of a cosignature, or None when it has another form."""
    if len(data) != _FORM.size:
        return None
    time, signature = _FORM.unpack(data)
    return (time, signature) if time <= _MAX_TIME else None


def cosigners(
    verified: Iterable[Verified], *, other_than: Collection[bytes] = ()
) -> tuple[Cosigner, ...]:
    """The distinct keys among verified cosignatures, in the note's order.

    `other_than` holds public keys that do not count: the publisher's own.
    """
    found: dict[bytes, Cosigner] = {}
    for item in verified:
        decoded = decode(item.signature.signature)
        public, name = item.verifier.public, item.signature.name
        if item.verifier.type != TYPE or decoded is None or public in other_than:
            continue
        before = found.get(public, Cosigner(public, name, decoded[0]))
        found[public] = Cosigner(public, before.name, max(before.time, decoded[0]))
    return tuple(found.values())
