"""Where the files of an image lie: a directory, or a `.faksession` archive. Read only."""

import io
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Protocol, Self, TypeAlias

from syn.images import bundle as bundles
from syn.images.files import open_file
from syn.images.malformed import MalformedError
from syn.images.strict import CHUNK

MAX_LINE = 1 << 24


Watch: TypeAlias = Callable[[int], None]
"""Port: told how many bytes were read."""


class Section:
    """A range of a file, read as a file of its own; a context manager that closes it."""

    def __init__(self, file: BinaryIO, start: int, size: int, watch: Watch | None = None) -> None:
        self._file, self._start, self._size, self._at = file, start, size, 0
        self._watch = watch
        self._window, self._window_at = memoryview(b""), 0

    def read(self, size: int, /) -> bytes:
        """Read on: up to `size` bytes."""
        data = self.read_at(self._at, size)
        self._at += len(data)
        return data

    def read_at(self, offset: int, size: int) -> bytes:
        """The bytes at a place; shorter at the end."""
        return bytes(self.view_at(offset, size))

    def view_at(self, offset: int, size: int) -> memoryview:
        """`read_at` without a copy: a part of what was read ahead."""
        start = offset - self._window_at
        if 0 <= start <= start + size <= len(self._window):
            return self._window[start : start + size]
        size = min(size, self._size - offset)
        if size <= 0 or offset < 0:
            return self._window[:0]
        if size >= CHUNK:
            return memoryview(self._pread(offset, size))
        self._window = memoryview(self._pread(offset, min(CHUNK, self._size - offset)))
        self._window_at = offset
        return self._window[:size]

    def _pread(self, offset: int, size: int) -> bytes:
        if self._watch is not None:
            self._watch(size)
        return os.pread(self._file.fileno(), size, self._start + offset)

    def size(self) -> int:
        """Bytes of the range."""
        return self._size

    def lines(self) -> Iterator[bytes]:
        """The lines with their LF; the last may have none."""
        rest = b""
        while chunk := self.read(CHUNK):
            whole = io.BytesIO(rest + chunk).readlines()
            rest = b"" if whole[-1].endswith(b"\n") else whole.pop()
            yield from whole
            if len(rest) > MAX_LINE:
                raise MalformedError("line-too-long", f"a line over {MAX_LINE} bytes")
        if rest:
            yield rest

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._file.close()


class Source(Protocol):
    """Where the files of an image lie."""

    name: str

    def open(self, name: str) -> Section | None:
        """A file, or None when it is absent."""
        ...

    def names(self) -> tuple[str, ...]:
        """The files there are, sorted."""
        ...


class Folder:
    """An image in a directory."""

    def __init__(self, path: Path, watch: Watch | None = None) -> None:
        self.path = path
        self.name = path.name or str(path)
        self._watch = watch

    def open(self, name: str) -> Section | None:
        """A file of the directory, or None."""
        file = open_file(self.path / name)
        return (
            None if file is None else Section(file, 0, os.fstat(file.fileno()).st_size, self._watch)
        )

    def names(self) -> tuple[str, ...]:
        """The names in the directory."""
        return tuple(sorted(entry.name for entry in self.path.iterdir()))


class Archive:
    """A `.faksession`: a plain tar of a bundle's files and nothing else."""

    def __init__(self, path: Path, watch: Watch | None = None) -> None:
        self.path = path
        self.name = path.name
        self._watch = watch
        self._members = dict(_members(path))
        if bundles.INDEX not in self._members:
            raise _bad_archive(path, f"no {bundles.INDEX}")

    def open(self, name: str) -> Section | None:
        """A member as a file, or None."""
        file = open_file(self.path) if name in self._members else None
        return None if file is None else Section(file, *self._members[name], self._watch)

    def names(self) -> tuple[str, ...]:
        """The members' names."""
        return tuple(sorted(self._members))


def _members(path: Path) -> Iterator[tuple[str, tuple[int, int]]]:
    import tarfile

    seen: set[str] = set()
    total = 0
    try:
        with tarfile.open(path, "r:") as archive:
            for member in archive:
                name = member.name
                if not member.isreg() or name not in {bundles.INDEX, *bundles.PARTS}:
                    raise _bad_archive(path, "a member that is no file of a bundle")
                if name in seen:
                    raise _bad_archive(path, "a member twice")
                seen.add(name)
                total += member.size
                if len(seen) > bundles.MAX_ENTRIES or total > bundles.MAX_BYTES:
                    raise _bad_archive(path, "more than a bundle may")
                yield name, (member.offset_data, member.size)
    except (tarfile.TarError, EOFError) as error:
        raise _bad_archive(path, "no readable tar") from error


def _bad_archive(path: Path, what: str) -> MalformedError:
    return MalformedError("bad-archive", f"{path.name}: the archive holds {what}", path.name)
