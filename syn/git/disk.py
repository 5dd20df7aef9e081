"""The files of a work tree as the file system lists them, sorted by path bytes."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal, TypeAlias

from syn.git.snapshot import StatKey, wanted_below

DiskKind: TypeAlias = Literal["file", "symlink", "gitlink", "other"]
_Listing: TypeAlias = Iterator[tuple[bytes, "os.DirEntry[bytes]"]]


_SECOND = 1_000_000_000
_COARSE_CLOCK = 2 * _SECOND
"""Nanoseconds: the step of file systems that keep whole seconds, or two (FAT)."""
_FINE_CLOCK = 100_000_000
"""Nanoseconds: generous for kernels that stamp files at a timer tick."""
DiskItem: TypeAlias = tuple[bytes, DiskKind, StatKey | None]
"""Path, kind and stat of what a folder lists; `gitlink` is a nested repository, `other` a socket
or a device. A plain tuple: there is one for every file."""


@dataclass(frozen=True, slots=True)
class Scan:
    """How to list a work tree."""

    root: bytes
    prefixes: tuple[bytes, ...]
    """Only these and what lies below them; () is everything."""
    saw_rules: Callable[[bytes], None]
    """Called with a folder that holds a `.gitattributes`, before any path below it is given."""
    closed: Callable[[bytes, OSError], None]
    """Called with a folder (its path and a slash) that cannot be listed."""


def scan(how: Scan) -> Iterator[DiskItem]:
    """Every file, link and nested repository; neither of the last two is entered."""
    pending: list[tuple[bytes, tuple[bytes, ...], _Listing]]
    pending = [(b"", how.prefixes, _listing(how, b""))]
    while pending:
        folder, prefixes, listing = pending[-1]
        for key, entry in listing:
            path = folder + key
            below = wanted_below(path.rstrip(b"/"), prefixes) if prefixes else ()
            if below is None:
                continue
            if key.endswith(b"/"):
                pending.append((path, below, _listing(how, path)))
                break
            if not below or entry.is_symlink():
                item = _item(path, entry)
                if item is not None:
                    yield item
        else:
            pending.pop()


def _listing(how: Scan, folder: bytes) -> _Listing:
    found: list[tuple[bytes, os.DirEntry[bytes]]] = []
    try:
        with os.scandir(how.root + b"/" + folder) as entries:
            for entry in entries:
                name = entry.name
                # As in a tree: a folder sorts with its slash, a nested repository without.
                if entry.is_dir(follow_symlinks=False) and not is_repository(entry.path):
                    name += b"/"
                found.append((name, entry))
    except (FileNotFoundError, NotADirectoryError):
        pass  # it went away between the listing above and now
    except OSError as error:
        how.closed(folder, error)
    found.sort(key=itemgetter(0))
    if not folder:
        found = [(name, entry) for name, entry in found if entry.name != b".git"]
    if any(name == b".gitattributes" for name, _ in found):
        how.saw_rules(folder)
    return iter(found)


def settled(latest_ns: int, now_ns: int) -> bool:
    """Whether a file last touched at `latest_ns` was so clearly before `now_ns` (racily clean).

    A file touched within one clock step of the reading could change again without a new time
    stamp; git treats its own index the same way. Both are of the file system's clock.
    """
    return latest_ns + (_FINE_CLOCK if latest_ns % _SECOND else _COARSE_CLOCK) < now_ns


def stat_key(info: os.stat_result) -> StatKey:
    """What of a file's stat tells that its bytes are the same."""
    return StatKey(info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)


def _item(path: bytes, entry: "os.DirEntry[bytes]") -> DiskItem | None:
    if entry.is_file(follow_symlinks=False):
        try:
            return path, "file", stat_key(entry.stat(follow_symlinks=False))
        except FileNotFoundError:
            return None
    if entry.is_symlink():
        return path, "symlink", None
    return path, "gitlink" if entry.is_dir(follow_symlinks=False) else "other", None


def is_repository(folder: bytes) -> bool:
    """Whether a folder has a `.git` of its own."""
    return os.path.lexists(folder + b"/.git")
