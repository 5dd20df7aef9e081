"""A work tree at a glance: one digest over everything that a listing of it depends on (ADR 0039).

A listing merges HEAD's tree, git's index and the folders on disk, and asks git's rules about what
is in none of the first two. When none of these is touched, neither is the listing. Names and stats
are all that is looked at, so this costs little more than the system calls that give them.
"""

import hashlib
import os
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pygit2
from pygit2.enums import ConfigLevel

from syn.git.attributes import user_files
from syn.git.repository import Repository

_SECOND = 1_000_000_000
_COARSE_CLOCK = 2 * _SECOND
"""Nanoseconds: the step of file systems that keep whole seconds, or two (FAT)."""
_FINE_CLOCK = 100_000_000
"""Nanoseconds: generous for kernels that stamp files at a timer tick."""


class Survey(NamedTuple):
    """What a work tree looked like."""

    digest: str
    """SHA-256, hex."""
    latest_ns: int
    """The latest time stamp of any file."""

    def settled(self, now_ns: int) -> bool:
        """Whether a file touched from `now_ns` on has to look different from what is here.

        `now_ns` is a reading of the file system's own clock, taken before the survey.
        """
        step = _FINE_CLOCK if self.latest_ns % _SECOND else _COARSE_CLOCK
        return self.latest_ns + step < now_ns


def survey(repo: Repository, but: bytes) -> Survey | None:
    """Look at the work tree, all but the file at the path `but`; None when some cannot be seen.

    Raises:
        CannotError: HEAD, or the object behind it, cannot be read.
    """
    digest = hashlib.sha256(os.fsencode(repo.git_dir) + b"\0")
    latest = 0
    digest.update(f"{repo.root}\0{repo.head_tree()}\0".encode("utf-8", "surrogateescape"))
    for path in _rule_files(repo):
        digest.update(b"%s\0%s" % (os.fsencode(path), _content(path)))
    digest.update(_settings(repo))
    try:
        for folder, names, stats, newest in _folders(os.fsencode(repo.root or b""), but):
            digest.update(b"\0\0%s\0%d\0%s\0" % (folder, len(names), b"\0".join(names)))
            digest.update(stats.tobytes())
            latest = max(latest, newest)
    except OSError:
        return None
    return Survey(digest.hexdigest(), latest)


def _folders(root: bytes, but: bytes) -> Iterator[tuple[bytes, list[bytes], "array[int]", int]]:
    """Each folder: path, names, five numbers for each file, the latest time stamp.

    A nested repository is a name and no more, as in a listing; so is everything in `.git`.
    """
    pending = [b""]
    while pending:
        folder = pending.pop()
        names: list[bytes] = []
        numbers: list[int] = []
        below: list[bytes] = []
        nested = False
        with os.scandir(root + b"/" + folder) as entries:
            for entry in entries:
                name = entry.name
                if name == b".git":
                    nested = folder != b""
                elif entry.is_dir(follow_symlinks=False):
                    below.append(folder + name + b"/")
                elif folder + name != but:
                    stat = entry.stat(follow_symlinks=False)
                    names.append(name)
                    numbers += (
                        stat.st_mtime_ns,
                        stat.st_ctime_ns,
                        stat.st_size,
                        stat.st_ino & 0x7FFF_FFFF_FFFF_FFFF,
                        stat.st_mode,
                    )
        if nested:
            yield folder, [b".git"], array("q"), 0
            continue
        pending += below
        latest = max((*numbers[0::5], *numbers[1::5]), default=0)
        yield folder, names, array("q", numbers), latest


def _rule_files(repo: Repository) -> Iterator[Path]:
    """The files outside the work tree that decide what a listing says."""
    yield repo.index_path
    yield repo.git_dir / "info" / "sparse-checkout"
    for name in ("attributes", "exclude"):
        yield repo.common_dir / "info" / name
    yield from user_files(repo)
    for folder in str(pygit2.settings.search_path[ConfigLevel.XDG]).split(":"):
        yield Path(folder) / "ignore"
    try:
        yield Path(str(repo.pg.config["core.excludesfile"])).expanduser()
    except (KeyError, pygit2.GitError):
        return


def _content(path: Path) -> bytes:
    try:
        return hashlib.sha256(path.read_bytes()).digest()
    except OSError as error:
        return str(error.errno).encode()


def _settings(repo: Repository) -> bytes:
    found = (f"{entry.name}={entry.value}" for entry in repo.pg.config)
    return "\0".join(found).encode("utf-8", "surrogateescape")
