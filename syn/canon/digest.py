"""Digests: SHA-256, written `sha256:<hex>`, domain-separated (design 4)."""

import hashlib
import re

from syn.canon.json import encode

_DIGEST = re.compile(r"sha256:[0-9a-f]{64}\Z")


def sha256(data: bytes) -> str:
    """`sha256:<hex>` of the bytes as they are (source digests, files)."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def tagged(domain: str, data: bytes) -> str:
    r"""`sha256:<hex>` of `"synapse/<domain>\n"` + data; `domain` is like `payload/1`."""
    return sha256(f"synapse/{domain}\n".encode() + data)


def tagged_json(domain: str, value: object) -> str:
    """`tagged` over the canonical JSON of a value."""
    return tagged(domain, encode(value))


def is_digest(text: str) -> bool:
    """Whether the text is a digest as Synapse writes one."""
    return _DIGEST.match(text) is not None


def raw(digest: str) -> bytes:
    """The 32 bytes behind `sha256:<hex>`; the caller has checked `is_digest`."""
    return bytes.fromhex(digest.removeprefix("sha256:"))


def text(data: bytes) -> str:
    """`sha256:<hex>` of 32 bytes that are a digest already; the counterpart of `raw`."""
    return f"sha256:{data.hex()}"
