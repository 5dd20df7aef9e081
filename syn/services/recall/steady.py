"""Reading while others write: one state, never half of two (ADR 0020).

A write shows itself by its intent from before its first change until after its last, and leaves
another record of the writer's tails. A read that saw either come or go is made again.
"""

import contextlib
from collections.abc import Callable
from typing import TypeVar

from syn.services.lock import BusyError, writing
from syn.services.workspace import Workspace

_T = TypeVar("_T")
TRIES = 5
"""Reads that are made again before the lock is taken."""
_WAIT = 10.0
"""Seconds to wait for that lock."""
Mark = tuple[int, int, int]
_NONE: Mark = (0, 0, 0)


def mark(workspace: Workspace) -> tuple[Mark, bool]:
    """What changes when a write happens here: the record of tails, and whether one is under way."""
    folder = workspace.private_dir
    try:
        stat = (folder / "writers.json").stat()
    except OSError:
        found = _NONE
    else:
        found = (stat.st_ino, stat.st_mtime_ns, stat.st_size)
    return found, (folder / "intent.json").exists()


def steadily(
    workspace: Workspace,
    read: Callable[[], _T],
    note: Callable[[str], None],
    drop: Callable[[_T], None] = lambda _: None,
) -> _T:
    """What `read` gives when no write of this work tree came in between.

    A write that was cut off is finished first. `drop` takes back a result that is not used.
    """
    if workspace.repository.root is None:
        return read()
    for _ in range(TRIES):
        before = mark(workspace)
        if before[1]:
            from syn.services.writing.exclusive import settle

            settle(workspace, note)
            before = mark(workspace)
        result = read()
        if mark(workspace) == before:
            return result
        drop(result)
    with contextlib.suppress(BusyError), writing(workspace, _WAIT):
        return read()
    note("other processes keep writing here: what is shown may be between two states")
    return read()
