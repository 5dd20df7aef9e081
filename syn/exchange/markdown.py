"""`markdown`: any folder of Markdown files; and what the other Markdown formats share."""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from syn.canon.digest import sha256
from syn.exchange.note import PROVENANCE, Note, Read, SourceFile
from syn.facts import front_matter
from syn.facts.collector import Collector
from syn.facts.front_values import Watch
from syn.facts.split import split
from syn.facts.text import conflict_markers, decode
from syn.model.payload import Lexical, Mapping, Value, scalar_text
from syn.model.problem import Problem

_SUFFIX = re.compile(r"\.(?:md|markdown)\Z", re.IGNORECASE)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Opened:
    """A Markdown file that can be read."""

    path: str
    data: bytes
    """UTF-8."""
    digest: str
    """Of the bytes as they were found."""
    fields: Mapping
    body: str
    body_line: int

    def note(self, *fields: tuple[str, Value | None]) -> Note:
        """The note that this file is, with these fields set; a None sets nothing."""
        return Note(
            path=self.path,
            digest=self.digest,
            place=stem(self.path),
            fields=tuple((key, value) for key, value in fields if value is not None),
            base=self.data,
            body_line=self.body_line,
        )

    def text(self, key: str) -> str:
        """A scalar of the front matter as text; "" when there is none."""
        return scalar_text(self.fields.get(key)) or ""

    def texts(self, key: str) -> tuple[str, ...]:
        """The scalars of a list, or of one text."""
        value = self.fields.get(key)
        if isinstance(value, Mapping) or value is None:
            return ()
        items = value if isinstance(value, tuple) else (value,)
        return tuple(text for item in items if (text := scalar_text(item)))


def open_markdown(file: SourceFile) -> Opened | tuple[Problem, ...]:
    """Read the front matter of a file as a fact's is read; what is wrong comes back as values."""
    collector = Collector(file.path)
    text = decode(file.data, collector)
    parts = split(text, collector) if text is not None else None
    if text is not None:
        conflict_markers(text, collector)
    fields = Mapping()
    if parts is not None and parts.front is not None:
        fields = front_matter.read(parts.front, Watch(), collector).fields
    if collector.problems or parts is None:
        return tuple(sorted(set(collector.problems)))
    digest = sha256(file.data)
    return Opened(file.path, file.data, digest, fields, parts.body, parts.body_line)


def opened(files: Iterable[SourceFile]) -> Iterator[Opened | Problem]:
    """Every file that can be read, and the problems of the others."""
    for file in files:
        plain = as_utf8(file)
        found = open_markdown(plain)
        if not isinstance(found, Opened):
            yield from found
            continue
        if plain is not file:
            message = "it is UTF-16, and its fact is UTF-8"
            yield Problem(file.path, 1, "converted", message, "save the note as UTF-8")
        yield replace(found, digest=sha256(file.data))


def as_utf8(file: SourceFile) -> SourceFile:
    """A file that says it is UTF-16 as UTF-8; any other as it is. Facts are never guessed at."""
    if not file.data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return file
    try:
        text = file.data.decode("utf-16")
    except UnicodeDecodeError:
        return file
    return file if "\0" in text else SourceFile(file.path, text.encode())


def read(files: Iterable[SourceFile]) -> Iterator[Read]:
    """Every file is a note; nothing in it is changed."""
    for found in opened(files):
        yield found.note() if isinstance(found, Opened) else found


def stem(path: str) -> str:
    """A path without the suffix of a Markdown file."""
    return _SUFFIX.sub("", path)


def prose_lines(body: str) -> Iterator[tuple[int, str]]:
    """The lines of a body outside fenced code, with their number from 0."""
    fence = ""
    for number, line in enumerate(body.split("\n")):
        found = _FENCE.match(line)
        if not fence and found:
            fence = found[1]
        elif fence:
            if found and found[1].startswith(fence) and not line.strip(" `~\r"):
                fence = ""
        else:
            yield number, line.removesuffix("\r")


def merged(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    """Texts of both, each once, in order."""
    return tuple(dict.fromkeys((*first, *second)))


def kept_provenance(fields: Mapping) -> Value | None:
    """What a note says of an import before this one."""
    value = fields.get(PROVENANCE)
    return None if isinstance(value, Lexical) and value.type == "null" else value
