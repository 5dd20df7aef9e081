"""Ed25519 private keys in OpenSSH files: make, load, save.

This is the adapter of the package: `load` and `save` touch the disk, at the paths they are given
and nowhere else, and `generate` takes its bytes from the operating system. A key file is readable
by its owner alone, as OpenSSH itself demands. OpenSSL is loaded only where a key is used.
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from syn.errors import CannotError, RefusedError
from syn.keys.public import PublicKey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

MAX_FILE = 64 << 10
_MODE = 0o600
_LOOSE = 0o077
_HEADER = b"-----BEGIN OPENSSH PRIVATE KEY-----\n"


class KeyFileError(CannotError):
    """A private key file that cannot be used.

    Codes: `key-missing`, `key-unreadable`, `key-form`, `key-type`, `key-passphrase`.
    """


class LooseKeyError(RefusedError):
    """A key file that others may read, or that is no plain file of this user (`key-mode`)."""


class KeyExistsError(RefusedError):
    """A key would overwrite a file (`key-exists`)."""


@dataclass(frozen=True, slots=True)
class PrivateKey:
    """An Ed25519 private key; its secret is not shown by `repr`."""

    public: PublicKey
    _secret: "Ed25519PrivateKey" = field(repr=False, compare=False)

    def sign(self, message: bytes) -> bytes:
        """The 64-byte Ed25519 signature over the message."""
        return self._secret.sign(message)


def generate() -> PrivateKey:
    """A fresh key, from the operating system's random bytes."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return _wrap(Ed25519PrivateKey.generate())


def from_seed(seed: bytes) -> PrivateKey:
    """The key of a 32-byte seed (RFC 8032), for fixed keys in fixtures.

    Raises:
        ValueError: the seed has another length.
    """
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return _wrap(Ed25519PrivateKey.from_private_bytes(seed))


def parse(data: bytes) -> PrivateKey:
    """Read the content of an OpenSSH private key file.

    Raises:
        KeyFileError: it is encrypted, of another type, or no private key.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_ssh_private_key

    if len(data) > MAX_FILE or not data.startswith(_HEADER):
        raise KeyFileError(
            "key-form",
            "expected an OpenSSH private key file",
            "make one with syn key init, or ssh-keygen -t ed25519",
        )
    try:
        key = load_ssh_private_key(data, password=None)
    except TypeError as error:
        raise KeyFileError(
            "key-passphrase",
            "the private key is protected by a passphrase, which Synapse does not ask for",
            "make a key of its own for Synapse with syn key init",
        ) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise KeyFileError("key-form", "the private key file is damaged") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise KeyFileError(
            "key-type", "expected an Ed25519 private key, got another type", "run syn key init"
        )
    return _wrap(key)


def render(key: PrivateKey) -> bytes:
    """The content of an OpenSSH private key file, without passphrase."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    return key._secret.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())


def load(path: Path) -> PrivateKey:
    """Read a key file that only its owner may read.

    Raises:
        KeyFileError: it is missing, unreadable, encrypted, or no Ed25519 key.
        LooseKeyError: others may read it, or it belongs to somebody else, or is no plain file.
    """
    try:
        return parse(_read_private(path))
    except FileNotFoundError as error:
        raise KeyFileError("key-missing", f"no key at {path}", "run syn key init") from error
    except OSError as error:
        raise KeyFileError("key-unreadable", f"cannot read {path}: {error.strerror}") from error


def save(key: PrivateKey, path: Path, comment: str = "") -> None:
    """Write a new private key file (mode 0600) and its `.pub` beside it; never overwrites.

    Raises:
        KeyExistsError: one of the two files is there.
        KeyFileError: they cannot be written (`key-unreadable`).
    """
    public = path.with_name(f"{path.name}.pub")
    for each in (path, public):
        if os.path.lexists(each):
            raise KeyExistsError("key-exists", f"{each} exists", "choose another name, or keep it")
    try:
        _write_new(path, render(key), _MODE)
        _write_new(public, f"{key.public.line(comment)}\n".encode(), 0o644)
    except OSError as error:
        raise KeyFileError("key-unreadable", f"cannot write {path}: {error.strerror}") from error


def _read_private(path: Path) -> bytes:
    """The file's bytes, read through the descriptor whose mode was checked."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        _check_mode(path, os.fstat(descriptor))
        return os.read(descriptor, MAX_FILE + 1)
    finally:
        os.close(descriptor)


def _check_mode(path: Path, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise LooseKeyError("key-mode", f"expected a plain file at {path}")
    mode = stat.S_IMODE(status.st_mode)
    if mode & _LOOSE:
        raise LooseKeyError(
            "key-mode",
            f"expected mode 0600 on {path}, got {mode:04o}: others may read the key",
            f"chmod 600 {path}",
        )
    if status.st_uid != os.geteuid():
        raise LooseKeyError("key-mode", f"{path} belongs to another user")


def _write_new(path: Path, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with open(os.open(path, flags, mode), "wb") as file:  # noqa: PTH123 - mode from the first byte
        os.fchmod(file.fileno(), mode)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _wrap(secret: "Ed25519PrivateKey") -> PrivateKey:
    raw = secret.public_key().public_bytes_raw()
    return PrivateKey(PublicKey(raw), secret)
