"""Names for new facts: an id from a title, a path from an id; safe on every system."""

import re
import unicodedata
from collections.abc import Callable

from syn.errors import UsageError
from syn.facts.globs import FactGlobs
from syn.facts.twins import path_problems
from syn.model.config import Config

MAX_BYTES = 120
"""UTF-8 bytes of a derived name; file systems take 255, and suffixes have to fit."""
_ANY = re.compile(r"\*\*/|\*|\?|\[[^\]]*\]")


class PathError(UsageError):
    """A path that no fact can have here."""

    def __init__(self, path: str, reason: str, remedy: str) -> None:
        super().__init__("bad-path", f"{path!r:.120}: {reason}", remedy)


def slug(text: str) -> str:
    """A short name that looks like the text: lower case, its letters and digits, `-` between."""
    folded = unicodedata.normalize("NFC", text).lower()
    kept = "".join(c if c.isalnum() else " " for c in folded)
    return cut("-".join(kept.split())) or "fact"


def cut(text: str) -> str:
    """At most `MAX_BYTES` of UTF-8, cut between characters (combining marks stay with theirs)."""
    data = text.encode()
    if len(data) <= MAX_BYTES:
        return text
    short = data[:MAX_BYTES].decode("utf-8", "ignore")
    while short and unicodedata.combining(text[len(short)]):
        short = short[:-1]
    return short.rstrip("-. ")


def unused(name: str, taken: Callable[[str], bool]) -> str:
    """The name, or the first of `name-2`, `name-3` … that is not taken."""
    candidate, number = name, 1
    while taken(candidate):
        number += 1
        candidate = f"{name}-{number}"
    return candidate


def path_for(fact_id: str, config: Config, taken: Callable[[str], bool]) -> str:
    """A path for a new fact, where the first include glob that has room for one says.

    Raises:
        PathError: no include glob matches a path that could be made up.
    """
    parts = [_component(part) for part in fact_id.split("/") if part] or ["fact"]
    globs = FactGlobs(config)
    for pattern in config.include:
        folder, suffix = _frame(pattern)
        stem = folder + "/".join(parts)
        path = unused(stem, lambda name, suffix=suffix: taken(name + suffix)) + suffix  # type: ignore[misc]
        if globs.match(path) == "fact" and not path_problems([(path.encode(), "file")]):
            return path
    raise PathError(fact_id, "no glob in facts.include tells where it would go", "give --path")


def check_path(path: str, config: Config) -> None:
    """Raise `PathError` when a path cannot be one of a fact here."""
    problems = path_problems([(path.encode("utf-8", "surrogatepass"), "file")])
    for found in problems.values():
        raise PathError(path, found[0].message, "choose another path")
    match = FactGlobs(config).match(path)
    if match == "other":
        globs = ", ".join(config.include)
        raise PathError(path, "facts.include does not match it", f"it has to match {globs}")
    if match == "excluded":
        raise PathError(path, "facts.exclude matches it", "choose another path")


def _frame(pattern: str) -> tuple[str, str]:
    """The fixed folder a glob starts with, and the suffix it ends with."""
    found = _ANY.search(pattern)
    if found is None:
        return pattern.rstrip("/") + "/", ".md"
    folder = pattern[: found.start()]
    folder = folder[: folder.rfind("/") + 1]
    suffix = re.search(r"\.[A-Za-z0-9]+\Z", pattern)
    return folder, suffix[0] if suffix else ".md"


def _component(part: str) -> str:
    """One name of a path: what some system cannot hold is replaced."""
    kept = "".join(
        c if c.isalnum() or c in "-_." else "-" for c in unicodedata.normalize("NFC", part)
    )
    name = cut(kept).strip(".-") or "fact"
    return f"{name}-" if path_problems([(f"{name}.md".encode(), "file")]) else name
