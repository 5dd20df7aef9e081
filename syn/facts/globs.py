"""Which paths are facts: the include and exclude globs of `synapse.toml`.

A glob is matched against the whole path from the root, case-sensitively, on every platform:
`*` and `?` stand for characters of one name, `[…]` for one of a set (`[!…]` for none of it),
`**` as a whole name for any number of folders. A glob without any of these also matches
everything below the folder it names.
"""

import re
from typing import Literal, TypeAlias

from syn.model.config import Config

Match: TypeAlias = Literal["fact", "excluded", "other"]

_SPECIAL = re.compile(r"[*?\[]")
_OWN = (".synapse/", ".git/")


class FactGlobs:
    """The compiled globs of one configuration."""

    def __init__(self, config: Config) -> None:
        self._globs = config.include
        self._include = compile_globs(config.include)
        self._exclude = compile_globs(config.exclude)

    def leads_to_facts(self, folder: str) -> bool:
        """Whether files below a folder could be facts; a folder that is excluded itself, no."""
        if folder.startswith(_OWN) or self._exclude.match(folder):
            return False
        return any(_leads(glob, folder) for glob in self._globs)

    def match(self, path: str) -> Match:
        """What a path from the root is; what is excluded would be a fact otherwise."""
        if path.startswith(_OWN) or not self._include.match(path):
            return "other"
        return "excluded" if self._exclude.match(path) else "fact"


def compile_globs(globs: tuple[str, ...]) -> re.Pattern[str]:
    """One expression that matches the paths of any of the globs, in time linear in the path."""
    if not globs:
        return re.compile(r"(?!)")
    return re.compile("|".join(f"(?:{_translate(glob)})" for glob in globs), re.DOTALL)


def _leads(glob: str, folder: str) -> bool:
    """Whether the names of a folder are the first names of what a glob matches."""
    wanted = [name for name in glob.split("/") if name]
    names = folder.split("/")
    for pattern, name in zip(wanted, names, strict=False):
        if pattern == "**":
            return True
        if not re.fullmatch(_translate_name(pattern), name, re.DOTALL):
            return False
    return len(names) < len(wanted)


def escape(path: str) -> str:
    """The glob that matches exactly this path."""
    return _SPECIAL.sub(lambda found: f"[{found[0]}]", path)


def _translate(glob: str) -> str:
    if not _SPECIAL.search(glob):
        return re.escape(glob.rstrip("/")) + r"(?:/|\Z)"
    names = [name for name in glob.split("/") if name]
    runs: list[list[str]] = [[]]
    for name in names:
        if name == "**":
            runs.append([])
        else:
            runs[-1].append(_translate_name(name))
    if glob.endswith("/") or (len(runs) > 1 and not runs[-1]):
        # a folder, or everything below: at least one more name
        runs.append([r"[^/]+"]) if not runs[-1] else runs.extend([[], [r"[^/]+"]])
    return _join(runs)


def _join(runs: list[list[str]]) -> str:
    """Runs of names with any number of folders between them.

    The first place where a middle run fits is as good as any later one, so an atomic group
    keeps the search linear.
    """
    head, *rest = ["/".join(run) for run in runs]
    if not rest:
        return head + r"\Z"
    *middle, last = rest
    parts = [f"{head}/" if head else ""]
    parts += [rf"(?>(?:[^/]+/)*?{run}/)" for run in middle if run]
    return "".join(parts) + rf"(?:[^/]+/)*{last}\Z"


def _translate_name(name: str) -> str:
    """One name: the same atomic construction, character by character."""
    parts = re.findall(r"\[!?\]?[^\]]*\]|.", name, re.DOTALL)
    runs = [""]
    for part in parts:
        if part == "*":
            runs.append("")
        else:
            runs[-1] += _translate_part(part)
    if len(runs) == 1:
        return runs[0]
    head, *middle, last = runs
    return head + "".join(rf"(?>[^/]*?{run})" for run in middle if run) + rf"[^/]*{last}(?=/|\Z)"


def _translate_part(part: str) -> str:
    if part == "?":
        return "[^/]"
    if len(part) > 1:
        negate = part.startswith("[!")
        chars = part[2:-1] if negate else part[1:-1]
        chars = re.sub(r"([\\\[\]^&~|])", r"\\\1", chars)
        return rf"(?!/)[{'^' if negate else ''}{chars}]"
    return re.escape(part)
