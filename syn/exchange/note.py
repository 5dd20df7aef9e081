"""A note of another program on its way to be a fact, and the file it was found in."""

from dataclasses import dataclass
from typing import TypeAlias

from syn.facts.edit import set_fields
from syn.facts.render import render
from syn.model.payload import Lexical, Mapping, Value
from syn.model.problem import Problem

PROVENANCE = "imported_from"
"""The front-matter key that says where a fact was taken from."""
_BEFORE = "before"
"""Its member for what stood under that key already: a note that was imported twice."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of what is imported."""

    path: str
    """From the imported folder, `/`-separated; the file's own name when a file is imported."""
    data: bytes


@dataclass(frozen=True, slots=True)
class Note:
    """What one fact will say, and where that was found."""

    path: str
    """The file it stands in, from the imported folder."""
    digest: str
    """`sha256:<hex>` of its source bytes: the file's, or the record's."""
    place: str
    """Where it wants to be: a path below the destination, without `.md`; any text."""
    fields: tuple[tuple[str, Value], ...] = ()
    """Front matter. Reserved keys stand under their reserved names."""
    body: str | None = None
    """None keeps the body of `base`."""
    base: bytes | None = None
    """The Markdown file whose lines are kept where `fields` does not change them."""
    record: str = ""
    """The record's own id or name, where a file holds many."""
    line: int = 1
    """Where it begins in its file."""
    body_line: int = 1
    """Line of the file on which the body begins, where there is a `base`."""
    supersedes: tuple[str, ...] = ()
    """Places of other notes."""
    superseded_by: tuple[str, ...] = ()
    """Places of other notes."""


Read: TypeAlias = Note | Problem
"""What a format finds: a note, or why something is not taken."""


def note_bytes(note: Note, more: tuple[tuple[str, Value], ...]) -> bytes:
    """The file of the fact: the note's own lines, its fields, and further ones.

    Raises:
        EditError: the note's front matter cannot be added to without changing other lines.
    """
    fields = (*note.fields, *more)
    if note.base is None:
        return render(fields, note.body or "")
    return set_fields(note.base, dict(fields), note.body, path=note.path)


def provenance(note: Note, form: str, origin: str, before: Value | None) -> Mapping:
    """Where a note was taken from, as front matter.

    Args:
        note: the note.
        form: the name of the format.
        origin: what the person calls the collection.
        before: what the note says under the same key already.
    """
    members: list[tuple[str, Value]] = [("format", form), ("origin", origin), ("path", note.path)]
    if note.record:
        members.append(("record", note.record))
    members.append(("digest", note.digest))
    if before is not None:
        members.append((_BEFORE, before))
    return Mapping(tuple(members))


def null(value: Value | None) -> bool:
    """Whether nothing is said: the key is absent, or its value is null."""
    return value is None or (isinstance(value, Lexical) and value.type == "null")
