"""The strict pass over the events of front matter: values, lines, and everything refused.

One document with a mapping at the top; no anchors, aliases, tags, directives, merge keys,
collections as keys, duplicate keys (design 3.1, ADR 0003). Plain scalars keep their written text
(ADR 0004).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from syn.facts import diagnose, events
from syn.facts.collector import Collector, quote
from syn.facts.diagnose import DEPTH_LIMIT
from syn.facts.events import Event
from syn.facts.scalars import resolve
from syn.facts.split import FRONT_LINE
from syn.model.payload import Mapping, Value

FRONT_LIMIT = 256 * 1024
"""Bytes of front matter."""
NODE_LIMIT = 32_768
"""Keys, values and collections together."""

_BARE_CR = re.compile(r"\r(?!\n)")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_BARE_LINK = re.compile(r"\[\[[^\[\]{}\"'\r\n]*[^\[\]{}\"'\s][^\[\]{}\"'\r\n]*\]\]")
_NUMBERS = re.compile(r"\[\[[\s0-9.,+eE-]*,[\s0-9.,+eE-]*\]\]")
_COMMENT_AFTER = re.compile(r"[ \t]+#")
_HEADER = re.compile(r"[|>][-+1-9]*(?:[ \t]+#[^\n]*|[ \t]*\r?)$", re.MULTILINE)
_ONLY_COMMENTS = re.compile(r"\A(?:[ \t]*(?:#[^\n]*)?(?:\n|\Z))*\Z")


@dataclass(frozen=True, slots=True)
class Scalar:
    """One scalar that a later step looks at: under a watched key, or with a link in it."""

    key: str
    """The top-level key it stands under."""
    text: str
    line: int
    """Line of the file on which it starts."""
    last_line: int
    cut: bool
    """It is plain and a comment follows it on its line."""


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What front matter says, and where."""

    fields: Mapping
    key_lines: tuple[tuple[str, int], ...] = ()
    scalars: tuple[Scalar, ...] = ()
    all_keys: tuple[tuple[str, int], ...] = ()
    """Non-ASCII keys at any depth, for the look-alike check; with their lines."""


def read(
    front: str, watched: frozenset[str], collector: Collector, *, pure: bool = False
) -> FrontMatter:
    """Read front matter; whatever is wrong with it goes to the collector.

    Args:
        front: the text between the delimiter lines.
        watched: top-level keys whose scalars are wanted with their lines.
        collector: takes problems and warnings.
        pure: use the pure Python scanner even where libyaml is there (the tests compare both).
    """
    if not _within_limits(front, collector):
        return FrontMatter(Mapping())
    if _ONLY_COMMENTS.match(front):
        if comment := front.strip():
            collector.warning(
                FRONT_LINE + front[: front.index("#")].count("\n"),
                "empty-front-matter",
                f"the front matter holds only comments: {quote(comment)}",
                "write keys, or remove the two --- lines to make it text",
            )
        return FrontMatter(Mapping())
    builder = _Builder(front, watched, Collector(collector.path))
    try:
        for event in events.parse_events(builder.prepared.text, pure=pure):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        line = diagnose.syntax(front, events.fault_line(error), collector)
        # how far a scanner has read beyond the fault differs; what stands before it does not
        collector.problems += [found for found in builder.collector.problems if found.line < line]
        return FrontMatter(Mapping())
    collector.problems += builder.collector.problems
    collector.warnings += builder.collector.warnings
    return builder.finish()


def _within_limits(front: str, collector: Collector) -> bool:
    if len(front) > FRONT_LIMIT // 4 and (size := len(front.encode())) > FRONT_LIMIT:
        collector.problem(
            FRONT_LINE,
            "front-matter-too-large",
            f"expected at most {FRONT_LIMIT} bytes of front matter, got {size}",
            "move the text into the body",
        )
        return False
    found = _CONTROL.search(front)
    if found is not None or (found := _BARE_CR.search(front)) is not None:
        collector.problem(
            _line_at(front, found.start()),
            "control-character",
            f"expected text, got the control character U+{ord(found[0]):04X}",
            "remove the character, or write it as an escape in double quotes",
        )
        return False
    return True


def _line_at(front: str, index: int) -> int:
    return FRONT_LINE + front.count("\n", 0, index)


@dataclass(slots=True)
class _Frame:
    """One open collection."""

    mapping: bool
    start: int
    """Index of its first character."""
    flow: bool
    """It is written in brackets or braces."""
    line: int
    values: list[Value] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=dict)
    """Keys of a mapping with their lines; the values stand at the same positions."""
    key: str | None = None
    """The key whose value comes next; None where a key is expected."""
    drop: bool = False
    """The value that comes next has no usable key; it is read and left out."""
    is_key: bool = False
    """The collection stands where a key should."""


class _Builder:
    """The state of one pass: the open collections and the values so far."""

    def __init__(self, front: str, watched: frozenset[str], collector: Collector) -> None:
        self.front = front
        self.prepared = events.prepare(front)
        self.watched = watched
        self.collector = collector
        self.frames: list[_Frame] = []
        self.nodes = 0
        self.documents = 0
        self.line = FRONT_LINE
        self.stopped = False
        """Nothing more is built; the rest is read only to see whether it is YAML."""
        self.top_key = ""
        self.top: Mapping | None = None
        self.key_lines: tuple[tuple[str, int], ...] = ()
        self.scalars: list[Scalar] = []
        self.all_keys: list[tuple[str, int]] = []

    def take(self, event: Event) -> None:
        """Advance by one event."""
        handler = _HANDLERS.get(type(event))
        if handler is not None and not self.stopped:
            # an empty value has no place of its own: it stands where the event before it does
            if event.start_mark.index < event.end_mark.index:
                self.line = FRONT_LINE + event.start_mark.line
            handler(self, event)

    def finish(self) -> FrontMatter:
        """What was read; the mapping is empty when there was a problem with the whole."""
        return FrontMatter(
            self.top or Mapping(), self.key_lines, tuple(self.scalars), tuple(self.all_keys)
        )

    def document(self, event: Event) -> None:
        self.documents += 1
        if self.documents > 1 or event.explicit:
            self._stop(event, "several-documents", "expected one YAML document, got a marker in it")

    def alias(self, event: Event) -> None:
        self._refuse(event, "alias", f"an alias, *{event.anchor}, is not allowed")
        if self._expects_key():
            self.frames[-1].drop, self.frames[-1].key = True, ""
        else:
            self._add("")

    def scalar(self, event: Event) -> None:
        self._count(event)
        if self.stopped:
            return
        if event.anchor is not None or event.tag is not None:
            self._refuse_properties(event)
        text = event.value
        if event.style == '"':
            self._check_unescaped(text, event)
        if self.prepared.originals:
            text = self.prepared.restore(text)
        if self._expects_key():
            self._key(text, event)
            return
        if not self.frames:
            self._not_a_mapping(event)
            return
        if event.style and event.style in "|>":
            self._check_header(event)
        if self.top_key in self.watched or "[[" in text:
            self._watch(text, event)
        self._add(text if event.style else resolve(text))

    def start(self, event: Event) -> None:
        self._count(event)
        if self.stopped:
            return
        if event.anchor is not None or event.tag is not None:
            self._refuse_properties(event)
        mapping = isinstance(event, MappingStartEvent)
        line = self.line
        if not self.frames and not mapping:
            self._not_a_mapping(event)
            return
        frame = _Frame(mapping, event.start_mark.index, bool(event.flow_style), line)
        if self._expects_key():
            frame.is_key = True
            self._refuse_collection_key(line, event.start_mark.index)
        self.frames.append(frame)
        if len(self.frames) > DEPTH_LIMIT:
            diagnose.too_deep(line, self.collector)
            self.stopped, self.top = True, None

    def end(self, event: Event) -> None:
        frame = self.frames.pop()
        value: Value
        if frame.mapping:
            value = Mapping(tuple(zip(frame.keys, frame.values, strict=True)))
        elif (link := self._bare_link(frame, event)) is not None:
            value = link
        else:
            value = tuple(frame.values)
        if not self.frames:
            self.top = value if isinstance(value, Mapping) else None
            self.key_lines = tuple(frame.keys.items())
        elif frame.is_key:
            self.frames[-1].key, self.frames[-1].drop = "", True
        else:
            self._add(value)

    def _expects_key(self) -> bool:
        return bool(self.frames) and self.frames[-1].mapping and self.frames[-1].key is None

    def _count(self, event: Event) -> None:
        self.nodes += 1
        if self.nodes > NODE_LIMIT:
            self._stop(event, "too-many-nodes", f"the front matter holds over {NODE_LIMIT} nodes")

    def _add(self, value: Value) -> None:
        frame = self.frames[-1]
        if not frame.drop:
            frame.values.append(value)
        frame.key, frame.drop = None, False

    def _key(self, text: str, event: Event) -> None:
        frame = self.frames[-1]
        line = self.line
        frame.key = text
        if not event.style and text in ("", "<<"):
            frame.drop = True
            self._refuse_plain_key(text, line)
        elif text in frame.keys:
            frame.drop = True
            self.collector.problem(
                line,
                "duplicate-key",
                f"the key {quote(text)} stands twice, on line {frame.keys[text]} and here",
                "keep one of the two",
            )
        else:
            frame.keys[text] = line
        if len(self.frames) == 1:
            self.top_key = text
        if not text.isascii():
            self.all_keys.append((text, line))

    def _refuse_plain_key(self, text: str, line: int) -> None:
        if text:
            self.collector.problem(
                line,
                "merge-key",
                "a merge key, <<, is not allowed",
                "write the keys out, or quote the key",
            )
        else:
            self.collector.problem(
                line, "empty-key", "expected a key before the colon, got none", "name the key"
            )

    def _watch(self, text: str, event: Event) -> None:
        end = event.end_mark
        # inside brackets an empty value stands wherever the scanner has got to
        placed = bool(text) or not self.frames[-1].flow
        cut = not event.style and placed and bool(_COMMENT_AFTER.match(self.front, end.index))
        last = FRONT_LINE + end.line if text else self.line
        self.scalars.append(Scalar(self.top_key, text, self.line, last, cut))

    def _bare_link(self, frame: _Frame, event: Event) -> str | None:
        """The text of an unquoted `[[x]]`, which YAML reads as a list in a list."""
        if len(frame.values) != 1 or not self.front.startswith("[[", frame.start):
            return None
        text = self.front[frame.start : event.end_mark.index]
        if not _BARE_LINK.fullmatch(text) or _NUMBERS.fullmatch(text):
            return None
        self.scalars.append(Scalar(self.top_key, text, frame.line, frame.line, cut=False))
        self.collector.warning(
            frame.line,
            "unquoted-link",
            f"{quote(text)} is read as a link; YAML itself reads a list in a list",
            f'quote it: "{quote(text)}"',
        )
        return text

    def _check_header(self, event: Event) -> None:
        """A comment after the header of a block scalar stands apart from it (YAML 1.2, 8.1.1)."""
        if not _HEADER.match(self.front, event.start_mark.index):
            line = self.front[event.start_mark.index :].partition("\n")[0]
            diagnose.not_yaml(self.line, line, self.collector)

    def _check_unescaped(self, text: str, event: Event) -> None:
        if (found := _CONTROL.search(text)) is not None:
            self.collector.problem(
                self.line,
                "control-character",
                f"expected text, got an escaped control character U+{ord(found[0]):04X}",
                "remove the escape",
            )

    def _refuse_properties(self, event: Event) -> None:
        if event.anchor is not None:
            self._refuse(event, "anchor", f"an anchor, &{quote(event.anchor)}, is not allowed")
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._refuse(event, "tag", f"a tag, {quote(tag)}, is not allowed")

    def _refuse(self, event: Event, code: str, message: str) -> None:
        self.collector.problem(
            self.line,
            code,
            message,
            "write the value out; quote it when it is meant as text",
        )

    def _refuse_collection_key(self, line: int, index: int) -> None:
        template = self.front.startswith("{", index) and self.front[index - 1] == "{"
        self.collector.problem(
            line,
            "collection-key",
            "expected a scalar as key, got a list or mapping",
            'quote the template: "{{ … }}"' if template else "use text as key",
        )

    def _not_a_mapping(self, event: Event) -> None:
        self._stop(event, "not-a-mapping", "expected `key: value` lines in the front matter")

    def _stop(self, event: Event, code: str, message: str) -> None:
        self.collector.problem(
            self.line,
            code,
            message,
            _STOP_REMEDIES[code],
        )
        self.stopped, self.top = True, None


_STOP_REMEDIES = {
    "several-documents": "quote or indent the line that starts with --- or ...",
    "not-a-mapping": "write keys and values, or remove the two --- lines to make it text",
    "too-many-nodes": "move the data out of the front matter",
}
_HANDLERS: dict[type, Callable[[_Builder, Event], None]] = {
    DocumentStartEvent: _Builder.document,
    AliasEvent: _Builder.alias,
    ScalarEvent: _Builder.scalar,
    MappingStartEvent: _Builder.start,
    SequenceStartEvent: _Builder.start,
    MappingEndEvent: _Builder.end,
    SequenceEndEvent: _Builder.end,
}
