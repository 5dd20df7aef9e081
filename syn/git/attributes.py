"""Attributes and ignore rules of paths, asked of libgit2; nothing they name is ever run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import AttrCheck, ConfigLevel

from syn.git.convert import KEEP, AttributeValue, Conversion, conversion
from syn.git.repository import Repository

_NAMES: Final = ("text", "crlf", "eol", "ident", "filter", "working-tree-encoding")
_TOKENS: Final = (
    b"text",
    b"crlf",
    b"eol",
    b"ident",
    b"filter",
    b"working-tree-encoding",
    b"binary",
)
_HARMLESS: Final = (b"-text", b"-crlf", b"-ident", b"-filter", b"binary")


class Attributes:
    """The conversions of one work tree, looked up only where a rule could name one."""

    def __init__(self, repo: Repository) -> None:
        self._pg = repo.pg
        self._autocrlf = _setting(repo.pg, "core.autocrlf")
        self._active = self._autocrlf not in {"", "false", "no", "off", "0"} or any(
            _mentions(_read(path)) for path in _outer_sources(repo)
        )
        self._ignored_folders: dict[bytes, bool] = {b"": False}

    @property
    def active(self) -> bool:
        """Whether any rule seen so far could convert a file."""
        return self._active

    def saw_rules(self, path: Path) -> None:
        """Take note of a `.gitattributes` file that applies from here on."""
        self._active = self._active or _mentions(_read(path))

    def assume_rules(self) -> None:
        """Look every path up: rules stand where they were not read (git's index alone)."""
        self._active = True

    def conversion(self, path: bytes) -> Conversion:
        """What git would do to the bytes of a path when it is added."""
        if not self._active:
            return KEEP
        text = _text(path)
        found: dict[str, AttributeValue] = {
            name: self._pg.get_attr(text, name, AttrCheck.FILE_THEN_INDEX) for name in _NAMES
        }
        return conversion(found, self._autocrlf)

    def ignored(self, path: bytes) -> bool:
        """Whether git's rules ignore an untracked path; a folder's answer holds for all below."""
        folder, slash, _ = path.rpartition(b"/")
        return self._folder_ignored(folder if slash else b"") or self._ask(path)

    def _folder_ignored(self, folder: bytes) -> bool:
        known = self._ignored_folders.get(folder)
        if known is None:
            known = self._folder_ignored(folder.rpartition(b"/")[0]) or self._ask(folder + b"/")
            self._ignored_folders[folder] = known
        return known

    def _ask(self, path: bytes) -> bool:
        return bool(self._pg.path_is_ignored(_text(path)))


def _text(path: bytes) -> str:
    # The binding takes text only; in a name that is none, wildcards still match the marks.
    return path.decode("utf-8", "replace")


def _setting(pg: pygit2.Repository, name: str) -> str:
    try:
        return str(pg.config[name]).strip().lower()
    except (KeyError, pygit2.GitError):
        return ""


def _outer_sources(repo: Repository) -> Sequence[Path]:
    found = [repo.common_dir / "info" / "attributes"]
    named = _setting(repo.pg, "core.attributesfile")
    if named:
        # Spelling matters here, so the setting is read again with its case.
        found.append(Path(str(repo.pg.config["core.attributesfile"])).expanduser())
    search = pygit2.settings.search_path
    for level, name in ((ConfigLevel.XDG, "attributes"), (ConfigLevel.SYSTEM, "gitattributes")):
        found += [Path(folder) / name for folder in str(search[level]).split(":") if folder]
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _mentions(rules: bytes) -> bool:
    words = [word.partition(b"=")[0] for word in rules.split()]
    return any(word not in _HARMLESS and word.lstrip(b"-!") in _TOKENS for word in words)
