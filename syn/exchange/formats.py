"""Every format that can be imported, and which files of a folder it reads."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from syn.exchange import adr, basic_memory, claude_code, markdown, mcp_memory, mem0, obsidian
from syn.exchange.note import Read, SourceFile
from syn.facts.text import FILE_LIMIT

STORE_LIMIT = 64 * 1024 * 1024
"""Bytes of one file of records."""
_MARKDOWN = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_RECORD = re.compile(r"(?:adr[-_ ]?)?\d", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Format:
    """One program's way of keeping notes."""

    name: str
    read: Callable[[Iterable[SourceFile]], Iterator[Read]]
    choose: Callable[[Sequence[str]], frozenset[str]]
    """Of the paths of a folder, those that are read."""
    enters: Callable[[str], bool]
    """Whether a folder with this name is looked into."""
    limit: int
    """Bytes of one file."""
    agent: bool
    """Written by programs, so not to be trusted before a person looked: tainted."""
    others: str = ""
    """The code under which the files that are not read are told; "" tells none."""


def _notes(paths: Sequence[str]) -> frozenset[str]:
    return frozenset(path for path in paths if _MARKDOWN.search(path))


def _records(paths: Sequence[str]) -> frozenset[str]:
    return frozenset(path for path in _notes(paths) if _RECORD.match(path.rpartition("/")[2]))


def _memories(paths: Sequence[str]) -> frozenset[str]:
    """CLAUDE.md files, rules, and every note in or below a folder that holds a MEMORY.md."""
    kept = {path.removesuffix("MEMORY.md") for path in paths if path.endswith("MEMORY.md")}
    names = ("CLAUDE.md", "CLAUDE.local.md")
    return frozenset(
        path
        for path in _notes(paths)
        if path.rpartition("/")[2] in names
        or path.startswith("rules/")
        or ".claude/rules/" in path
        or any(path.startswith(folder) for folder in kept)
    )


def _stores(*suffixes: str) -> Callable[[Sequence[str]], frozenset[str]]:
    return lambda paths: frozenset(path for path in paths if path.lower().endswith(suffixes))


def _visible(name: str) -> bool:
    return not name.startswith(".")


def _code(name: str) -> bool:
    return name not in (".git", "node_modules", ".venv")


FORMATS: dict[str, Format] = {
    found.name: found
    for found in (
        Format("obsidian", obsidian.read, _notes, _visible, FILE_LIMIT, False, "attachment"),
        Format("markdown", markdown.read, _notes, _visible, FILE_LIMIT, False, "attachment"),
        Format("adr", adr.read, _records, _visible, FILE_LIMIT, False, "not-a-record"),
        Format(
            "mcp-memory", mcp_memory.read, _stores(".jsonl", ".json"), _visible, STORE_LIMIT, True
        ),
        Format("basic-memory", basic_memory.read, _notes, _visible, FILE_LIMIT, True, "attachment"),
        Format("claude-code", claude_code.read, _memories, _code, FILE_LIMIT, True),
        Format("mem0", mem0.read, _stores(".json"), _visible, STORE_LIMIT, True),
    )
}
