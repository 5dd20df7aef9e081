"""Strict standard Base64 (RFC 4648 section 4): one spelling per value.

Python's decoder, like Go's, takes some non-canonical spellings (trailing bits, stray characters).
Signed formats must have one, so the decoder here re-encodes and compares.
"""

import base64
import binascii


def encode(data: bytes) -> str:
    """The padded standard Base64 of the bytes, without line breaks."""
    return base64.b64encode(data).decode("ascii")


def decode(text: str) -> bytes | None:
    """The bytes behind the text, or None when it is not their one canonical spelling."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if encode(data) == text else None


def decode_either(text: str) -> bytes | None:
    """Like `decode`, but takes the URL-safe alphabet too, padded (DSSE section "Envelope")."""
    if ("-" in text or "_" in text) and ("+" in text or "/" in text):
        return None
    return decode(text.replace("-", "+").replace("_", "/"))
