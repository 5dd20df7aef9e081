"""Which policy holds where: of a snapshot, of a tree, of HEAD, and which key here it allows."""

from functools import lru_cache

from syn.git.objects import ObjectStore
from syn.keys import policy as policies
from syn.keys.policy import BrokenPolicy, Policy, Role
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import POLICY
from syn.services.trust.keyring import KeyFile, choose, keys_here
from syn.services.workspace import Workspace

PATH = POLICY.decode()


def parse_policy(data: bytes | None) -> Policy | BrokenPolicy | None:
    """The policy in these bytes; None when there is no file."""
    return None if data is None else _parsed(data)


@lru_cache(maxsize=256)
def _parsed(data: bytes) -> Policy | BrokenPolicy:
    return policies.parse(data)


def policy_bytes(store: ObjectStore, tree: str) -> bytes | None:
    """The policy file in a tree; None when there is none or it is no plain file.

    Raises:
        CannotError, RefusedError: an object is missing or damaged.
    """
    item = store.find(tree, POLICY)
    return None if item is None or item.kind != "file" else store.blob(item.oid)


def policy_of(reading: Reading) -> Policy | BrokenPolicy | None:
    """The policy of a snapshot that was read."""
    return None if reading.policy_data is None else parse_policy(reading.policy_data)


def usable(found: Policy | BrokenPolicy | None) -> Policy | None:
    """The policy, where one can be read: a broken one allows nobody anything."""
    return found if isinstance(found, Policy) else None


def head_policy(workspace: Workspace) -> Policy | BrokenPolicy | None:
    """The policy that HEAD's commit holds."""
    tree = workspace.repository.head_tree()
    return None if tree is None else parse_policy(policy_bytes(workspace.repository.store, tree))


def own_key(workspace: Workspace, role: Role) -> KeyFile | None:
    """The key here that HEAD's policy lets act in this role, or None."""
    found = usable(head_policy(workspace))
    return choose(keys_here(workspace.around), found, role) if found else None
