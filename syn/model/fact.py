"""A fact: one Markdown file that could be read, and a file that could not."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.model.payload import Mapping
from syn.model.problem import Problem

LinkSyntax: TypeAlias = Literal["wiki", "embed", "markdown", "frontmatter", "relation"]


@dataclass(frozen=True, slots=True)
class Link:
    """A reference as it is written; resolution happens in `syn.index.resolve`."""

    line: int
    """Line in the file, from 1."""
    syntax: LinkSyntax
    target: str
    """The target without text and heading: `note`, `dir/note.md`."""
    text: str = ""
    heading: str = ""
    relation: str = ""
    """The relation field or front-matter key it stands in, else ""."""


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time: what was written, and a key that orders it."""

    text: str
    """As written: `2026-04-15`, `2026-04-15T12:00:00+02:00`."""
    key: str
    """UTC, fixed width, nanoseconds: `2026-04-15T10:00:00.000000000Z`. Compares as text."""


@dataclass(frozen=True, slots=True)
class Source:
    """Who or what said so (reserved key `source`)."""

    kind: str = ""
    agent: str = ""
    session: str = ""
    url: str = ""

    @property
    def external(self) -> bool:
        """Whether it comes from outside the workspace: a URL, or a kind that is no person."""
        return bool(self.url) or self.kind in EXTERNAL_KINDS


EXTERNAL_KINDS = frozenset({"external", "web", "tool", "email", "document", "mcp"})


@dataclass(frozen=True, slots=True)
class Fact:
    """One readable Markdown file. `fields` keeps everything; reserved keys are lifted out too."""

    path: str
    """Path from the root, `/`-separated; the primary key."""
    id: str
    """The `id` as written, else the path without `.md`."""
    explicit_id: bool
    """Whether `id` is written in the file."""
    title: str
    type: str | None
    status: str | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    subject: str | None
    field: str | None
    value: str | None
    valid_from: Instant | None
    valid_to: Instant | None
    supersedes: tuple[str, ...]
    superseded_by: tuple[str, ...]
    source: Source
    fields: Mapping
    body: str
    """Exact text after the closing `---` line; CRLF is kept here, folded only in the payload
    digest."""
    body_line: int
    """Line of the file on which the body starts, from 1."""
    links: tuple[Link, ...]
    key_lines: tuple[tuple[str, int], ...]
    """Line of each top-level key, in source order."""
    source_digest: str
    """`sha256:<hex>` of the exact bytes."""
    payload_digest: str
    """`sha256:<hex>`, design 3.4."""
    size: int
    """Bytes of the file."""
    warnings: tuple[Problem, ...] = ()

    def line_of(self, key: str) -> int:
        """The line of a top-level key, or 1 when the key is absent."""
        return next((line for name, line in self.key_lines if name == key), 1)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A Markdown file that is a fact by its path and cannot be read."""

    path: str
    source_digest: str
    """`sha256:<hex>` of the exact bytes, or "" when the bytes themselves cannot be had."""
    problems: tuple[Problem, ...]
    """At least one."""


Parsed: TypeAlias = Fact | Unreadable
