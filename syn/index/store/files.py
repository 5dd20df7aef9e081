"""The file around the database: where a new one is made, how it replaces the old, stat records."""

import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from syn.git import disk
from syn.index.store.errors import IndexUnusable, guard

_SPOOL_MEMORY = 1 << 20
"""Bytes of one table's spool that stay in memory before it becomes a file."""


class StatRecord(NamedTuple):
    """What a file looked like when it was read, to skip reading it again."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    def text(self) -> str:
        """As the database keeps it: inode numbers do not fit SQLite's integers."""
        return f"{self[0]} {self[1]} {self[2]} {self[3]}"


class FileRecord(NamedTuple):
    """One file the index was built from, readable or not."""

    path: str
    source_digest: str
    readable: bool
    stat: str | None
    """`StatRecord.text()`, or None when it must not be trusted (too fresh when it was read)."""

    def row(self) -> tuple[str, str, int, str | None, int]:
        """The row that holds it, with its sum."""
        values = (self.path, self.source_digest, int(self.readable), self.stat)
        return (*values, row_sum(*values))

    def unchanged(self, stat: StatRecord) -> bool:
        """Whether the file may be taken as the one that was read."""
        return self.stat is not None and self.stat == stat.text()


def row_sum(*values: str | int | None) -> int:
    """CRC-32 over the values of a row that no manifest covers: against decay, not against people.

    A record that decayed could make a changed file look unchanged for ever.
    """
    return zlib.crc32("\0".join(map(str, values)).encode("utf-8", "surrogateescape"))


def settled(stat: StatRecord, created_ns: int) -> bool:
    """Whether a file was last touched clearly before the index began to read (racily clean).

    `created_ns` is the new index file's own mtime, so both come from the file system's clock.
    """
    return disk.settled(max(stat.mtime_ns, stat.ctime_ns), created_ns)


def open_spool() -> IO[bytes]:
    """An empty temporary binary file that is gone when it is closed."""
    return tempfile.SpooledTemporaryFile(max_size=_SPOOL_MEMORY)


@contextmanager
def new_file(target: Path) -> Iterator[Path]:
    """An empty file beside the target that no other process uses; removed at the end if it stays.

    Raises:
        IndexUnusable: `index-place`, the directory is missing, a symbolic link, or read-only.
    """
    if target.parent.is_symlink():
        raise IndexUnusable(
            "index-place",
            f"{target.parent}: expected a directory, got a symbolic link",
            "replace it by a directory",
        )
    with guard(target):
        _sweep(target)
        path = _exclusive(target)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _exclusive(target: Path) -> Path:
    flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_NOFOLLOW", 0)
    number = 0
    while True:
        path = target.with_name(f"{target.name}.new-{os.getpid()}-{number}")
        try:
            os.close(os.open(path, flags, 0o666))
        except FileExistsError:
            number += 1
            continue
        return path


def _sweep(target: Path) -> None:
    """Remove what builds of processes that are gone have left behind."""
    for path in target.parent.glob(f"{target.name}.new-*"):
        owner = path.name.rpartition(".new-")[2].partition("-")[0]
        if owner.isdigit() and not _alive(int(owner)):
            path.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    if os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def copy_into(source: Path, path: Path) -> None:
    """Copy bytes, sharing blocks where the file system can (reflink)."""
    with source.open("rb") as reader, path.open("r+b") as writer:
        try:
            while os.copy_file_range(reader.fileno(), writer.fileno(), 1 << 30):
                pass
        except (AttributeError, OSError):
            reader.seek(0)
            writer.seek(0)
            writer.truncate()
            shutil.copyfileobj(reader, writer, 1 << 20)


def replace(path: Path, target: Path) -> None:
    """Make the new file durable, then the target: fsync, rename, fsync of the directory."""
    _sync(path, os.O_RDONLY)
    path.replace(target)
    _sync(target.parent, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))


def _sync(path: Path, flags: int) -> None:
    if os.name != "posix" and path.is_dir():
        return
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
