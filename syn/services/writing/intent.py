"""The intent of a write under way: one file in the work tree's own git directory (ADR 0020).

It is put in place whole and removed whole, so it either counts or is not there. Bytes of facts
stand in git's object store before; only the ledger's new lines stand in the intent itself.
"""

from dataclasses import astuple, dataclass
from typing import Any

from syn.canon import json as canonical
from syn.errors import CannotError
from syn.git import durable
from syn.git.parse import Ident
from syn.ledger.segments import Tail
from syn.model.finding import Json
from syn.services.workspace import Workspace

_PATH = b"synapse/intent.json"


class DamagedIntentError(CannotError):
    """The intent is there and cannot be read: no crash of syn leaves that."""

    def __init__(self, path: str) -> None:
        super().__init__(
            "intent-damaged",
            f"{path} is damaged: a write was cut off and what it was cannot be told",
            f"look at syn status, then remove {path}; replaced bytes are in refs/synapse/kept",
        )


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file that the write changes: digests and blobs, "" where there is no file."""

    path: str
    before: str
    """SHA-256 of the bytes on disk, like the next."""
    after: str
    before_blob: str
    after_blob: str
    stored_blob: str
    """What a commit holds: the same, but for git's own conversions (line ends)."""


@dataclass(frozen=True, slots=True)
class Append:
    """Lines for one segment file."""

    path: str
    length: int
    """Bytes of the file before."""
    base: str
    """Digest of those bytes."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Intent:
    """Everything that finishing a write, or taking it back, needs."""

    files: tuple[PlannedFile, ...]
    adopted: tuple[tuple[str, str], ...]
    """(path, blob) of files that are recorded as they are; "" where there is none."""
    appends: tuple[Append, ...]
    tail: Tail
    """The writer's tail after it."""
    ident: Ident
    message: str
    commit: bool
    discard: tuple[str, ...]
    """Files of pending proposals that the decision settles."""
    forget: tuple[str, ...]
    """Digests of bytes that are no longer kept."""


def present(workspace: Workspace) -> bool:
    """Whether there is an intent."""
    return (workspace.private_dir / "intent.json").exists()


def write(workspace: Workspace, intent: Intent) -> None:
    """Put the intent in place, durably."""
    durable.replace(workspace.repository.git_dir, _PATH, canonical.encode(_to_json(intent)))


def remove(workspace: Workspace) -> None:
    """The write is complete, or is taken back."""
    durable.remove(workspace.repository.git_dir, _PATH)
    durable.sweep(workspace.repository.git_dir, _PATH.rpartition(b"/")[0])


def read(workspace: Workspace) -> Intent | None:
    """The intent, or None when there is none.

    Raises:
        DamagedIntentError: it is no intent.
    """
    if not present(workspace):
        return None
    try:
        data = durable.read(workspace.repository.git_dir, _PATH)
        return _from_json(canonical.decode(data))
    except (CannotError, KeyError, TypeError, ValueError) as error:
        raise DamagedIntentError(str(workspace.private_dir / "intent.json")) from error


def _to_json(intent: Intent) -> Json:
    ident, tail = intent.ident, intent.tail
    return {
        "v": 1,
        "files": [list(astuple(file)) for file in intent.files],
        "adopted": [[path, oid] for path, oid in intent.adopted],
        "appends": [[a.path, a.length, a.base, a.data.decode()] for a in intent.appends],
        "tail": [tail.writer, tail.length, tail.head],
        "ident": [ident.name, ident.email, ident.seconds, ident.offset],
        "message": intent.message,
        "commit": intent.commit,
        "discard": list(intent.discard),
        "forget": list(intent.forget),
    }


def _from_json(value: Any) -> Intent:
    return Intent(
        files=tuple(PlannedFile(*item) for item in value["files"]),
        adopted=tuple((path, oid) for path, oid in value["adopted"]),
        appends=tuple(
            Append(p, size, base, text.encode()) for p, size, base, text in value["appends"]
        ),
        tail=Tail(*value["tail"]),
        ident=Ident(*value["ident"]),
        message=value["message"],
        commit=value["commit"],
        discard=tuple(value["discard"]),
        forget=tuple(value["forget"]),
    )
