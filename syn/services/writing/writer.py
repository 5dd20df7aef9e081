"""This work tree's identities in the ledger: which writer may append, and what it wrote last.

A writer appends only while its tail here is the last entry that id ever wrote, so a fork needs
intent (design 5). The record is bound to the work tree's path, device and inode: a copied clone
finds another place and opens a new id.
"""

import uuid
from dataclasses import dataclass
from pathlib import Path

from syn.canon import json as canonical
from syn.errors import CannotError
from syn.git import durable
from syn.ledger.build import empty_tail
from syn.ledger.segments import Ledger, Tail
from syn.model.finding import Json
from syn.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Writers:
    """The ids this work tree ever wrote under, with the last entry of each."""

    tails: dict[str, tuple[int, str]]
    """Writer to (length, hash of the last entry)."""


def record_path(workspace: Workspace) -> Path:
    """Where the record lies: in the work tree's own git directory, never tracked."""
    return workspace.private_dir / "writers.json"


def load_writers(workspace: Workspace) -> Writers:
    """The ids of this place; none when the record is absent, damaged, or of another place."""
    try:
        record = canonical.decode(record_path(workspace).read_bytes())
    except (OSError, CannotError):
        return Writers({})
    if not isinstance(record, dict) or record.get("place") != place_of(workspace):
        return Writers({})
    tails = record.get("tails")
    if not isinstance(tails, dict):
        return Writers({})
    return Writers(
        {
            writer: (tail[0], tail[1])
            for writer, tail in tails.items()
            if isinstance(tail, list)
            and len(tail) == 2  # noqa: PLR2004 - a pair
            and isinstance(tail[0], int)
            and isinstance(tail[1], str)
        }
    )


def choose_tail(workspace: Workspace, ledger: Ledger) -> Tail:
    """The tail to append to: of an id whose last entry is the tail here, else of a new id."""
    chains = {chain.writer: chain for chain in ledger.chains}
    fitting = [
        chains[writer].tail
        for writer, (length, head) in load_writers(workspace).tails.items()
        if writer in chains
        and not chains[writer].torn
        and (chains[writer].tail.length, chains[writer].tail.head) == (length, head)
    ]
    if fitting:
        return max(fitting, key=lambda tail: (tail.length, tail.writer))
    return empty_tail(workspace.config.id, uuid.uuid4().hex[:16])


def save_tail(workspace: Workspace, tail: Tail) -> None:
    """Remember what an id wrote last; durable before the ref moves."""
    tails: dict[str, Json] = {
        writer: [length, head] for writer, (length, head) in load_writers(workspace).tails.items()
    }
    tails[tail.writer] = [tail.length, tail.head]
    place: Json = place_of(workspace)
    data = canonical.encode({"v": 1, "place": place, "tails": tails})
    path = record_path(workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    durable.replace(path.parent, path.name.encode(), data)


def place_of(workspace: Workspace) -> dict[str, Json]:
    """What tells this work tree from a copy of it: path, device and inode."""
    status = workspace.root.stat()
    # Numbers as text: an inode may be larger than canonical JSON's integers.
    return {
        "path": str(workspace.root.resolve()),
        "device": str(status.st_dev),
        "inode": str(status.st_ino),
    }
