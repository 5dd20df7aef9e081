"""What was learnt of a ledger when it was last decoded as a whole, so that reads need not.

A note says of one exact set of bytes that they are a ledger without a fault. That follows from the
bytes alone, so it is kept under their digest, and it is kept in the user's own cache, never in a
repository: what comes with a clone or an archive has no say in it. A read that finds a note decodes
and hashes the lines of the facts it hands out and leaves the rest; what verifies asks for no note
(ADR 0031).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from syn import __version__
from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.errors import CannotError
from syn.index.inputs import inputs_hash
from syn.services.recall.notes import note_file, read_note, write_note
from syn.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Note:
    """A ledger that was decoded as a whole, and found without a fault."""

    ledger: str
    """`ledger_digest` of it."""
    moved: Mapping[str, str]
    """As `LedgerView.moved`."""


def ledger_digest(ws: str, digests: tuple[tuple[bytes, str], ...]) -> str:
    """One digest for what decides whether a ledger holds: its files, its workspace, this program.

    Another version of this program may find a fault where this one finds none.
    """
    return sha256(canonical.encode([__version__, ws, inputs_hash(digests)]))


def note_path(workspace: Workspace) -> Path:
    """Where the note on this work tree's ledger is kept."""
    return note_file(workspace, "ledgers")


def recall(path: Path, ledger: str) -> Note | None:
    """The note on this very ledger; None when there is none, or it decayed."""
    value = read_note(path)
    if value is None or (value.get("v"), value.get("ledger")) != (1, ledger):
        return None
    text = value.get("moved")
    moved = read_pairs(text) if isinstance(text, str) else None
    return None if moved is None else Note(ledger, moved)


def remember(path: Path, note: Note) -> None:
    """Keep a note for the next read; where it cannot be kept, the next read decodes again."""
    write_note(path, {"v": 1, "ledger": note.ledger, "moved": pairs_text(note.moved)})


def pairs_text(pairs: Mapping[str, str]) -> str:
    """Names to names as one text: both sides may hold any character."""
    return canonical.encode([list(pair) for pair in pairs.items()]).decode()


def read_pairs(text: str) -> dict[str, str] | None:
    """What `pairs_text` wrote, or None when it did not write this."""
    try:
        value = canonical.decode(text.encode("utf-8", "surrogatepass"))
    except CannotError:
        return None
    if not isinstance(value, list):
        return None
    found = [
        item for item in value if isinstance(item, list) and list(map(type, item)) == [str] * 2
    ]
    return {str(a): str(b) for a, b in found} if len(found) == len(value) else None
