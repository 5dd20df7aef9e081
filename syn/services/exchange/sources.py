"""The files of what is imported: listed and read within bounds, never through a link."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from syn.errors import CannotError, RefusedError, UsageError
from syn.exchange.formats import Format
from syn.exchange.note import SourceFile
from syn.git.durable import Folders, read_file
from syn.model.problem import Problem, display_path

MAX_FILES = 200_000
"""Files of one import."""
MAX_DEPTH = 64
"""Folders below the one that is imported."""
MAX_BYTES = 1024 * 1024 * 1024
"""Bytes of one import."""


@dataclass(slots=True)
class Source:
    """What an import reads: files, and what of the folder is not read and why."""

    files: list[SourceFile] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_source(place: Path, form: Format) -> Source:
    """Read a file, or every file of a folder that the format knows.

    Raises:
        UsageError: there is nothing at the path, or nothing of this format in it.
        CannotError: the folder cannot be listed.
    """
    found = Source()
    if place.is_dir():
        paths = sorted(_list(place, form, found), key=os.fsencode)
        chosen = form.choose(paths)
        found.problems += [
            _left(path, form) for path in paths if form.others and path not in chosen
        ]
        _read_all(place, [path for path in paths if path in chosen], form.limit, found)
    elif place.is_file():
        _read_all(place.parent, [place.name], form.limit, found)
    else:
        raise UsageError("no-source", f"{place}: no file or folder is there")
    if not found.files and not any(p.code != form.others for p in found.problems):
        raise UsageError(
            "nothing-to-import",
            f"{place}: nothing here looks like {form.name}",
            "docs/import.md says which files each format reads",
        )
    return found


def _list(root: Path, form: Format, found: Source) -> Iterator[str]:
    """Paths of the regular files below a folder, from it; the rest is told."""
    stack = [("", 0)]
    number = 0
    while stack:
        folder, depth = stack.pop()
        try:
            entries = sorted(os.scandir(root / folder), key=lambda entry: os.fsencode(entry.name))
        except OSError as error:
            if not folder:
                raise CannotError("cannot-read", f"{root}: {error.strerror}") from error
            found.problems.append(_problem(folder, "cannot-read", f"{error.strerror}", "check it"))
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_symlink():
                found.problems.append(_problem(path, "symlink", "a symbolic link", _LINK))
            elif entry.is_dir(follow_symlinks=False):
                if form.enters(entry.name) and _enter(path, depth, found):
                    stack.append((path, depth + 1))
            elif form.enters(entry.name) and _is_file(entry, path, found):
                number += 1
                if number > MAX_FILES:
                    message = f"more than {MAX_FILES} files: the rest is not read"
                    found.problems.append(_problem(path, "too-many-files", message, _PARTS))
                    return
                yield path


def _enter(path: str, depth: int, found: Source) -> bool:
    if depth < MAX_DEPTH:
        return True
    message = f"it lies deeper than {MAX_DEPTH} folders"
    found.problems.append(_problem(path, "too-deep", message, "import it by itself"))
    return False


def _is_file(entry: os.DirEntry[str], path: str, found: Source) -> bool:
    if not entry.is_file(follow_symlinks=False):
        found.problems.append(_problem(path, "not-a-file", "neither file nor folder", "leave it"))
        return False
    if any("\ud800" <= char <= "\udfff" for char in path):
        found.problems.append(_problem(path, "name-not-utf8", "its name is not UTF-8", _RENAME))
        return False
    return True


def _read_all(root: Path, paths: list[str], limit: int, found: Source) -> None:
    room = MAX_BYTES
    with Folders(root) as folders:
        for path in paths:
            try:
                size = (root / path).stat(follow_symlinks=False).st_size
                if size > limit:
                    message = f"expected at most {limit} bytes, got {size}"
                    found.problems.append(_problem(path, "file-too-large", message, "split it"))
                    continue
                data = read_file(folders, os.fsencode(path))
            except (OSError, CannotError, RefusedError) as error:
                reason = str(getattr(error, "message", "") or getattr(error, "strerror", error))
                found.problems.append(_problem(path, "cannot-read", reason.lower(), "check it"))
                continue
            room -= len(data)
            if room < 0:
                message = f"more than {MAX_BYTES} bytes: the rest is not read"
                found.problems.append(_problem(path, "too-many-bytes", message, _PARTS))
                return
            found.files.append(SourceFile(path, data))


def _left(path: str, form: Format) -> Problem:
    kind = "no Markdown" if form.others == "attachment" else "no number in its name"
    return _problem(path, form.others, f"not a note: {kind}", "keep it where it is, or link to it")


_LINK = "import what it leads to by itself"
_PARTS = "import the folders in it one by one"
_RENAME = "rename it"


def _problem(path: str, code: str, message: str, remedy: str) -> Problem:
    return Problem(display_path(os.fsencode(path)), 0, code, message, remedy)
