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

_POSITIVE = (1 << 63) - 1
_RULE_NAMES = frozenset({b".gitattributes", b".gitignore"})


class Folder(NamedTuple):
    """What one folder looked like."""

    names: str
    """SHA-256, hex, over the names in it, and the kind and rights of each file."""
    stats: str
    """The same over size, times and inode of each file."""
    latest_ns: int
    """The latest time stamp of any of them; 0 where there is none."""


class Survey(NamedTuple):
    """What a work tree looked like."""

    rules: str
    """SHA-256, hex, over HEAD's tree, git's index, and all that settings and rules say."""
    folders: dict[bytes, Folder]
    """By path, with a final slash; the root is the empty path."""

    def digest(self) -> str:
        """SHA-256, hex, over all of it."""
        found = hashlib.sha256(self.rules.encode())
        for path, folder in sorted(self.folders.items()):
            found.update(b"%s\0%s%s" % (path, folder.names.encode(), folder.stats.encode()))
        return found.hexdigest()


def survey(repo: Repository, but: tuple[bytes, ...], rules: frozenset[bytes]) -> Survey | None:
    """Look at the work tree; None when some of it cannot be seen.

    Left out are files whose path begins with one of `but`, which are of one folder. Files of the
    names `rules`, and those of git's own rules, count as rules and not as contents.

    Raises:
        CannotError: HEAD, or the object behind it, cannot be read.
    """
    digest = hashlib.sha256(os.fsencode(repo.git_dir) + b"\0")
    digest.update(f"{repo.root}\0{repo.head_tree()}\0".encode("utf-8", "surrogateescape"))
    for path in _rule_files(repo):
        digest.update(b"%s\0%s" % (os.fsencode(path), _content(path)))
    digest.update(_settings(repo))
    look = _Look(os.fsencode(repo.root or b""), but, rules | _RULE_NAMES, digest)
    try:
        look.walk()
    except (OSError, OverflowError):
        return None  # a folder that is shut, or a time stamp beyond the year 2262
    return Survey(digest.hexdigest(), look.folders)


class _Look:
    """One pass over the folders; a nested repository is a name and no more, as in a listing."""

    def __init__(
        self,
        root: bytes,
        but: tuple[bytes, ...],
        rules: frozenset[bytes],
        digest: "hashlib._Hash",
    ) -> None:
        self.folders: dict[bytes, Folder] = {}
        self._root = root
        self._place = but[0].rpartition(b"/")[0] + b"/"
        self._but = tuple(path.rpartition(b"/")[2] for path in but)
        self._rules = rules
        self._digest = digest
        self._pending = [b""]

    def walk(self) -> None:
        while self._pending:
            folder = self._pending.pop()
            with os.scandir(self._root + b"/" + folder) as entries:
                self._look(folder, entries)

    def _look(self, folder: bytes, entries: "Iterator[os.DirEntry[bytes]]") -> None:
        # Runs once a file: the loop is as bare as it can be.
        names: list[bytes] = []
        modes: list[int] = []
        numbers: list[int] = []
        below: list[bytes] = []
        special: list[bytes] = []
        derived = self._but if folder == self._place else ()
        for entry in entries:
            name = entry.name
            if name == b".git":
                if folder:
                    self.folders[folder] = Folder(".git", "", 0)
                    return
            elif entry.is_dir(follow_symlinks=False):
                below.append(folder + name + b"/")
            elif not (derived and name.startswith(derived)):
                stat = entry.stat(follow_symlinks=False)
                names.append(name)
                modes.append(stat.st_mode)
                here = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino & _POSITIVE)
                numbers += here
                if name in self._rules:
                    special.append(b"%s%s %d %d %d %d\0" % (folder, name, *here))
        self._pending += below
        for line in sorted(special):
            self._digest.update(line)
        listed = b"".join(b"%s\0%o\0" % pair for pair in sorted(zip(names, modes, strict=True)))
        self.folders[folder] = Folder(
            hashlib.sha256(listed).hexdigest(),
            hashlib.sha256(array("q", numbers).tobytes()).hexdigest(),
            max((*numbers[0::4], *numbers[1::4]), default=0),
        )


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
