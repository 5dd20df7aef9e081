"""`syn key init`: the key of this person, and the first policy of a workspace that has none."""

import re
from dataclasses import dataclass
from typing import Literal

from syn.errors import SynError
from syn.ledger.entry import HashedEntry
from syn.services.trust.keyring import KeyFile, make_key
from syn.services.trust.policy import head_policy, usable
from syn.services.trust.policy_change import write_first_policy
from syn.services.workspace import Surroundings, Workspace
from syn.services.writing.recorder import ident

_NOT_NAME = re.compile(r"[^a-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class KeyInit:
    """What `syn key init` did."""

    key: KeyFile
    made: bool
    """Whether the key is new."""
    name: str
    """The name under which the first policy holds it."""
    policy: Literal["written", "holds-key", "lacks-key", "none"]
    """`none`: there is no workspace here, or no policy was wanted."""
    entries: tuple[HashedEntry, ...] = ()


def default_name(workspace: Workspace) -> str:
    """A policy name from git's identity here: `Ada Author` is `ada-author`."""
    return _NOT_NAME.sub("-", ident(workspace).name.lower()).strip("-")[:64] or "owner"


def init_key(
    around: Surroundings, workspace: Workspace | None, *, slot: str, name: str, policy: bool
) -> KeyInit:
    """Make the key in a slot unless it is there, and write the first policy unless there is one.

    Raises:
        KeyFileError, LooseKeyError: the key cannot be made or used.
        PolicyKeyError: `name` cannot stand in a policy.
    """
    name = name or (default_name(workspace) if workspace else slot)
    key, made = make_key(around, slot, name)
    if workspace is None or not policy:
        return KeyInit(key, made, name, "none")
    entries = write_first_policy(workspace, name, key.key, key.comment or name)
    if entries:
        return KeyInit(key, made, name, "written", entries)
    found = usable(head_policy(workspace))
    known = found is not None and found.find(key.key) is not None
    return KeyInit(key, made, name, "holds-key" if known else "lacks-key")


def standing_here(workspace: Workspace | None, key: KeyFile) -> str:
    """What HEAD's policy says of a key, in words: `admin, writer (active)`, or ""."""
    if workspace is None:
        return ""
    try:
        found = usable(head_policy(workspace))
    except SynError:
        return ""
    item = found.find(key.key) if found else None
    return f"{item.name}: {', '.join(item.roles)} ({item.state})" if item else ""
