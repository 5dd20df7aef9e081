"""C2SP signed notes (https://c2sp.org/signed-note): text that one or more keys sign.

`parse` is stricter than the specification asks: Base64 has one spelling, a note is at most 1 MiB
with at most 100 signatures. The text of a note means nothing before `verify` has returned. What a
key does is behind two small ports, so that this module holds no cryptography.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from syn.canon import base64
from syn.errors import CannotError, RefusedError

MAX_BYTES = 1 << 20
MAX_SIGNATURES = 100
KEY_ID_SIZE = 4
_DASH = "\N{EM DASH} "


class NoteError(RefusedError):
    """A note that is malformed, too large, or carries a bad signature of a known key.

    Codes: `note-limit`, `note-form`, `note-name`, `note-base64`, `note-ambiguous-key`,
    `note-bad-signature`.
    """


class UnknownKeyError(CannotError):
    """No signature of the note is under a key the caller trusts (`note-unknown-key`)."""


@dataclass(frozen=True, slots=True)
class NoteSignature:
    """One signature line."""

    name: str
    key_id: bytes
    """Four bytes, big-endian; a hint, never proof of which key it is."""
    signature: bytes
    """What follows the key ID; its form depends on the key's type."""


@dataclass(frozen=True, slots=True)
class Note:
    """A note that has the right form; says nothing yet about who signed it."""

    text: str
    """Ends in a newline, without the separating blank line."""
    signatures: tuple[NoteSignature, ...]


@dataclass(frozen=True, slots=True)
class Verifier:
    """A key the caller trusts to sign notes under this name."""

    name: str
    key_id: bytes
    type: int
    """Signature type byte: 0x01 Ed25519, 0x04 timestamped Ed25519 cosignature."""
    public: bytes
    """The public key's bytes: two verifiers with equal bytes are one party."""
    check: Callable[[bytes, bytes], bool]
    """Whether the second argument is a signature of this key over the note text."""


@dataclass(frozen=True, slots=True)
class Signer:
    """A key that signs notes under this name; the counterpart of `Verifier`."""

    name: str
    key_id: bytes
    sign: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Verified:
    """A signature that verified, and the key that made it."""

    verifier: Verifier
    signature: NoteSignature


def parse(data: bytes) -> Note:
    """Read a note; checks its form only.

    Raises:
        NoteError: it is not a signed note, or over the limits.
    """
    if len(data) > MAX_BYTES:
        raise NoteError("note-limit", f"expected a note of at most 1 MiB, got {len(data)} bytes")
    try:
        whole = data.decode()
    except UnicodeDecodeError as error:
        raise NoteError("note-form", "expected UTF-8 in a note") from error
    if any(char < " " and char != "\n" for char in whole):
        raise NoteError("note-form", "a note holds a control character")
    # The text may hold blank lines; the last one separates it from the signatures.
    text, blank, tail = whole.rpartition("\n\n")
    if not blank or not tail.endswith("\n"):
        raise NoteError("note-form", "expected text, a blank line and signature lines")
    lines = tail[:-1].split("\n")
    if len(lines) > MAX_SIGNATURES:
        raise NoteError(
            "note-limit", f"expected at most {MAX_SIGNATURES} signatures, got {len(lines)}"
        )
    return Note(f"{text}\n", tuple(_parse_signature(line) for line in lines))


def render(note: Note) -> bytes:
    """The bytes of a note; `parse(render(note)) == note`."""
    lines = (
        f"{_DASH}{item.name} {base64.encode(item.key_id + item.signature)}\n"
        for item in note.signatures
    )
    return f"{note.text}\n{''.join(lines)}".encode()


def is_key_name(name: str) -> bool:
    """Whether the text may name a key: Unicode, not empty, no space, no plus, no control."""
    return bool(name) and not any(
        char.isspace() or char == "+" or char < " " or "\ud800" <= char <= "\udfff" for char in name
    )


def sign(text: str, signers: Sequence[Signer]) -> Note:
    """A note over the text, signed by each signer in order; at least one.

    Raises:
        NoteError: the text or a signer's name has no form in a note.
    """
    return extend(Note(text, ()), signers)


def extend(note: Note, signers: Sequence[Signer]) -> Note:
    """The note with further signatures after those that it has.

    Raises:
        NoteError: the result would not read back.
    """
    message = note.text.encode()
    added = tuple(NoteSignature(item.name, item.key_id, item.sign(message)) for item in signers)
    result = replace(note, signatures=note.signatures + added)
    if parse(render(result)) != result:
        raise NoteError("note-form", "the text cannot be signed as a note")
    return result


def verify(note: Note, verifiers: Sequence[Verifier]) -> tuple[Verified, ...]:
    """Every signature under a trusted key, in the note's order; at least one.

    Signatures of keys that are not among the verifiers are ignored; one bad signature of a key that
    is among them refuses the whole note.

    Raises:
        NoteError: two trusted keys share name and key ID, or a trusted key's signature is bad.
        UnknownKeyError: no signature is under a trusted key.
    """
    known = _by_name(verifiers)
    message = note.text.encode()
    result = []
    for item in note.signatures:
        verifier = known.get((item.name, item.key_id))
        if verifier is None:
            continue
        if not verifier.check(message, item.signature):
            raise NoteError("note-bad-signature", f"the signature of {item.name} is not valid")
        result.append(Verified(verifier, item))
    if not result:
        names = ", ".join(sorted({item.name for item in note.signatures}))[:200]
        raise UnknownKeyError(
            "note-unknown-key",
            f"expected a signature under a trusted key, got signatures by {names}",
            "give the signer's public key, obtained from outside the repository",
        )
    return tuple(result)


def _by_name(verifiers: Sequence[Verifier]) -> dict[tuple[str, bytes], Verifier]:
    known: dict[tuple[str, bytes], Verifier] = {}
    for item in verifiers:
        other = known.setdefault((item.name, item.key_id), item)
        if (other.type, other.public) != (item.type, item.public):
            raise NoteError(
                "note-ambiguous-key", f"two trusted keys share the name {item.name} and the key ID"
            )
    return known


def _parse_signature(line: str) -> NoteSignature:
    name, space, encoded = line.removeprefix(_DASH).partition(" ")
    if not line.startswith(_DASH) or not space:
        raise NoteError("note-form", f"expected a signature line, got {line[:60]!r}")
    if not is_key_name(name):
        raise NoteError("note-name", f"expected a key name, got {name[:60]!r}")
    data = base64.decode(encoded)
    if data is None or len(data) <= KEY_ID_SIZE:
        raise NoteError("note-base64", f"the signature of {name[:60]} is not canonical Base64")
    return NoteSignature(name, data[:KEY_ID_SIZE], data[KEY_ID_SIZE:])
