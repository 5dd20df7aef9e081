"""Trust files: the public keys that a caller gives with `--trust`, from outside the repository.

Each line is an OpenSSH public key, a line of an allowed-signers file, or a C2SP verifier key. A
file is read whole or not at all: a line that cannot be honoured stops it, because a trust root that
is silently smaller or wider than what was written is worse than none. Dates (`valid-before`) and
certificate authorities are such lines: position decides, never a date (ADR 0010).
"""

import re
from dataclasses import dataclass

from syn.canon.note import Note, Verifier
from syn.errors import CannotError
from syn.keys import public, signers, vkey
from syn.keys.public import KEY_TYPE, OTHER_TYPES, PublicKey, PublicKeyError
from syn.keys.signers import SignerLineError
from syn.keys.signing import note_verifier, verifiers_for
from syn.keys.vkey import TYPE_COSIGNATURE, VerifierKey, VerifierKeyError

MAX_BYTES = 1 << 20
NAMESPACE_NOTE = "synapse-checkpoint"
"""What `namespaces="…"` must name for a key to count for checkpoints and witnesses."""
_NAMESPACES = re.compile(r"[A-Za-z0-9@._-]+(?:,[A-Za-z0-9@._-]+)*\Z")


class TrustError(CannotError):
    """A trust file that cannot be honoured.

    Codes: `trust-empty`, `trust-limit`, `trust-form`, `trust-option`, `trust-key`.
    """


@dataclass(frozen=True, slots=True)
class TrustedKey:
    """One key of a trust file."""

    key: PublicKey
    line: int
    name: str = ""
    """Principals, comment or key name; shown, and binding only for a verifier key."""
    namespaces: tuple[str, ...] = ()
    """What the key may sign; empty means anything."""
    verifier: VerifierKey | None = None
    """Set on a C2SP verifier key: notes count only under its name and type."""

    def allows(self, namespace: str) -> bool:
        """Whether the key counts for this SSHSIG namespace, or for `synapse-checkpoint`.

        A cosigner's verifier key (type 0x04) states nothing but what it cosigns.
        """
        if self.verifier and self.verifier.type == TYPE_COSIGNATURE:
            return False
        return not self.namespaces or namespace in self.namespaces


@dataclass(frozen=True, slots=True)
class Trust:
    """The keys of a trust file, at least one."""

    keys: tuple[TrustedKey, ...]

    def for_namespace(self, namespace: str) -> tuple[PublicKey, ...]:
        """The keys that count for signatures in this namespace, each once."""
        return tuple(dict.fromkeys(item.key for item in self.keys if item.allows(namespace)))

    def note_verifiers(self, note: Note) -> tuple[Verifier, ...]:
        """Verifiers for a note: verifier keys as they are, other keys under the note's names."""
        named = tuple(note_verifier(item.verifier) for item in self.keys if item.verifier)
        known = {(item.name, item.key_id, item.public) for item in named}
        bare = (item.key for item in self.keys if not item.verifier and item.allows(NAMESPACE_NOTE))
        return named + tuple(
            item
            for item in verifiers_for(note, bare)
            if (item.name, item.key_id, item.public) not in known
        )


def parse(data: bytes) -> Trust:
    """Read a trust file.

    Raises:
        TrustError: it is empty, over 1 MiB, or holds a line that cannot be honoured; the message
            names the line.
    """
    if len(data) > MAX_BYTES:
        raise TrustError("trust-limit", "expected a trust file of at most 1 MiB")
    try:
        lines = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise TrustError("trust-form", "expected UTF-8 in a trust file") from error
    keys = tuple(
        _parse_line(line.strip(), number)
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.lstrip().startswith("#")
    )
    if not keys:
        raise TrustError("trust-empty", "the trust file holds no key")
    return Trust(keys)


def _parse_line(line: str, number: int) -> TrustedKey:
    try:
        words = line.split(None, 1)
        if words[0] in OTHER_TYPES or words[0] == KEY_TYPE:
            key, comment = public.parse_line(line)
            return TrustedKey(key, number, comment)
        if len(words) == 1 and "+" in line:
            named = vkey.parse(line)
            return TrustedKey(named.key, number, named.name, verifier=named)
        return _parse_signer(line, number)
    except (PublicKeyError, VerifierKeyError) as error:
        raise TrustError("trust-key", f"line {number}: {error.message}", error.remedy) from error
    except SignerLineError as error:
        raise TrustError(
            "trust-form",
            f"line {number}: {error.message}",
            "one key a line: ssh-ed25519 AAAA…, an allowed-signers line, or a C2SP verifier key",
        ) from error


def _parse_signer(line: str, number: int) -> TrustedKey:
    parts = signers.parse(line)
    namespaces: tuple[str, ...] = ()
    for name, value in parts.options:
        if name != "namespaces" or not _NAMESPACES.match(value or ""):
            raise TrustError(
                "trust-option",
                f"line {number}: the option {name} is not honoured as it is written",
                "name the key without dates, authorities and patterns",
            )
        namespaces = tuple((value or "").split(","))
    key = public.from_words(parts.key_type, parts.encoded)
    return TrustedKey(key, number, parts.principals, namespaces)
