"""The queue of proposals: files beside the repository, never in it (docs/formats/proposal.md).

A proposal's id is the digest of all that it says and of the files it starts from, so nothing about
it can change without its name changing.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from syn.canon import json as canonical
from syn.canon.digest import tagged_json
from syn.errors import CannotError, RefusedError, UsageError
from syn.git import durable
from syn.model.finding import Json
from syn.services.workspace import Workspace
from syn.services.writing.changes import Change, change_json, parse_changes

SCHEMA = "synapse.proposal/1"
DOMAIN = "proposal/1"
MAX_BYTES = 1024 * 1024
"""Of one proposal."""
MAX_PENDING = 1000
"""Proposals that wait at once."""
_SHORTEST = 4
_NAME = re.compile(r"[0-9a-f]{64}\.json")
ProposalVia = Literal["cli", "mcp"]


class QueueFullError(RefusedError):
    """No room for another proposal."""

    def __init__(self, message: str) -> None:
        super().__init__("queue-full", message, "a person decides on some: syn pending list")


@dataclass(frozen=True, slots=True)
class Proposal:
    """Changes that wait for a person; one decision, whatever their number."""

    workspace: str
    created: str
    actor: str
    via: ProposalVia
    reason: str
    base: str
    """Digest of the files it starts from (`Plan.base`)."""
    changes: tuple[Change, ...]

    @property
    def digest(self) -> str:
        """Its name: `sha256:<hex>`."""
        return tagged_json(DOMAIN, to_json(self))

    @property
    def short(self) -> str:
        """As people see it."""
        return self.digest.removeprefix("sha256:")[:12]

    @property
    def file(self) -> str:
        """Its file's name."""
        return self.digest.removeprefix("sha256:") + ".json"


@dataclass(frozen=True, slots=True)
class Damaged:
    """A file in the queue that is no proposal of this name."""

    file: str
    reason: str


def to_json(proposal: Proposal) -> dict[str, Json]:
    """What the file holds."""
    return {
        "schema": SCHEMA,
        "workspace": proposal.workspace,
        "created": proposal.created,
        "actor": proposal.actor,
        "via": proposal.via,
        "reason": proposal.reason,
        "base": proposal.base,
        "changes": [change_json(change) for change in proposal.changes],
    }


def parse_proposal(data: bytes) -> Proposal:
    """Read a proposal, strictly.

    Raises:
        CannotError, UsageError: it is none.
    """
    value = canonical.decode(data)
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise CannotError("bad-proposal", f"expected a {SCHEMA}")
    texts = ("workspace", "created", "actor", "reason", "base")
    if value.keys() != {"schema", "via", "changes", *texts}:
        raise CannotError("bad-proposal", "expected other members")
    found = {name: value[name] for name in texts}
    via = value["via"]
    if not all(isinstance(text, str) for text in found.values()) or via not in get_args(
        ProposalVia
    ):
        raise CannotError("bad-proposal", "a member is no text")
    return Proposal(
        changes=parse_changes(value["changes"]),
        via="mcp" if via == "mcp" else "cli",
        **{name: str(text) for name, text in found.items()},
    )


def enqueue(workspace: Workspace, proposal: Proposal) -> Proposal:
    """Put a proposal in the queue; one that says the same and waits already is returned instead.

    Raises:
        QueueFullError: it is too large, or too many wait.
    """
    data = canonical.encode(to_json(proposal))
    if len(data) > MAX_BYTES:
        raise QueueFullError(f"the proposal has {len(data)} bytes, more than {MAX_BYTES}")
    waiting = [found for found in queue(workspace) if isinstance(found, Proposal)]
    for other in waiting:
        if _same(other, proposal):
            return other
    if len(waiting) >= MAX_PENDING:
        raise QueueFullError(f"{MAX_PENDING} proposals wait already")
    workspace.shared_dir.mkdir(parents=True, exist_ok=True)
    durable.replace(workspace.shared_dir, b"pending/" + proposal.file.encode(), data)
    return proposal


def _same(one: Proposal, other: Proposal) -> bool:
    keys = ("actor", "via", "reason", "base", "changes")
    return all(getattr(one, key) == getattr(other, key) for key in keys)


def queue(workspace: Workspace) -> Iterator[Proposal | Damaged]:
    """Every file of the queue, oldest proposal first, damaged files last."""
    found = [_load(workspace, path) for path in _files(workspace)]
    proposals = [item for item in found if isinstance(item, Proposal)]
    yield from sorted(proposals, key=lambda item: (item.created, item.digest))
    yield from (item for item in found if isinstance(item, Damaged))


def find_proposal(workspace: Workspace, name: str) -> Proposal:
    """The waiting proposal whose id starts like this.

    Raises:
        UsageError: there is none, or there are several.
    """
    prefix = name.removeprefix("sha256:")
    paths = [path for path in _files(workspace) if path.name.startswith(prefix)]
    if len(prefix) < _SHORTEST or not paths:
        raise UsageError(
            "unknown-proposal", f"no proposal is called {name!r:.80}", "syn pending list shows them"
        )
    if len(paths) > 1:
        raise UsageError(
            "ambiguous-proposal", f"{len(paths)} proposals start with {name}", "give more of it"
        )
    found = _load(workspace, paths[0])
    if isinstance(found, Damaged):
        raise CannotError(
            "damaged-proposal",
            f"{found.file}: {found.reason}",
            f"syn pending reject {name} removes it; ask for it again",
        )
    return found


def _files(workspace: Workspace) -> list[Path]:
    folder = workspace.shared_dir / "pending"
    try:
        names = sorted(entry.name for entry in os.scandir(folder))
    except FileNotFoundError:
        return []
    return [folder / name for name in names if _NAME.fullmatch(name)]


def _load(workspace: Workspace, path: Path) -> Proposal | Damaged:
    try:
        data = durable.read(workspace.shared_dir, b"pending/" + os.fsencode(path.name))
        proposal = parse_proposal(data)
    except (CannotError, RefusedError, UsageError) as error:
        return Damaged(path.name, error.message)
    if proposal.file != path.name:
        return Damaged(path.name, "its name is not the digest of what it says")
    if proposal.workspace != workspace.config.id:
        return Damaged(path.name, f"it is of another workspace: {proposal.workspace}")
    return proposal
