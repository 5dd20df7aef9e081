"""What a caller trusts from outside an image: keys, and digests that were kept elsewhere."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.images.table import FactRef

KeyCheck: TypeAlias = Callable[[str, bytes, bytes], bool | None]
"""Port: (key fingerprint, message, signature) -> whether it holds; None for a key that is not
trusted."""

Staleness: TypeAlias = Literal["fresh", "changed", "superseded", "quarantined", "missing"]
StaleCheck: TypeAlias = Callable[[FactRef], Staleness]
"""Port: the state today of the fact that a page was made from."""

SignatureState: TypeAlias = Literal["none", "valid", "untrusted", "invalid"]


@dataclass(frozen=True, slots=True)
class Outside:
    """What the caller trusts from outside the image. The defaults trust nothing."""

    check_key: KeyCheck | None = None
    anchor: str = ""
    """Digest of the image that is expected, kept elsewhere."""
    signed: bool = False
    """Whether an image without a valid signature under a trusted key is a fault."""
    staleness: StaleCheck | None = None
    """The state today of the facts behind pages; None does not ask."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A key to sign an image with; the key itself stays where it is."""

    key: str
    """OpenSSH SHA-256 fingerprint of the public key."""
    sign: Callable[[bytes], bytes]
    """Ed25519 over a message."""
