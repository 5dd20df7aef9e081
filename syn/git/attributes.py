"""Attributes and ignore rules of the paths of a work tree; nothing they name is ever run."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import ConfigLevel

from syn.errors import SynError
from syn.git import durable
from syn.git.convert import KEEP, Conversion, conversion
from syn.git.gitindex import IndexEntry
from syn.git.repository import Repository
from syn.git.rules import RuleFile, States, attributes_of, parse_rules

RULES_NAME: Final = b".gitattributes"
_NAMES: Final = frozenset({"text", "crlf", "eol", "ident", "filter", "working-tree-encoding"})
_OFF: Final = frozenset({"", "false", "no", "off", "0"})


class Attributes:
    """The conversions of one work tree.

    Rules come into play as their files are seen (`saw_rules`); where none of them could convert
    anything, no path is looked up.
    """

    def __init__(self, repo: Repository) -> None:
        self._repo = repo
        self._autocrlf = _setting(repo.pg, "core.autocrlf")
        self._fold_case = _setting(repo.pg, "core.ignorecase") not in _OFF
        self._first = tuple(self._outer(repo.common_dir / "info" / "attributes"))
        self._last = tuple(file for path in user_files(repo) for file in self._outer(path))
        self._of_folder: dict[bytes, RuleFile | None] = {}
        self._frames: dict[bytes, tuple[RuleFile, ...]] = {}
        self._macros = {name for file in (*self._first, *self._last) for name in file.macros}
        self._active = self._autocrlf not in _OFF or any(
            self._converts(file) for file in (*self._first, *self._last)
        )
        self._ignored_folders: dict[bytes, bool] = {b"": False}

    @property
    def active(self) -> bool:
        """Whether any rule seen so far could convert a file."""
        return self._active

    def forget(self) -> None:
        """Read rule files anew from here on."""
        self._of_folder.clear()
        self._frames.clear()

    def saw_rules(self, folder: bytes) -> None:
        """Take note that `folder` (with its slash) holds a `.gitattributes`."""
        self._rules_of(folder)

    def saw_staged_rules(self, entries: Iterable[IndexEntry]) -> None:
        """Take note of the rules that stand in git's index alone, as in a sparse checkout."""
        for entry in entries:
            if entry.path.endswith(RULES_NAME):
                folder = _folder(entry.path)
                if entry.path == folder + RULES_NAME and self._disk_rules(folder) is None:
                    self._take(folder, self._repo.store.blob(entry.oid))

    def may_convert(self, path: bytes) -> bool:
        """Whether `conversion` could be anything but `KEEP` for a path of this work tree."""
        self._frames_of(_folder(path))
        return self._active

    def conversion(self, path: bytes) -> Conversion:
        """What git would do to the bytes of a path when it is added."""
        if not self.may_convert(path):
            return KEEP
        frames = (*self._first, *self._frames_of(_folder(path)), *self._last)
        return conversion(attributes_of(path, frames), self._autocrlf)

    def ignored(self, path: bytes) -> bool:
        """Whether git's rules ignore an untracked path; a folder's answer holds for all below."""
        return self._folder_ignored(_folder(path).rstrip(b"/")) or self._ask(path)

    def _folder_ignored(self, folder: bytes) -> bool:
        known = self._ignored_folders.get(folder)
        if known is None:
            known = self._folder_ignored(folder.rpartition(b"/")[0]) or self._ask(folder + b"/")
            self._ignored_folders[folder] = known
        return known

    def _ask(self, path: bytes) -> bool:
        # The binding takes text only; in a name that is none, wildcards still match the marks.
        return bool(self._repo.pg.path_is_ignored(path.decode("utf-8", "replace")))

    def _frames_of(self, folder: bytes) -> tuple[RuleFile, ...]:
        frames = self._frames.get(folder)
        if frames is None:
            above = self._frames_of(_folder(folder.rstrip(b"/"))) if folder else ()
            own = self._rules_of(folder)
            frames = above if own is None else (own, *above)
            self._frames[folder] = frames
        return frames

    def _rules_of(self, folder: bytes) -> RuleFile | None:
        if folder not in self._of_folder:
            data = self._disk_rules(folder)
            if data is None:
                self._of_folder[folder] = None
            else:
                self._take(folder, data)
        return self._of_folder[folder]

    def _take(self, folder: bytes, data: bytes) -> None:
        file = self._parse(data, folder)
        self._of_folder[folder] = file
        self._macros.update(file.macros)
        self._active = self._active or self._converts(file)

    def _disk_rules(self, folder: bytes) -> bytes | None:
        if self._repo.root is None:
            return None
        try:
            return durable.read(self._repo.root, folder + RULES_NAME)
        except SynError:
            return None  # absent, or a link, which git does not follow either

    def _parse(self, data: bytes, folder: bytes) -> RuleFile:
        return parse_rules(data, folder, macros=not folder, fold_case=self._fold_case)

    def _outer(self, path: Path) -> list[RuleFile]:
        try:
            return [self._parse(path.read_bytes(), b"")]
        except OSError:
            return []

    def _converts(self, file: RuleFile) -> bool:
        lines = [rule.states for rule in file.rules]
        return any(self._sets(states) for states in (*lines, *file.macros.values()))

    def _sets(self, states: States) -> bool:
        # `-text` and `binary` only ever keep bytes; a macro of the user's may stand for anything.
        return any(
            value not in {None, False} and (name in _NAMES or name in self._macros)
            for name, value in states
        )


def _folder(path: bytes) -> bytes:
    folder, slash, _ = path.rpartition(b"/")
    return folder + slash


def _setting(pg: pygit2.Repository, name: str) -> str:
    try:
        return str(pg.config[name]).strip().lower()
    except (KeyError, pygit2.GitError):
        return ""


def user_files(repo: Repository) -> list[Path]:
    """The attribute files outside the repository: the user's own counts before the system's."""
    found: list[Path] = []
    search = pygit2.settings.search_path
    try:
        found.append(Path(str(repo.pg.config["core.attributesfile"])).expanduser())
    except (KeyError, pygit2.GitError):
        found += [Path(f) / "attributes" for f in str(search[ConfigLevel.XDG]).split(":") if f]
    found += [Path(f) / "gitattributes" for f in str(search[ConfigLevel.SYSTEM]).split(":") if f]
    return found
