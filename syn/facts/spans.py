"""Where each key and its value stand in front matter, for the editor."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from yaml.events import (
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from syn.facts import events
from syn.facts.events import Event

Kind: TypeAlias = Literal["inline", "block-scalar", "block-list", "block-mapping"]
_OPENING = (MappingStartEvent, SequenceStartEvent)
_CLOSING = (MappingEndEvent, SequenceEndEvent)


@dataclass(slots=True)
class Span:
    """A piece of front matter: indices in characters, lines from 0, both ends included."""

    start: int
    end: int
    """Index after the last character."""
    line: int
    last_line: int


@dataclass(slots=True)
class Entry:
    """One key of a block mapping with its value."""

    key: str
    key_span: Span
    value: Span
    kind: Kind
    style: str
    """Quotes of an inline scalar: `'`, `"` or nothing."""
    items: tuple[Span, ...] = ()
    """Items of a block list."""
    members: tuple["Entry", ...] = ()
    """Keys of a block mapping."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How front matter is laid out."""

    flow: bool
    """The top mapping is written in braces."""
    indent: int
    """Column of the top-level keys."""
    entries: tuple[Entry, ...]


def layout(front: str) -> Layout:
    """The layout of front matter that the strict reader has accepted."""
    prepared = events.prepare(front)
    stream = _stream(prepared.text)
    for event in stream:
        if _is(event, MappingStartEvent):
            flow = bool(event.flow_style)
            entries = () if flow else tuple(_entries(front, prepared, stream))
            start = _mark(event).start
            return Layout(flow, start - (front.rfind("\n", 0, start) + 1), entries)
    return Layout(flow=False, indent=0, entries=())


def _stream(text: str) -> Iterator[Event]:
    take = events.next_event(text)
    while (event := take()) is not None:
        yield event


def _entries(front: str, prepared: events.Prepared, stream: Iterator[Event]) -> Iterator[Entry]:
    for event in stream:
        if _is(event, *_CLOSING):
            return
        key = prepared.restore(event.value)
        yield _entry(front, key, _mark(event), prepared, stream)


def _entry(
    front: str, key: str, key_span: Span, prepared: events.Prepared, stream: Iterator[Event]
) -> Entry:
    event = next(stream)
    span = _mark(event)
    if _is(event, ScalarEvent):
        if event.style in ("|", ">"):
            return Entry(key, key_span, _block_scalar(front, span), "block-scalar", "")
        return Entry(key, key_span, span, "inline", event.style or "")
    if event.flow_style:
        *_, closing = _items(front, stream)
        return Entry(key, key_span, span_to(span, closing), "inline", "")
    if _is(event, SequenceStartEvent):
        items = tuple(_items(front, stream))[:-1]
        return Entry(key, key_span, span_to(span, *items), "block-list", "", items)
    members = tuple(_entries(front, prepared, stream))
    whole = span_to(span, *(part for entry in members for part in (entry.key_span, entry.value)))
    return Entry(key, key_span, whole, "block-mapping", "", (), members)


def _items(front: str, stream: Iterator[Event]) -> Iterator[Span]:
    """The spans of the members of an open collection; the last one is its closing bracket."""
    for event in stream:
        span = _mark(event)
        if _is(event, *_CLOSING):
            yield span
            return
        yield _member(front, event, span, stream)


def _member(front: str, event: Event, span: Span, stream: Iterator[Event]) -> Span:
    if _is(event, ScalarEvent):
        return _block_scalar(front, span) if event.style in ("|", ">") else span
    flow = _is(event, *_OPENING) and bool(event.flow_style)
    *members, closing = _items(front, stream)
    return span_to(span, *members, *([closing] if flow else []))


def span_to(first: Span, *rest: Span) -> Span:
    """From the start of one span to the furthest end of others."""
    last = max((first, *rest), key=lambda span: span.end)
    return Span(first.start, last.end, first.line, last.last_line)


def _block_scalar(front: str, span: Span) -> Span:
    """A block scalar without the blank lines after it; its end mark is the next token's."""
    end = len(front[: span.end].rstrip(" \t\r\n"))
    return Span(span.start, end, span.line, front.count("\n", 0, end))


def _is(event: object, *kinds: type) -> bool:
    return isinstance(event, kinds)


def _mark(event: Event) -> Span:
    start, end = event.start_mark, event.end_mark
    return Span(start.index, end.index, start.line, end.line)


COLON = re.compile(r"[ \t]*:")
"""What follows a key that is not written with `?`."""
