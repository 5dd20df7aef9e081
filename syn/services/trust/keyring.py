"""The keys of the person at this machine: OpenSSH files in their configuration folder.

Public halves are read freely; a private key is loaded only where something is signed. With
`SYNAPSE_KEY` set, the file it names is the only key there is.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from syn.errors import CannotError, UsageError
from syn.keys import openssh, public
from syn.keys.openssh import KeyFileError, PrivateKey
from syn.keys.policy import Policy, Role, allowed
from syn.keys.public import PublicKey, PublicKeyError
from syn.services.workspace import Surroundings

DEFAULT = "identity"
"""The slot of the key that `syn key init` makes and that signs reports."""
VARIABLE = "SYNAPSE_KEY"
_SLOT = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}\Z")


class NoKeyError(CannotError):
    """Something has to be signed, and there is no key here that may."""

    def __init__(self, message: str) -> None:
        super().__init__("no-key", message, "syn key init makes one; SYNAPSE_KEY names another")


@dataclass(frozen=True, slots=True)
class KeyFile:
    """One key of this person."""

    slot: str
    path: Path
    """The private key's file; it may be missing or unusable until `load`."""
    key: PublicKey
    comment: str = ""

    def load(self) -> PrivateKey:
        """The private key.

        Raises:
            KeyFileError, LooseKeyError: the file is missing, damaged or readable by others.
        """
        found = openssh.load(self.path)
        if found.public != self.key:
            raise KeyFileError(
                "key-form", f"{self.path} and its .pub are two different keys", "run ssh-keygen -y"
            )
        return found


def folder(around: Surroundings) -> Path:
    """Where the keys lie."""
    return around.config_dir / "keys"


def keys_here(around: Surroundings) -> tuple[KeyFile, ...]:
    """Every key of this person, the default one first, then by slot.

    Raises:
        KeyFileError: `SYNAPSE_KEY` names no key.
    """
    named = around.variables.get(VARIABLE, "")
    if named:
        return (_named(Path(named)),)
    found = sorted(_scan(folder(around)), key=lambda item: (item.slot != DEFAULT, item.slot))
    return tuple(found)


def _scan(place: Path) -> Iterator[KeyFile]:
    try:
        files = sorted(place.glob("*.pub"))
    except OSError:
        return
    for path in files:
        try:
            key, comment = public.parse_line(path.read_text("utf-8").strip())
        except (OSError, UnicodeDecodeError, PublicKeyError):
            continue
        yield KeyFile(path.stem, path.with_suffix(""), key, comment)


def _named(path: Path) -> KeyFile:
    beside = path.with_name(f"{path.name}.pub")
    try:
        key, comment = public.parse_line(beside.read_text("utf-8").strip())
    except (OSError, UnicodeDecodeError, PublicKeyError):
        return KeyFile(path.name, path, openssh.load(path).public)
    return KeyFile(path.name, path, key, comment)


def choose(keys: Iterable[KeyFile], policy: Policy | None, role: Role) -> KeyFile | None:
    """The first key that this policy lets act in the role, or None."""
    if policy is None:
        return None
    return next((item for item in keys if allowed(policy, item.key, role)), None)


def identity(around: Surroundings, policy: Policy | None = None) -> KeyFile | None:
    """The key that signs for this person: one that the policy knows as active, else the first."""
    keys = keys_here(around)
    known = (item for item in keys if policy and _active(policy, item.key))
    return next(known, keys[0] if keys else None)


def _active(policy: Policy, key: PublicKey) -> bool:
    found = policy.find(key)
    return found is not None and found.state == "active"


def make_key(around: Surroundings, slot: str, comment: str) -> tuple[KeyFile, bool]:
    """The key in a slot, made when there is none; whether it was made.

    Raises:
        UsageError: the slot's name is no plain file name.
        KeyFileError, LooseKeyError: a key is there and cannot be used, or none can be written.
    """
    if around.variables.get(VARIABLE):
        return keys_here(around)[0], False
    if not _SLOT.match(slot):
        raise UsageError("key-slot", f"expected letters, digits, `.`, `_`, `-`, got {slot!r:.40}")
    path = folder(around) / slot
    if path.exists():
        key = openssh.load(path).public
        return KeyFile(slot, path, key, comment), False
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise KeyFileError(
            "key-unreadable", f"cannot make {path.parent}: {error.strerror}"
        ) from error
    made = openssh.generate()
    openssh.save(made, path, comment)
    return KeyFile(slot, path, made.public, comment), True
