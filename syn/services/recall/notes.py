"""What a read learns for the next one, in the user's own cache (ADR 0031, ADR 0039).

Never in a repository: what comes with a clone or an archive has no say in it. A note that is
absent, old or decayed is no note, and the read does its work.
"""

import contextlib
import hashlib
import os
from pathlib import Path

from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.git import durable
from syn.model.finding import Json
from syn.services.workspace import Workspace

MAX_NOTE = 64 << 20
"""Bytes of a note that is read."""


def note_file(workspace: Workspace, kind: str) -> Path:
    """Where the note of one kind on this work tree is kept: one per work tree, the newest."""
    name = hashlib.sha256(os.fsencode(workspace.root)).hexdigest()[:32]
    return workspace.around.cache_dir / kind / f"{name}.json"


def read_note(path: Path) -> dict[str, Json] | None:
    """What `write_note` kept, or None."""
    try:
        with path.open("rb") as file:
            value = canonical.decode(file.read(MAX_NOTE))
    except (OSError, CannotError):
        return None
    if not isinstance(value, dict):
        return None
    found, kept = value.get("note"), value.get("sum")
    if not isinstance(found, dict) or kept != sha256(canonical.encode(found)):
        return None
    return found


def write_note(path: Path, note: dict[str, Json]) -> None:
    """Keep a note for the next read; where it cannot be kept, the next read works without."""
    with contextlib.suppress(OSError, CannotError, RefusedError):
        # The sum is against decay: whoever writes the user's cache can write this as well.
        value: Json = {"note": note, "sum": sha256(canonical.encode(note))}
        durable.make_folders(path.parent)
        durable.replace(path.parent, os.fsencode(path.name), canonical.encode(value))
