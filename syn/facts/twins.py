"""Names that cannot be facts, judged from git tree paths alone, the same on every system.

Two paths are twins when a file system that ignores case or Unicode form has room for only one of
them. Names that another system cannot hold, or that lead out of the folder, are refused.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence

from syn.model.problem import Problem, display_path

_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])[ ]*(?:\.|\Z)", re.IGNORECASE
)
_SUSPECT = re.compile(
    rb"[\\:\n\r]|(?:\A|[/\0])(?:(?:\.{0,2}|\.git)(?:[/\0]|\Z)|con|prn|aux|nul|com|lpt)"
    rb"|[. ](?:[/\0]|\Z)",
    re.IGNORECASE,
)
"""What every name that a rule below refuses has in it; nearly no other name does. In a path, or in
several with NUL between them."""
_RENAME = "rename the file"


def path_problems(
    entries: Iterable[tuple[bytes, str]],
) -> dict[bytes, tuple[Problem, ...]]:
    """What is wrong with the names of a tree's entries; paths without a problem are left out.

    Args:
        entries: path bytes from the root and kind (`file`, `symlink`, `gitlink`, `missing`).
    """
    entries = list(entries)
    if _all_plain(entries):
        return {}
    problems: dict[bytes, list[Problem]] = defaultdict(list)
    first: dict[str, bytes] = {}
    twins: dict[str, list[bytes]] = defaultdict(list)
    for path, kind in entries:
        text = _text(path)
        if text is not None:
            key = fold(text)
            if first.setdefault(key, path) is not path:
                twins[key].append(path)
        if text is None or kind != "file" or _SUSPECT.search(path):
            problems[path] += _kind_problems(path, kind) + _name_problems(path, text)
    for key, others in twins.items():
        group = [first[key], *others]
        for path in group:
            problems[path] += _twin_problems(path, group)
    return {path: tuple(sorted(found)) for path, found in sorted(problems.items()) if found}


def _all_plain(entries: Sequence[tuple[bytes, str]]) -> bool:
    """Whether nothing below could find anything, told of all names at once."""
    joined = b"\0".join([path for path, _ in entries])
    if not joined.isascii() or any(kind != "file" for _, kind in entries):
        return False
    different = len({*joined.lower().split(b"\0")}) == len(entries)
    return different and not _SUSPECT.search(joined)


def fold(text: str) -> str:
    """What is left of a name when case and Unicode form do not count (NFC, then case folding)."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def _text(path: bytes) -> str | None:
    try:
        return path.decode()
    except UnicodeDecodeError:
        return None


def _kind_problems(path: bytes, kind: str) -> list[Problem]:
    match kind:
        case "symlink":
            return [_problem(path, "symlink", "the path is a symbolic link", _REPLACE_LINK)]
        case "gitlink":
            message = "the path is a repository of its own"
            return [_problem(path, "gitlink", message, "exclude it, or add its files themselves")]
        case _:
            return []


_REPLACE_LINK = "put the file itself there, or exclude the path"


def _name_problems(path: bytes, text: str | None) -> list[Problem]:
    if text is None:
        return [_problem(path, "name-not-utf8", "the name is not UTF-8", _RENAME)]
    found = []
    if "\n" in text or "\r" in text:
        found.append(_problem(path, "name-newline", "the name holds a line end", _RENAME))
    if "\\" in text:
        found.append(_problem(path, "name-backslash", "the name holds a backslash", _RENAME))
    if ":" in text:
        found.append(_problem(path, "name-colon", "the name holds a colon", _RENAME))
    names = text.split("/")
    if any(name in ("", ".", "..") for name in names):
        found.append(_problem(path, "name-escape", "the path leaves its folder", _RENAME))
    elif any(name.lower() == ".git" for name in names):
        found.append(_problem(path, "name-git", "the path lies in a .git folder", _RENAME))
    if any(_RESERVED.match(name) for name in names):
        found.append(_problem(path, "name-reserved", "Windows reserves the name", _RENAME))
    if any(name.endswith((".", " ")) for name in names if name not in (".", "..")):
        message = "a name ends in a dot or a blank, which Windows drops"
        found.append(_problem(path, "name-reserved", message, _RENAME))
    return found


def _twin_problems(path: bytes, group: list[bytes]) -> list[Problem]:
    others = ", ".join(display_path(other) for other in sorted(group) if other != path)
    if len({_nfc(other) for other in group}) < len(group):
        message = f"the name differs only in Unicode form from {others}"
        return [_problem(path, "unicode-twin", message, "rename one of them")]
    message = f"the name differs only in case from {others}"
    return [_problem(path, "case-twin", message, "rename one of them")]


def _nfc(path: bytes) -> str:
    return unicodedata.normalize("NFC", path.decode())


def _problem(path: bytes, code: str, message: str, remedy: str) -> Problem:
    return Problem(display_path(path), 0, code, message, remedy)
