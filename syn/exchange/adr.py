"""`adr`: a folder of decision records, as adr-tools (Nygard) and MADR write them.

Status and supersession stand in the front matter (MADR 3 and 4), under a `Status` heading
(adr-tools), or in a list or line `Status: …` (MADR 2). Both directions of a supersession are
written wherever one of them is declared.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from syn.exchange.markdown import Opened, opened, prose_lines, stem
from syn.exchange.note import Note, Read, SourceFile
from syn.model.problem import Problem

_HEADING = re.compile(
    r"#{1,6}[ \t]+(?:ADR[ -]?)?(?:\d+[.:)]?[ \t]+|\d+[ \t]*[-\u2013\u2014:][ \t]*)?(.+)"
)
_STATUS_HEADING = re.compile(r"#{1,6}[ \t]+Status[ \t]*:?[ \t]*#*[ \t]*\Z", re.IGNORECASE)
_ANY_HEADING = re.compile(r"#{1,6}[ \t]")
_MEMBER = re.compile(
    r"[-*+]?[ \t]*(?:\*\*|__)?(?P<key>Status|Date|Deciders)(?:\*\*|__)?[ \t]*:(?:\*\*|__)?"
    r"[ \t]*(?P<value>.+)",
    re.IGNORECASE,
)
_SUPERSEDED = re.compile(r"super[sc]ed[a-z]*[ \t]+by\b(.*)", re.IGNORECASE)
_SUPERSEDES = re.compile(r"super[sc]edes\b(.*)", re.IGNORECASE)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_NUMBER = re.compile(r"(\d{1,12})")
_WORD = re.compile(r"[A-Za-z][A-Za-z-]*")
_KNOWN = frozenset(
    ("draft", "proposed", "accepted", "rejected", "deprecated", "superseded", "superceded")
)


@dataclass(slots=True)
class _Record:
    """One decision record, before the others are known."""

    file: Opened
    status: str = ""
    line: int = 1
    """Where the status stands."""
    title: str = ""
    date: str = ""
    replaced_by: list[str] = field(default_factory=list)
    """References as they are written: file names or numbers."""
    replaces: list[str] = field(default_factory=list)


def read(files: Iterable[SourceFile]) -> Iterator[Read]:
    """Every record, tied to those it supersedes; a reference that leads nowhere is told."""
    records: list[_Record] = []
    for found in opened(files):
        if isinstance(found, Problem):
            yield found
        else:
            records.append(_record(found))
    names = _names(records)
    pairs: set[tuple[str, str]] = set()
    for record in records:
        own = record.file.path
        pairs |= {(own, names[name]) for name in record.replaced_by if name in names}
        pairs |= {(names[name], own) for name in record.replaces if name in names}
        unknown = [n for n in (*record.replaced_by, *record.replaces) if n not in names]
        yield from (_dangling(record, name) for name in unknown)
    for record in records:
        own = record.file.path
        successors = _places((new for old, new in pairs if old == own), own)
        yield _note(record, successors, _places((old for old, new in pairs if new == own), own))


def _places(paths: Iterable[str], own: str) -> tuple[str, ...]:
    return tuple(sorted({stem(path) for path in paths if path != own}))


def _note(record: _Record, successors: tuple[str, ...], predecessors: tuple[str, ...]) -> Note:
    file = record.file
    note = file.note(
        ("type", None if file.text("type") else "decision"),
        ("title", None if file.text("title") else record.title or None),
        ("status", record.status if record.status not in ("", file.text("status")) else None),
        ("date", None if file.text("date") else record.date or None),
    )
    return replace(note, supersedes=predecessors, superseded_by=successors)


def _record(file: Opened) -> _Record:
    record = _Record(file)
    in_status = False
    for number, line in prose_lines(file.body):
        text = line.strip()
        if _STATUS_HEADING.match(text):
            in_status = True
            continue
        if _ANY_HEADING.match(text):
            in_status = False
            _take_title(record, text)
        elif found := _MEMBER.fullmatch(text):
            _take_member(record, found, file.body_line + number)
        elif in_status and text:
            _take_status(record, text, file.body_line + number)
    if status := file.text("status"):
        record.status = ""
        _take_status(record, status, 1)
    return record


def _take_title(record: _Record, text: str) -> None:
    found = _HEADING.fullmatch(text)
    if not record.title and found:
        record.title = found[1].strip().rstrip("#").strip()


def _take_member(record: _Record, found: re.Match[str], line: int) -> None:
    value = found["value"].strip().strip("*_").strip()
    match found["key"].lower():
        case "date":
            record.date = record.date or value
        case "status":
            _take_status(record, value, line)
        case _:
            pass


def _take_status(record: _Record, text: str, line: int) -> None:
    """One line of a status: a word, or a reference to another record."""
    if found := _SUPERSEDED.search(text):
        record.replaced_by += _references(found[1])
        record.status = "superseded"
        record.line = line
    elif found := _SUPERSEDES.match(text):
        record.replaces += _references(found[1])
        record.line = line
    elif word := _WORD.match(text):
        known = word[0].lower()
        if not record.status:
            record.status = known if known in _KNOWN else _sentence(text)
            record.line = line


def _sentence(text: str) -> str:
    return text.partition(".")[0].strip()[:80]


def _references(text: str) -> list[str]:
    """File names of links, else the first number: `[5. Use X](0005-use-x.md)`, `ADR-0005`."""
    if links := _LINK.findall(text):
        return [link.partition("#")[0].rpartition("/")[2] for link in links]
    found = _NUMBER.search(text)
    return [str(int(found[1]))] if found else [text.strip()] if text.strip() else []


def _names(records: Iterable[_Record]) -> dict[str, str]:
    """File names and numbers to paths; one that two records have names none."""
    found: dict[str, set[str]] = {}
    for record in records:
        path = record.file.path
        name = path.rpartition("/")[2]
        found.setdefault(name, set()).add(path)
        if number := _NUMBER.search(name):
            found.setdefault(str(int(number[1])), set()).add(path)
    return {name: min(paths) for name, paths in found.items() if len(paths) == 1}


def _dangling(record: _Record, reference: str) -> Problem:
    return Problem(
        record.file.path,
        record.line,
        "unknown-record",
        f"it names {reference!r:.60} in its status, and no record here is that, or several are",
        "import the whole folder, or say it in supersedes and superseded_by afterwards",
    )
