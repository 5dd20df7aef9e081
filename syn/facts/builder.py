"""Building values from the events of front matter, refusing what the strict subset leaves out.

One pass over the events, the dearest loop of reading a fact: the common cases come first, and
lines are computed only where something is reported.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

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
from syn.facts.front_values import FrontMatter, Scalar, Watch
from syn.facts.scalars import resolve
from syn.facts.split import FRONT_LINE
from syn.model.payload import Lexical, Mapping, Value

NODE_LIMIT = 32_768
"""Keys, values and collections together."""

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]")
_BARE_LINK = re.compile(r"\[\[[^\[\]{}\"'\r\n]*[^\[\]{}\"'\s][^\[\]{}\"'\r\n]*\]\]")
_NUMBERS = re.compile(r"\[\[[\s0-9.,+eE-]*,[\s0-9.,+eE-]*\]\]")
_COMMENT_AFTER = re.compile(r"[ \t]+#")
_HEADER = re.compile(r"[|>][-+1-9]*(?:[ \t]+#[^\n]*|[ \t]*\r?)$", re.MULTILINE)


@dataclass(slots=True)
class _Frame:
    """One open collection."""

    mapping: bool
    flow: bool
    """It is written in brackets or braces."""
    start: int
    """Index of its first character."""
    scalars: int
    """How many scalars were noted before it."""
    is_key: bool
    """It stands where a key should."""
    values: list[Value] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=dict)
    """Keys of a mapping with their lines; the values stand at the same positions."""
    key: str | None = None
    """The key whose value comes next; None where a key is expected."""
    drop: bool = False
    """The value that comes next has no usable key; it is read and left out."""


class Builder:
    """The state of one pass: the open collections and the values so far."""

    def __init__(self, front: str, watch: Watch, collector: Collector) -> None:
        self.front = front
        self.prepared = events.prepare(front)
        self.watch = watch
        self.collector = collector
        self.root = _Frame(mapping=False, flow=False, start=0, scalars=0, is_key=False)
        self.frame = self.root
        self.outer: list[_Frame] = []
        self.nodes = 0
        self.documents = 0
        self.placed: Event | None = None
        """The last event with a place of its own; an empty value inside brackets has none."""
        self.stopped = False
        """Nothing more is built."""
        self.top_key = ""
        self.watching = self.keeping = False
        self.key_lines: tuple[tuple[str, int], ...] = ()
        self.scalars: list[Scalar] = []
        self.odd_keys: list[tuple[str, int]] = []

    def run(self, next_event: Callable[[], Event | None]) -> None:
        """Take every event; once stopped, read on only to see whether the rest is YAML."""
        handlers = _HANDLERS
        while not self.stopped and (event := next_event()) is not None:
            handler = handlers.get(type(event))
            if handler is not None:
                handler(self, event)
        while next_event() is not None:
            pass

    def finish(self) -> FrontMatter:
        """What was read; the mapping is empty when there was a problem with the whole."""
        top = self.root.values[0] if self.root.values and not self.stopped else None
        return FrontMatter(
            top if isinstance(top, Mapping) else Mapping(),
            self.key_lines,
            tuple(self.scalars),
            tuple(self.odd_keys),
        )

    def line(self) -> int:
        """The line of the file that has been reached."""
        return FRONT_LINE + (0 if self.placed is None else self.placed.start_mark.line)

    def document(self, event: Event) -> None:
        """A document starts; only the first, without a marker, is front matter."""
        self.placed = event
        self.documents += 1
        if self.documents > 1 or event.explicit:
            self._stop("several-documents", "expected one YAML document, got a marker in it")

    def alias(self, event: Event) -> None:
        """An alias stands for nothing here."""
        self.placed = event
        self._refuse("alias", f"an alias, *{quote(event.anchor or '')}, is not allowed")
        frame = self.frame
        if frame.mapping and frame.key is None:
            frame.key, frame.drop = "", True
        else:
            self._add("")

    def scalar(self, event: Event) -> None:
        """A key, or a value."""
        frame, text, style = self.frame, event.value, event.style
        if text or style or not frame.flow:
            self.placed = event
        self.nodes += 1
        if self.nodes > NODE_LIMIT:
            self._stop("too-many-nodes", _TOO_MANY)
        if style or event.anchor is not None or event.tag is not None:
            self._check(event)
        if self.prepared.originals:
            text = self.prepared.restore(text)
        if frame.mapping and frame.key is None:
            self._key(frame, text, event)
            return
        if frame is self.root:
            self._stop("not-a-mapping", "expected `key: value` lines in the front matter")
            return
        value = text if style else resolve(text)
        if self.watching or "[[" in text:
            self._note("" if isinstance(value, Lexical) and value.type == "null" else text, event)
        if frame.drop:
            frame.drop = False
        else:
            frame.values.append(value)
        frame.key = None

    def start(self, event: Event) -> None:
        """A collection opens."""
        frame = self.frame
        self.placed = event
        self.nodes += 1
        if event.anchor is not None or event.tag is not None:
            self._check(event)
        mapping = isinstance(event, MappingStartEvent)
        if frame is self.root and not mapping:
            self._stop("not-a-mapping", "expected `key: value` lines in the front matter")
            return
        start, is_key = event.start_mark.index, frame.mapping and frame.key is None
        if is_key:
            self._refuse_collection_key(start)
        self.outer.append(frame)
        self.frame = _Frame(mapping, bool(event.flow_style), start, len(self.scalars), is_key)
        if len(self.outer) > DEPTH_LIMIT:
            diagnose.too_deep(self.line(), self.collector)
            self.stopped = True
        elif self.nodes > NODE_LIMIT:
            self._stop("too-many-nodes", _TOO_MANY)

    def end(self, event: Event) -> None:
        """A collection closes and becomes a value."""
        frame = self.frame
        value: Value
        if frame.mapping:
            value = Mapping(tuple(zip(frame.keys, frame.values, strict=True)))
        elif (link := self._bare_link(frame, event)) is not None:
            value = link
        else:
            value = tuple(frame.values)
        self.frame = self.outer.pop()
        if self.frame is self.root:
            self.key_lines = tuple(frame.keys.items())
        if frame.is_key:
            self.frame.key, self.frame.drop = "", True
        else:
            self._add(value)

    def _add(self, value: Value) -> None:
        frame = self.frame
        if frame.drop:
            frame.drop = False
        else:
            frame.values.append(value)
        frame.key = None

    def _key(self, frame: _Frame, text: str, event: Event) -> None:
        line = FRONT_LINE + event.start_mark.line
        frame.key = text
        if (not text or text == "<<") and not event.style:
            frame.drop = True
            self._refuse_plain_key(text)
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
        if len(self.outer) == 1:
            self.top_key = text
            self.keeping = text in self.watch.values
            self.watching = self.keeping or text in self.watch.comments
        if not text.isascii():
            self.odd_keys.append((text, line))

    def _note(self, text: str, event: Event) -> None:
        end = event.end_mark
        # inside brackets an empty value stands wherever the scanner has got to
        placed = bool(event.value) or not self.frame.flow
        cut = not event.style and placed and bool(_COMMENT_AFTER.match(self.front, end.index))
        if cut or self.keeping or "[[" in text:
            line = self.line()
            last = FRONT_LINE + end.line if placed else line
            self.scalars.append(Scalar(self.top_key, text, line, last, cut))

    def _bare_link(self, frame: _Frame, event: Event) -> str | None:
        """The text of an unquoted `[[x]]`, which YAML reads as a list in a list."""
        if len(frame.values) != 1 or not self.front.startswith("[[", frame.start):
            return None
        text = self.front[frame.start : event.end_mark.index]
        if not _BARE_LINK.fullmatch(text) or _NUMBERS.fullmatch(text):
            return None
        line = FRONT_LINE + event.start_mark.line
        self.scalars[frame.scalars :] = [Scalar(self.top_key, text, line, line, cut=False)]
        self.collector.warning(
            line,
            "unquoted-link",
            f"{quote(text)} is read as a link; YAML itself reads a list in a list",
            f'quote it: "{quote(text)}"',
        )
        return text

    def _check(self, event: Event) -> None:
        """What only quoted, block and decorated nodes can have wrong."""
        if event.anchor is not None:
            self._refuse("anchor", f"an anchor, &{quote(event.anchor)}, is not allowed")
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._refuse("tag", f"a tag, {quote(tag)}, is not allowed")
        style = getattr(event, "style", None)
        if style == '"' and (found := _CONTROL.search(event.value)) is not None:
            self.collector.problem(
                self.line(),
                "control-character",
                f"expected text, got an escaped control character U+{ord(found[0]):04X}",
                "remove the escape",
            )
        elif style in ("|", ">") and not _HEADER.match(self.front, event.start_mark.index):
            # a comment after the header stands apart from it (YAML 1.2.2, section 8.1.1)
            line = self.front[event.start_mark.index :].partition("\n")[0]
            diagnose.not_yaml(self.line(), line, self.collector)

    def _refuse_plain_key(self, text: str) -> None:
        if text:
            message, remedy = "a merge key, <<, is not allowed", "write the keys out, or quote it"
            self.collector.problem(self.line(), "merge-key", message, remedy)
        else:
            message, remedy = "expected a key before the colon, got none", "name the key"
            self.collector.problem(self.line(), "empty-key", message, remedy)

    def _refuse(self, code: str, message: str) -> None:
        remedy = "write the value out; quote it when it is meant as text"
        self.collector.problem(self.line(), code, message, remedy)

    def _refuse_collection_key(self, index: int) -> None:
        template = "{{" in self.front[max(0, index - 1) : index + 2]
        self.collector.problem(
            self.line(),
            "collection-key",
            "expected a scalar as key, got a list or mapping",
            'quote the template: "{{ … }}"' if template else "use text as key",
        )

    def _stop(self, code: str, message: str) -> None:
        self.collector.problem(self.line(), code, message, _STOP_REMEDIES[code])
        self.stopped = True


_TOO_MANY = f"the front matter holds over {NODE_LIMIT} nodes"
_STOP_REMEDIES = {
    "several-documents": "quote or indent the line that starts with --- or ...",
    "not-a-mapping": "write keys and values, or remove the two --- lines to make it text",
    "too-many-nodes": "move the data out of the front matter",
}
_HANDLERS: dict[type, Callable[[Builder, Event], None]] = {
    DocumentStartEvent: Builder.document,
    AliasEvent: Builder.alias,
    ScalarEvent: Builder.scalar,
    MappingStartEvent: Builder.start,
    SequenceStartEvent: Builder.start,
    MappingEndEvent: Builder.end,
    SequenceEndEvent: Builder.end,
}
