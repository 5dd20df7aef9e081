"""What a write is asked to do: entries, files, and who records them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from syn.canon.digest import sha256
from syn.errors import RefusedError
from syn.git import durable
from syn.git.parse import Ident
from syn.ledger.build import Draft, Signer


class OutOfDateError(RefusedError):
    """A file is not what the decision was made on."""

    def __init__(self, path: str, expected: str, actual: str) -> None:
        super().__init__(
            "out-of-date",
            f"{path}: expected {expected or 'no file'}, got {actual or 'no file'}: "
            "it changed after it was read",
            "look at it again and repeat the command",
        )


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file that a decision writes or removes."""

    path: str
    data: bytes | None
    """None removes the file."""
    base: str
    """Digest of the bytes on disk that the decision was made on; "" when there was no file."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Entries to record, the files they change, and the files they only take as they are."""

    drafts: tuple[Draft, ...]
    changes: tuple[FileChange, ...] = ()
    adopted: tuple[str, ...] = ()
    """Paths whose bytes in the work tree (or absence) are recorded as they are."""
    message: str = ""
    """First line of the commit."""
    discard: tuple[str, ...] = ()
    """Names of files under `<common git dir>/synapse/pending` that the decision settles."""
    forget: tuple[str, ...] = ()
    """Digests of bytes that git keeps for syn and shall not any more."""


@dataclass(frozen=True, slots=True)
class Recorder:
    """Who commits and signs."""

    ident: Ident
    signer: Signer | None = None
    sign_commit: Callable[[bytes], str] | None = None


def check_bases(root: Path, decision: Decision) -> None:
    """Look at every file before anything is done.

    Raises:
        OutOfDateError: a file is not the one that the decision was made on.
        LinkedPathError: it would be written through a link, which would stop the write half-way.
    """
    with durable.Folders(root) as folders:
        for change in decision.changes:
            durable.check_way(folders, change.path.encode())
    for change in decision.changes:
        actual = digest_of(root / change.path)
        if actual != change.base:
            raise OutOfDateError(change.path, change.base, actual)


def digest_of(path: Path) -> str:
    """The source digest of a file as it is now; "" when there is none."""
    data = bytes_of(path)
    return "" if data is None else sha256(data)


def bytes_of(path: Path) -> bytes | None:
    """The bytes of a file; None when there is none."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
