"""What this clone signed last in each of its logs: a log belongs to one clone (design 7).

The record is bound to the work tree's place like a writer's: a copied clone finds another place and
signs nothing until it takes the log over. It also holds the newest leaf and note themselves, so
that a publication cut off between signature and commit is finished and never signed twice.
"""

from dataclasses import dataclass
from pathlib import Path

from syn.canon import json as canonical
from syn.errors import CannotError
from syn.git import durable
from syn.model.finding import Json
from syn.services.workspace import Workspace
from syn.services.writing.writer import place_of

FILE = "publisher.json"


@dataclass(frozen=True, slots=True)
class Signed:
    """The newest checkpoint that this clone signed of one log."""

    origin: str
    size: int
    leaf: str
    """The newest record, as its line."""
    note: str
    """The signed checkpoint."""


def load_signed(workspace: Workspace) -> dict[str, Signed]:
    """By origin; nothing when the record is absent, damaged, or of another place."""
    try:
        record = canonical.decode(_path(workspace).read_bytes())
    except (OSError, CannotError):
        return {}
    if not isinstance(record, dict) or record.get("place") != place_of(workspace):
        return {}
    logs = record.get("logs")
    found = (_signed(item) for item in logs) if isinstance(logs, list) else ()
    return {item.origin: item for item in found if item is not None}


def _signed(item: Json) -> Signed | None:
    match item:
        case {"origin": str(origin), "size": int(size), "leaf": str(leaf), "note": str(note)}:
            return Signed(origin, size, leaf, note)
        case _:
            return None


def save_signed(workspace: Workspace, signed: Signed) -> None:
    """Remember a signature, durably, before anybody can see it."""
    known = load_signed(workspace)
    known[signed.origin] = signed
    logs: list[Json] = [
        {"origin": item.origin, "size": item.size, "leaf": item.leaf, "note": item.note}
        for _, item in sorted(known.items())
    ]
    place: Json = place_of(workspace)
    path = _path(workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.replace(
        path.parent, FILE.encode(), canonical.encode({"v": 1, "place": place, "logs": logs})
    )


def _path(workspace: Workspace) -> Path:
    return workspace.private_dir / FILE
