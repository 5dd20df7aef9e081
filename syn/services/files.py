"""Writing a result where the caller asked for it: whole or not at all."""

import os
from pathlib import Path

from syn.errors import CannotError
from syn.git import durable


def write_file(path: Path, data: bytes) -> None:
    """Write a file that the caller named; one that is there is replaced only by a whole one.

    Raises:
        CannotError, RefusedError: it cannot be written; what was there is as it was.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        # A pipe or a device takes bytes as they come.
        target.write_bytes(data)
    elif not target.parent.is_dir():
        raise CannotError("cannot-write", f"{path} cannot be written: no folder {target.parent}")
    else:
        durable.replace(target.parent, os.fsencode(target.name), data)
