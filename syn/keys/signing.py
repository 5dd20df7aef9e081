"""Ed25519 behind the ports of notes and envelopes: who signs, and which keys a caller trusts."""

from collections.abc import Iterable, Sequence

from syn.canon import cosignature, dsse
from syn.canon.dsse import Envelope, EnvelopeSignature
from syn.canon.note import Note, Signer, Verifier
from syn.errors import CannotError, RefusedError
from syn.keys.openssh import PrivateKey
from syn.keys.policy import Policy
from syn.keys.public import PublicKey
from syn.keys.vkey import TYPE_COSIGNATURE, TYPE_ED25519, TYPES, VerifierKey, key_id


class EnvelopeSignatureError(RefusedError):
    """An envelope signature that names a trusted key and does not verify (`envelope-bad`)."""


class UnknownEnvelopeKeyError(CannotError):
    """No signature of an envelope is by a trusted key (`envelope-unknown-key`)."""


def note_signer(key: PrivateKey, name: str) -> Signer:
    """A signer of note texts (type 0x01); for a checkpoint the name is the log's origin."""
    return Signer(name, key_id(name, TYPE_ED25519, key.public), key.sign)


def cosigner(key: PrivateKey, name: str, time: int) -> Signer:
    """A signer of timestamped cosignatures (type 0x04); `time` is in seconds since the epoch."""

    def sign(text: bytes) -> bytes:
        return cosignature.encode(time, key.sign(cosignature.message(time, text)))

    return Signer(name, key_id(name, TYPE_COSIGNATURE, key.public), sign)


def note_verifier(key: VerifierKey) -> Verifier:
    """The verifier of a key under its name and type."""
    check = _check_cosignature if key.type == TYPE_COSIGNATURE else _check_text
    return Verifier(
        name=key.name,
        key_id=key.key_id,
        type=key.type,
        public=key.key.raw,
        check=lambda text, signature: check(key.key, text, signature),
    )


def verifiers_for(note: Note, keys: Iterable[PublicKey]) -> tuple[Verifier, ...]:
    """Verifiers for keys that carry no name, under the names that the note's signatures claim.

    A key ID binds a name to a key, so a signature line is taken for a key's only when its ID is the
    one that this key has under that name. Use it for keys the caller trusts whatever their name.
    """
    names = {item.name for item in note.signatures}
    known = {(item.name, item.key_id) for item in note.signatures}
    candidates = (
        VerifierKey(name, kind, key)
        for key in dict.fromkeys(keys)
        for name in sorted(names)
        for kind in TYPES
    )
    return tuple(note_verifier(item) for item in candidates if (item.name, item.key_id) in known)


def publisher_verifiers(policy: Policy, origin: str) -> tuple[Verifier, ...]:
    """Verifiers for the policy's publisher keys of the name that ends this origin, in any state.

    What a retired or compromised key still counts for is decided by position; look the key up with
    `policy.find(PublicKey(verifier.public))`.
    """
    name = origin.rpartition("/")[2]
    return tuple(
        note_verifier(VerifierKey(origin, TYPE_ED25519, item.key))
        for item in policy.with_role("publisher")
        if item.name == name
    )


def sign_envelope(payload_type: str, payload: bytes, keys: Sequence[PrivateKey]) -> Envelope:
    """An envelope signed by each key; `keyid` is the key's OpenSSH fingerprint."""
    message = dsse.pae(payload_type, payload)
    signatures = tuple(EnvelopeSignature(key.public.fingerprint, key.sign(message)) for key in keys)
    return Envelope(payload_type, payload, signatures)


def verify_envelope(envelope: Envelope, keys: Sequence[PublicKey]) -> tuple[PublicKey, ...]:
    """The trusted keys that signed the envelope, each once; at least one.

    Signatures that name no trusted key are tried against all of them and otherwise ignored.

    Raises:
        EnvelopeSignatureError: a signature names a trusted key and is not valid.
        UnknownEnvelopeKeyError: no trusted key signed it.
    """
    message = dsse.pae(envelope.payload_type, envelope.payload)
    by_id = {key.fingerprint: key for key in keys}
    found: dict[PublicKey, None] = {}
    for item in envelope.signatures:
        named = by_id.get(item.keyid)
        candidates = (named,) if named else tuple(by_id.values())
        signer = next((key for key in candidates if key.verify(message, item.sig)), None)
        if signer:
            found[signer] = None
        elif named:
            raise EnvelopeSignatureError(
                "envelope-bad", f"the signature of {item.keyid} does not match the payload"
            )
    if not found:
        raise UnknownEnvelopeKeyError(
            "envelope-unknown-key",
            "expected a signature under a trusted key, got none",
            "give the signer's public key, obtained from outside the repository",
        )
    return tuple(found)


def _check_text(key: PublicKey, text: bytes, signature: bytes) -> bool:
    return key.verify(text, signature)


def _check_cosignature(key: PublicKey, text: bytes, signature: bytes) -> bool:
    decoded = cosignature.decode(signature)
    if decoded is None:
        return False
    time, raw = decoded
    return key.verify(cosignature.message(time, text), raw)
