"""Taking the repository for a write, after finishing one that was cut off."""

import contextlib
from collections.abc import Callable, Iterator

from syn.errors import SynError
from syn.services.lock import WAIT_SECONDS, BusyError, writing
from syn.services.workspace import Workspace
from syn.services.writing.recorder import recorder
from syn.services.writing.transaction import pending, recover

SETTLE_SECONDS = 10.0
"""How long a read waits for a write that is under way."""


@contextlib.contextmanager
def exclusively(workspace: Workspace, wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the repository's lock; what was cut off here before is finished first.

    Raises:
        BusyError: another process held it for `wait` seconds.
        CutOffError: what was cut off can be neither finished nor taken back now.
    """
    with writing(workspace, wait):
        if pending(workspace):
            recover(workspace, recorder(workspace))
        yield


def settle(workspace: Workspace, note: Callable[[str], None]) -> None:
    """Before a read: wait for a write under way, and finish one that was cut off.

    Never stops a read: what could not be done is told to `note`, and the read shows what is there.
    """
    if workspace.repository.root is None or not pending(workspace):
        return
    try:
        with writing(workspace, SETTLE_SECONDS):
            if pending(workspace):
                done = recover(workspace, recorder(workspace))
                note(f"a write that was cut off is {done}")
    except BusyError as error:
        note(f"a write is under way: {error.message}")
    except (SynError, OSError) as error:
        note(f"a write was cut off and cannot be finished now: {error}")
