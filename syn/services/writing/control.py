"""Taking hand edits of the configuration and the policy back (design 10)."""

from collections.abc import Sequence

from syn.errors import RefusedError
from syn.git.durable import read, replace
from syn.git.write import keep_blobs
from syn.ledger.heads import workspace_heads
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import CONFIG, POLICY
from syn.services.workspace import Workspace
from syn.services.writing.contents import recorded_bytes

CONTROL = {CONFIG.decode(): "config", POLICY.decode(): "policy"}
"""The files that are no facts and have decisions of their own, with the action of those."""


def restore_control(workspace: Workspace, reading: Reading, names: Sequence[str]) -> list[str]:
    """Give these files the bytes that are recorded; returns those that had others.

    What stood there is kept in git. No decision is made: what is recorded stays what it was. The
    caller holds the lock.

    Raises:
        RefusedError: nothing, or several things, are recorded of a file (`not-restorable`).
        LostBytesError: the bytes are not in this repository.
    """
    wanted = {name: _recorded(workspace, reading, name) for name in dict.fromkeys(names)}
    changed = []
    for name, data in wanted.items():
        path = name.encode()
        now = read(workspace.root, path) if (workspace.root / name).exists() else b""
        if now != data:
            keep_blobs(workspace.repository, [now])
            replace(workspace.root, path, data)
            changed.append(name)
    return changed


def _recorded(workspace: Workspace, reading: Reading, name: str) -> bytes:
    heads = workspace_heads(reading.ledger.ledger.entries(), CONTROL[name])
    sources = {entry.source for _, entry in heads}
    if len(sources) != 1:
        state = "recorded in several versions" if sources else "not recorded"
        raise RefusedError(
            "not-restorable", f"{name} is {state}", f"syn adopt {name} records it as it is"
        )
    (source,) = sources
    return recorded_bytes(workspace.repository, name, source)
