"""Durable files: what a session image is written with. Only `images.store` uses it.

A file is replaced by writing another beside it, syncing it, renaming it and syncing the folder; a
folder is made under a hidden name and renamed when everything in it is on the disk. A crash leaves
the old state or the new one.
"""

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from syn.errors import CannotError, RefusedError


class ImageFileError(CannotError):
    """A file of an image that cannot be read or written.

    Codes: `cannot-read`, `cannot-write`, `not-an-image`.
    """


class ExistsError(RefusedError):
    """Something stands where an image was to be written (`exists`)."""


def open_file(path: Path) -> BinaryIO | None:
    """A regular file for reading, never through a link at its last component; None when absent.

    Raises:
        ImageFileError: it is there and cannot be read, or is no regular file.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _cannot_read(path, error.strerror) from error
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise _cannot_read(path, "not a regular file")
    return os.fdopen(handle, "rb", buffering=1 << 16)


def _cannot_read(path: Path, why: str | None) -> ImageFileError:
    return ImageFileError("cannot-read", f"cannot read {path.name}: {why}", "check the file")


def make_folder(path: Path) -> None:
    """Make a folder where there is none; what comes with an image may be a link to elsewhere.

    Raises:
        ImageFileError: it cannot be made, or something else stands there.
    """
    try:
        if path.is_symlink():
            raise NotADirectoryError(errno.ENOTDIR, "a link stands there")
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def replace_file(path: Path, pieces: Iterable[bytes]) -> None:
    """Replace a file by the pieces, durably.

    Raises:
        ImageFileError: it cannot be written; the old file stands.
    """
    import tempfile

    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                write_synced(file, pieces)
                os.fchmod(file.fileno(), 0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def write_synced(file: BinaryIO, pieces: Iterable[bytes]) -> None:
    """Write the pieces and sync the file."""
    file.writelines(pieces)
    file.flush()
    os.fsync(file.fileno())


def cannot_write(path: Path, error: OSError) -> ImageFileError:
    """The error for a path that could not be written."""
    message = f"cannot write {path.name}: {error.strerror}"
    return ImageFileError("cannot-write", message, "check the place and the space on it")


def sync_folder(path: Path) -> None:
    """Sync a folder, so that the names in it survive a crash."""
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A hidden folder to fill, which becomes `path` when the block ends well.

    Raises:
        ExistsError: `path` is there already.
        ImageFileError: the folder cannot be made or renamed; nothing is left behind.
    """
    import tempfile

    if path.exists() or path.is_symlink():
        message = f"expected a new place, got {path.name}, which exists"
        raise ExistsError("exists", message, "choose another name; nothing is overwritten")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
        try:
            yield draft
            draft.chmod(0o755)
            sync_folder(draft)
            draft.rename(path)
        except BaseException:
            _discard(draft)
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error


def _discard(draft: Path) -> None:
    for file in draft.iterdir():
        file.unlink()
    draft.rmdir()
