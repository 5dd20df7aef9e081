"""Writing a result where the caller asked for it: whole or not at all."""

import os
from pathlib import Path

from syn.errors import CannotError, UsageError
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


def read_file(path: Path, limit: int) -> bytes:
    """The bytes of a file that the caller named, cut one byte after the limit of its format.

    Raises:
        UsageError: there is no such file.
        CannotError: it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(limit + 1)
    except FileNotFoundError as error:
        raise UsageError("no-file", f"no file {path}") from error
    except OSError as error:
        raise CannotError("cannot-read", f"{path}: {(error.strerror or '').lower()}") from error
