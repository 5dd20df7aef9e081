"""Check words: the syndrome of a page, recomputed at every read (docs/formats/image.md)."""

import hashlib
import re

from syn.canon.json import encode
from syn.images.table import Page

RECALL_WORD_DIGITS = 16
_RECALL_WORD = re.compile(r"[0-9a-f]{16}\Z")
_MASK = 2**64 - 1
_ONE = (1).to_bytes(8, "little")
_EIGHT = (8).to_bytes(8, "little")


def recall_word(page: Page) -> str:
    """The `recall.v1` word of a page: 64 bits of SHA-256 over digest, len, taint, seal and id."""
    return recall_word_of(page.digest, page.length, page.taint, page.sealed, page.qid)


def recall_word_of(digest: str, length: int, taint: int, sealed: bool, qid: str) -> str:
    """The `recall.v1` word of a state."""
    return recall_digest_of(digest, length, taint, sealed, qid)[:RECALL_WORD_DIGITS]


def recall_digest_of(digest: str, length: int, taint: int, sealed: bool, qid: str) -> str:
    """The SHA-256 that a word is cut from; fields are length-prefixed, integers little endian."""
    data = state_prefix(digest, length) + state_suffix(taint, sealed, qid)
    return hashlib.sha256(data).hexdigest()


def state_prefix(digest: str, length: int) -> bytes:
    """The hashed bytes of digest and length."""
    address = digest.encode()
    return (
        len(address).to_bytes(8, "little")
        + address
        + _EIGHT
        + (length & _MASK).to_bytes(8, "little")
    )


def state_suffix(taint: int, sealed: bool, qid: str) -> bytes:
    """The hashed bytes of taint, seal and seal id."""
    name = qid.encode()
    return b"".join(
        (_ONE, bytes((taint,)), _ONE, bytes((sealed,)), len(name).to_bytes(8, "little"), name)
    )


def is_recall_word(text: str) -> bool:
    """Whether the text is a `recall.v1` word: exactly 16 lower-case hex digits."""
    return _RECALL_WORD.match(text) is not None


def native_prefix(session: str) -> bytes:
    """What the words of one `synapse.image/1` session hash first: the domain and the session."""
    return b"synapse/image-page/1\n" + encode(session) + b"\n"


def native_word(prefix: bytes, row: bytes) -> str:
    """The `synapse.image/1` word: the full SHA-256 over the canonical row without its word."""
    return "sha256:" + hashlib.sha256(prefix + row).hexdigest()
