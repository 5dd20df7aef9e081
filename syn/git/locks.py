"""Replacing a file that git guards with `<name>.lock`: the index, a reference.

The new bytes are made durable in a file of our own first, and that file is hard-linked as the lock.
So the lock is held for an instant, and a lock that a killed process left can be told to be ours by
its inode: it is the only kind that is ever removed (ADR 0008).
"""

import contextlib
import errno
import fcntl
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from syn.errors import CannotError, RefusedError
from syn.git.durable import fsync_folder

_OWN: Final = "own-"
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EXDEV, errno.EMLINK}
)
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class LockedError(RefusedError):
    """A lock file of git, or of another program, stands in the way; nothing was done."""

    def __init__(self, path: Path, since: str, age: str, holder: str) -> None:
        super().__init__(
            "locked",
            f"{path} is there since {since} ({age}); held by {holder}",
            f"wait for the git command that holds it; if none runs, remove {path}",
        )
        self.path = path
        self.holder = holder


@dataclass(frozen=True, slots=True)
class Guarded:
    """A file under git's lock protocol."""

    target: Path
    own_folder: Path
    """Where our prepared files stand: on the same file system as the target."""

    @property
    def lock(self) -> Path:
        """Git's lock for it."""
        return self.target.with_name(self.target.name + ".lock")


def check_lock(guarded: Guarded) -> None:
    """Remove a lock that a killed process of ours left.

    Raises:
        LockedError: any other lock is there.
    """
    try:
        found = guarded.lock.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return
    for own in _own_files(guarded.own_folder):
        if own.lstat().st_ino == found.st_ino and _is_left(own):
            guarded.lock.unlink(missing_ok=True)
            own.unlink(missing_ok=True)
            return
    raise _locked(guarded.lock, found)


def publish(guarded: Guarded, data: bytes, still_valid: Callable[[], None]) -> None:
    """Replace the target under git's lock, durably.

    `still_valid` is called with the lock held and raises when the target is not what `data` was
    made from; then nothing is done.

    Raises:
        LockedError: somebody else holds the lock.
        CannotError: `cannot-write`.
    """
    check_lock(guarded)
    sweep_own(guarded.own_folder)
    try:
        with _prepared(guarded.own_folder, data) as own, _linked(guarded, own, data):
            still_valid()
            guarded.lock.replace(guarded.target)
            fsync_folder(guarded.target.parent)
    except OSError as error:
        raise CannotError(
            "cannot-write", f"{guarded.target} cannot be written: {error.strerror}"
        ) from error


def sweep_own(folder: Path) -> None:
    """Remove the prepared files that killed processes left; git's locks are not touched."""
    for own in _own_files(folder):
        with contextlib.suppress(OSError):
            # A prepared file is locked before its first byte, so this one has no maker any more.
            if own.lstat().st_size and _is_left(own):
                own.unlink()


@contextlib.contextmanager
def _prepared(folder: Path, data: bytes) -> Iterator[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    own = folder / f"{_OWN}{os.urandom(8).hex()}"
    descriptor = os.open(own, _FLAGS, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
        yield own
    finally:
        own.unlink(missing_ok=True)
        os.close(descriptor)


@contextlib.contextmanager
def _linked(guarded: Guarded, own: Path, data: bytes) -> Iterator[None]:
    lock = guarded.lock
    try:
        os.link(own, lock)
    except FileExistsError as error:
        raise _locked(lock, lock.lstat()) from error
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _create(lock, data)
    made = lock.lstat().st_ino
    try:
        yield
    finally:
        # After the rename there is none of this name, unless somebody made a new one.
        with contextlib.suppress(FileNotFoundError):
            if lock.lstat().st_ino == made:
                lock.unlink()


def _create(lock: Path, data: bytes) -> None:
    # A file system without hard links: the lock is made as git makes it.
    try:
        descriptor = os.open(lock, _FLAGS, 0o666)
    except FileExistsError as error:
        raise _locked(lock, lock.lstat()) from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _own_files(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.name.startswith(_OWN))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is_left(own: Path) -> bool:
    try:
        with own.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):
        return False
    return True


def _locked(lock: Path, found: os.stat_result) -> LockedError:
    since = datetime.fromtimestamp(int(found.st_mtime), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return LockedError(lock, since, _age(lock, found), _holder(found))


def _age(lock: Path, found: os.stat_result) -> str:
    # The file system's own clock: what it stamps on a file made now.
    probe = lock.with_name(f"{_OWN}{os.urandom(8).hex()}")
    try:
        os.close(os.open(probe, _FLAGS, 0o600))
        seconds = int(probe.lstat().st_mtime - found.st_mtime)
        probe.unlink()
    except OSError:
        return "age unknown"
    if seconds >= _DAY:
        return f"{seconds // _DAY} days old"
    if seconds >= _HOUR:
        return f"{seconds // _HOUR} hours old"
    return f"{seconds // _MINUTE} minutes old" if seconds >= _MINUTE else f"{seconds} seconds old"


def _holder(found: os.stat_result) -> str:
    processes = Path("/proc")
    if not (processes / "self").exists():
        return "an unknown process"
    for process in processes.iterdir():
        if process.name.isdigit() and _has_open(process, found):
            return f"process {process.name} ({_name(process)})"
    return "no process that can be seen"


def _has_open(process: Path, found: os.stat_result) -> bool:
    with contextlib.suppress(OSError):
        for descriptor in (process / "fd").iterdir():
            with contextlib.suppress(OSError):
                other = descriptor.stat()
                if (other.st_dev, other.st_ino) == (found.st_dev, found.st_ino):
                    return True
    return False


def _name(process: Path) -> str:
    try:
        return (process / "comm").read_text("utf-8", "replace").strip()
    except OSError:
        return "unknown"
