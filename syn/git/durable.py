"""Files that survive a crash, and paths that cannot be led elsewhere.

Every path is walked one component at a time from an open folder, without following a link
(`O_NOFOLLOW` alone protects only the last component). A replaced file is written beside its target,
fsynced, renamed, and its folder fsynced; so after a crash the old bytes are there or the new ones
(design 10, proofs 6).
"""

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Final, Self

from syn.errors import CannotError, RefusedError
from syn.model.problem import display_path

TEMPORARY_PREFIX: Final = b".syn-tmp-"
"""Names of files that a crash may leave behind; `sweep` removes them."""

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_READ_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NO_NAMES = frozenset({b"", b".", b".."})
_LINK_ERRORS = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})


class LinkedPathError(RefusedError):
    """A path that leads through a symbolic link, or through something that is no folder."""

    def __init__(self, path: bytes) -> None:
        super().__init__(
            "symlink-in-path",
            f"{display_path(path)} leads through a symbolic link or something that is no folder",
            "replace the link by a real folder or file",
        )


class UnsafePathError(RefusedError):
    """A path that is absolute or leaves the folder it is relative to."""

    def __init__(self, path: bytes) -> None:
        super().__init__("unsafe-path", f"{display_path(path)!r} is no path inside the folder")


class FileError(CannotError):
    """A file that cannot be read or written: `missing-file`, `cannot-read`, `cannot-write`."""

    def __init__(self, code: str, path: bytes, reason: str) -> None:
        super().__init__(code, f"{display_path(path)}: {reason}")


class Folders:
    """Open folders below a root; the way to the last one used stays open."""

    def __init__(self, root: Path) -> None:
        """`root` itself may be reached through links: the person named it."""
        self.root = root
        self._way: list[tuple[bytes, int]] = []
        self._last = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Close every folder; the object may be used again."""
        while self._way:
            os.close(self._way.pop()[1])

    def at(self, folder: bytes) -> int:
        """`open` by a path; the last one asked for is found at once."""
        if self._way and folder == self._last:
            return self._way[-1][1]
        descriptor = self.open(_components(folder) if folder else [])
        self._last = folder
        return descriptor

    def open(self, components: Sequence[bytes], *, create: bool = False) -> int:
        """The descriptor of a folder; it belongs to this object. Raises `OSError`."""
        self._last = b"/"  # no folder's path: `at` does not take it for its own
        if not self._way:
            flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
            self._way.append((b"", os.open(self.root, flags)))
        common = 0
        while (
            common < len(components)
            and common + 1 < len(self._way)
            and self._way[common + 1][0] == components[common]
        ):
            common += 1
        while len(self._way) > common + 1:
            os.close(self._way.pop()[1])
        for name in components[common:]:
            self._way.append((name, _enter(self._way[-1][1], name, create=create)))
        return self._way[-1][1]


def open_file(folders: Folders, path: bytes) -> BinaryIO:
    """Open a regular file for reading.

    Raises:
        LinkedPathError: a component is a link, or the file is none.
        FileError: `missing-file` or `cannot-read`.
    """
    return os.fdopen(_open_regular(folders, path)[0], "rb", buffering=0)


def read_file(folders: Folders, path: bytes) -> bytes:
    """The bytes of a regular file; raises as `open_file`."""
    descriptor, size = _open_regular(folders, path)
    try:
        # One byte more than it was long shows the end, or that it grew.
        data = os.read(descriptor, size + 1)
        if len(data) == size:
            return data
        parts = [data]
        while parts[-1]:
            parts.append(os.read(descriptor, 1 << 20))
        return b"".join(parts)
    except OSError as error:
        raise FileError("cannot-read", path, error.strerror or str(error)) from error
    finally:
        os.close(descriptor)


def read(root: Path, path: bytes) -> bytes:
    """The bytes of a regular file below `root`; raises as `open_file`."""
    with Folders(root) as folders:
        return read_file(folders, path)


def replace(root: Path, path: bytes, data: bytes) -> None:
    """Write a file below `root`, whole or not at all, with the folders above it.

    An existing file keeps its permission bits.

    Raises:
        LinkedPathError, UnsafePathError, FileError.
    """
    with _writing(root, path) as (folder, name):
        mode = _mode_of(folder, name, path)
        temporary = TEMPORARY_PREFIX + os.urandom(8).hex().encode()
        descriptor = os.open(temporary, _NEW_FLAGS, 0o666 if mode is None else mode, dir_fd=folder)
        try:
            with os.fdopen(descriptor, "wb", buffering=0) as file:
                _write_all(file.fileno(), data)
                if mode is not None:
                    os.fchmod(file.fileno(), mode)
                os.fsync(file.fileno())
            os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise
        os.fsync(folder)


def check_way(folders: Folders, path: bytes) -> None:
    """Raise where `replace` would: the folders above a path that are there have to be folders.

    Raises:
        LinkedPathError, UnsafePathError.
    """
    *above, _ = _components(path)
    try:
        folders.open(above)
    except FileNotFoundError:
        return
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            raise LinkedPathError(path) from error
        raise FileError("cannot-write", path, error.strerror or str(error)) from error


def append(root: Path, path: bytes, data: bytes, *, at: int | None = None) -> None:
    """Append to a file below `root`, made when absent, and fsync it.

    `at` is the length the file must have: an append that somebody else overtook is refused.
    A crash may leave a part of `data` at the end: the reader tells a torn tail by its missing LF.

    Raises:
        RefusedError: code `file-moved-on`: the file has another length.
        LinkedPathError, UnsafePathError, FileError.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with _writing(root, path) as (folder, name):
        descriptor = os.open(name, flags, 0o666, dir_fd=folder)
        try:
            size = os.fstat(descriptor).st_size
            if at is not None and size != at:
                raise RefusedError(
                    "file-moved-on",
                    f"{display_path(path)}: expected {at} bytes, got {size}",
                    "somebody else wrote it: try again",
                )
            _write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.fsync(folder)


def remove(root: Path, path: bytes) -> None:
    """Remove a file below `root`, and fsync its folder; a file that is not there is no error."""
    with contextlib.suppress(FileNotFoundError), _writing(root, path, create=False) as found:
        folder, name = found
        os.unlink(name, dir_fd=folder)
        os.fsync(folder)


def sweep(root: Path, folder: bytes) -> tuple[bytes, ...]:
    """Remove what a crash left of `replace` in one folder; the names it removed."""
    try:
        with Folders(root) as folders:
            descriptor = folders.open(_components(folder) if folder else [])
            with os.scandir(descriptor) as found:
                names = [os.fsencode(entry.name) for entry in found]
            left = tuple(name for name in names if name.startswith(TEMPORARY_PREFIX))
            for name in left:
                os.unlink(name, dir_fd=descriptor)
            return left
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise FileError("cannot-write", folder, error.strerror or str(error)) from error


def fsync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def make_folders(folder: Path) -> None:
    """Make a folder and those above it, each durable in the one above; links may be on the way."""
    if not folder.is_dir():
        make_folders(folder.parent)
        with contextlib.suppress(FileExistsError):
            folder.mkdir()
            fsync_folder(folder.parent)


@contextlib.contextmanager
def _writing(root: Path, path: bytes, *, create: bool = True) -> Iterator[tuple[int, bytes]]:
    *above, name = _components(path)
    try:
        with Folders(root) as folders:
            yield folders.open(above, create=create), name
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            raise LinkedPathError(path) from error
        if error.errno == errno.ENOENT and not create:
            raise
        raise FileError("cannot-write", path, error.strerror or str(error)) from error


def _components(path: bytes) -> list[bytes]:
    parts = path.split(b"/")
    if b"\0" in path or not _NO_NAMES.isdisjoint(parts):
        raise UnsafePathError(path)
    return parts


def _enter(parent: int, name: bytes, *, create: bool) -> int:
    try:
        return os.open(name, _FOLDER_FLAGS, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
    with contextlib.suppress(FileExistsError):
        os.mkdir(name, dir_fd=parent)
        os.fsync(parent)
    return os.open(name, _FOLDER_FLAGS, dir_fd=parent)


def _open_regular(folders: Folders, path: bytes) -> tuple[int, int]:
    try:
        descriptor = _open_below(folders, path)
    except FileNotFoundError as error:
        raise FileError("missing-file", path, "there is no such file") from error
    except OSError as error:
        if error.errno in _LINK_ERRORS:
            raise LinkedPathError(path) from error
        raise FileError("cannot-read", path, error.strerror or str(error)) from error
    info = os.fstat(descriptor)
    if not stat.S_ISREG(info.st_mode):
        os.close(descriptor)
        raise FileError("cannot-read", path, "expected a regular file")
    return descriptor, info.st_size


def _open_below(folders: Folders, path: bytes) -> int:
    folder, _, name = path.rpartition(b"/")
    if name in _NO_NAMES or b"\0" in name:
        raise UnsafePathError(path)
    try:
        return os.open(name, _READ_FLAGS, dir_fd=folders.at(folder))
    except FileNotFoundError:
        folders.close()  # a folder kept open may have been replaced since
        return os.open(name, _READ_FLAGS, dir_fd=folders.at(folder))


def _mode_of(folder: int, name: bytes, path: bytes) -> int | None:
    try:
        info = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(info.st_mode):
        raise LinkedPathError(path)
    return stat.S_IMODE(info.st_mode)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
