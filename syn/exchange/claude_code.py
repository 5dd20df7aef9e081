"""`claude-code`: CLAUDE.md files, rules, and the folder of notes the agent keeps for itself."""

import re
from collections.abc import Iterable, Iterator

from syn.exchange.markdown import Opened, opened, prose_lines
from syn.exchange.note import Note, Read, SourceFile
from syn.model.payload import Mapping, scalar_text
from syn.model.problem import Problem

_INCLUDE = re.compile(r"(?:^|(?<=\s))@((?:~|\.{0,2})/?[\w.\-/ ]*\w\.\w+)")
_CODE = re.compile(r"`[^`]*`")


def read(files: Iterable[SourceFile]) -> Iterator[Read]:
    """Every file of instructions or memory; files they include are named, not followed."""
    for found in opened(files):
        if isinstance(found, Problem):
            yield found
            continue
        yield from _includes(found)
        yield _note(found)


def kind_of(path: str) -> str:
    """What a file is by its name and folder: `instructions`, `rule` or `memory`."""
    folders, _, name = path.rpartition("/")
    if name in ("CLAUDE.md", "CLAUDE.local.md"):
        return "instructions"
    return "rule" if "rules" in folders.split("/") else "memory"


def _note(file: Opened) -> Note:
    metadata = file.fields.get("metadata")
    kind = scalar_text(metadata.get("type")) if isinstance(metadata, Mapping) else None
    return file.note(
        ("type", None if file.text("type") else kind or kind_of(file.path)),
        ("title", None if file.text("title") else file.text("name") or None),
    )


def _includes(file: Opened) -> Iterator[Problem]:
    for number, line in prose_lines(file.body):
        for found in _INCLUDE.finditer(_CODE.sub(" ", line)):
            yield Problem(
                file.path,
                file.body_line + number,
                "include-not-followed",
                f"it includes {found[1]!r:.80}, which is not read in its place",
                "import that file by itself; the line stays in the text",
            )
