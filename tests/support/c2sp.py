"""A second reader of C2SP files, written from the specifications alone.

It shares no code with `syn`: bytes and regular expressions here, other libraries' primitives, one
pass per file. Tests compare it with the product.

Specifications: https://c2sp.org/signed-note, /tlog-checkpoint, /tlog-cosignature, /tlog-proof.
"""

import base64
import hashlib
import re
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

_SIGNATURE = re.compile("— ([^\\s+]+) ([A-Za-z0-9+/]+={0,2})\n")


class RejectedError(Exception):
    """The file is not acceptable."""


@dataclass(frozen=True)
class Key:
    """A vkey."""

    name: str
    identifier: bytes
    kind: int
    raw: bytes


def read_key(line: str) -> Key:
    """`<name>+<hash>+<base64(type || key)>`."""
    name, _, rest = line.partition("+")
    identifier, _, material = rest.partition("+")
    data = base64.b64decode(material, validate=True)
    expected = hashlib.sha256(name.encode() + b"\n" + data).digest()[:4]
    if expected != bytes.fromhex(identifier):
        raise RejectedError("key id")
    return Key(name, expected, data[0], data[1:])


def open_note(data: bytes, keys: list[str]) -> tuple[bytes, list[str]]:
    """The text and the names of known keys that signed it."""
    known = {(key.name, key.identifier): key for key in map(read_key, keys)}
    try:
        whole = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise RejectedError("utf-8") from error
    if re.search("[\x00-\x09\x0b-\x1f]", whole):
        raise RejectedError("control character")
    cut = whole.rfind("\n\n")
    if cut < 0:
        raise RejectedError("no blank line")
    text, block = whole[: cut + 1].encode(), whole[cut + 2 :]
    if not re.fullmatch(f"(?:{_SIGNATURE.pattern})+", block):
        raise RejectedError("signature lines")
    signers = []
    for name, encoded in _SIGNATURE.findall(block):
        try:
            blob = base64.b64decode(encoded, validate=True)
        except ValueError as error:
            raise RejectedError("base64") from error
        if len(blob) < 5:
            raise RejectedError("short signature")
        key = known.get((name, blob[:4]))
        if key:
            _verify(key, text, blob[4:])
            signers.append(name)
    if not signers:
        raise RejectedError("no known key")
    return text, signers


def _verify(key: Key, text: bytes, signature: bytes) -> None:
    if key.kind == 4:
        seconds = int.from_bytes(signature[:8], "big")
        text, signature = f"cosignature/v1\ntime {seconds}\n".encode() + text, signature[8:]
    elif key.kind != 1:
        raise RejectedError("key type")
    try:
        Ed25519PublicKey.from_public_bytes(key.raw).verify(signature, text)
    except (InvalidSignature, ValueError) as error:
        raise RejectedError("signature") from error


def open_proof(data: bytes, keys: list[str], leaf: bytes | None = None) -> tuple[str, int, bytes]:
    """Origin, index and extra of a tlog-proof whose leaf (by default `extra`) is included."""
    match = re.match(
        rb"c2sp\.org/tlog-proof@v1\n(?:extra ([A-Za-z0-9+/=]+)\n)?index (0|[1-9][0-9]*)\n"
        rb"((?:[A-Za-z0-9+/]{43}=\n)*)\n",
        data,
    )
    if not match:
        raise RejectedError("proof")
    extra = base64.b64decode(match[1] or b"", validate=True)
    text, _ = open_note(data[match.end() :], keys)
    origin, size, root = text.decode().split("\n")[:3]
    path = [base64.b64decode(line) for line in match[3].split()]
    computed = fold(hash_leaf(extra if leaf is None else leaf), int(match[2]), int(size), path)
    if computed != base64.b64decode(root):
        raise RejectedError("inclusion")
    return origin, int(match[2]), extra


def hash_leaf(data: bytes) -> bytes:
    """RFC 6962 leaf hash."""
    return hashlib.sha256(b"\0" + data).digest()


def fold(leaf: bytes, index: int, size: int, path: list[bytes]) -> bytes:
    """The root an audit path leads to, by recursion from the root down (RFC 6962 section 2.1.1)."""
    if size == 1:
        if path or index:
            raise RejectedError("path length")
        return leaf
    if not path or index >= size:
        raise RejectedError("path length")
    split = 1 << ((size - 1).bit_length() - 1)
    *rest, sibling = path
    if index < split:
        return hashlib.sha256(b"\1" + fold(leaf, index, split, rest) + sibling).digest()
    right = fold(leaf, index - split, size - split, rest)
    return hashlib.sha256(b"\1" + sibling + right).digest()
