"""One writer at a time per repository: a bounded wait, then "busy" with the holder's name."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from syn.canon import json as canonical
from syn.errors import CannotError
from syn.services.workspace import Workspace, stamp

WAIT_SECONDS = 30.0


class BusyError(CannotError):
    """Another process holds the lock longer than we wait."""

    def __init__(self, holder: str) -> None:
        super().__init__(
            "busy",
            f"another syn is writing to this workspace{holder}",
            "wait for it to finish; the lock goes with its process, nothing has to be removed",
        )


@contextlib.contextmanager
def writing(workspace: Workspace, wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the lock of the repository. The system drops it when the process dies.

    Raises:
        BusyError: it was held for `wait` seconds.
    """
    from filelock import FileLock, Timeout

    folder = workspace.shared_dir
    folder.mkdir(parents=True, exist_ok=True)
    holder = folder / "lock.holder"
    lock = FileLock(folder / "lock", timeout=wait)
    try:
        lock.acquire()
    except Timeout as error:
        raise BusyError(_read_holder(holder)) from error
    try:
        record = {"pid": os.getpid(), "since": stamp(workspace.around.now)}
        holder.write_bytes(canonical.encode(record))
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


def _read_holder(path: Path) -> str:
    try:
        record = canonical.decode(path.read_bytes())
    except (OSError, CannotError):
        return ""
    if not isinstance(record, dict):
        return ""
    return f" (process {record.get('pid')}, since {record.get('since')})"
