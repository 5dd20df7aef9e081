"""The smallest edit of a fact's file that makes it say something else.

Only the lines of the named keys change; comments, quotes, order, line ends and the byte order
mark stay, and an edit that changes nothing gives back the same bytes. Every result is read again
before it is handed out.
"""

import re
from collections.abc import Mapping as AbstractMapping
from collections.abc import Sequence
from dataclasses import dataclass

from syn.errors import RefusedError
from syn.facts import front_matter, render, spans
from syn.facts.collector import Collector
from syn.facts.front_values import Watch
from syn.facts.payload import same_value
from syn.facts.render import FieldValue, Quotes
from syn.facts.split import Parts, split
from syn.facts.text import conflict_markers, decode
from syn.model.payload import Mapping, Value

_HEADER_COMMENT = re.compile(r"[|>][0-9+-]*([ \t]+#[^\r\n]*)?")
_LINE_END = re.compile(r"\r?\n")
_KEY_LINE_COMMENT = re.compile(r"[ \t]+#[^\r\n]*")


class EditError(RefusedError):
    """A file that cannot be edited without losing something."""

    def __init__(self, path: str, line: int, message: str) -> None:
        super().__init__(
            "cannot-edit", f"{path or 'the file'}:{line}: {message}", "edit the file by hand"
        )


@dataclass(frozen=True, slots=True)
class _File:
    """A file taken apart: `head` is everything up to and with the opening line."""

    head: str
    front: str | None
    tail: str
    """The closing line with its line end."""
    body: str
    eol: str
    fields: Mapping


def set_fields(
    data: bytes,
    changes: AbstractMapping[str, FieldValue | None],
    body: str | None = None,
    *,
    path: str = "",
) -> bytes:
    """The file with other values for some keys, and another body where one is given.

    Args:
        data: the exact bytes of a file whose front matter can be read.
        changes: top-level key, as it is written → its new value; None removes the key. A key
            whose value is equal already keeps its bytes.
        body: the new body; None keeps it, and so does one that differs only in line ends. It is
            written with the line ends of the file.
        path: names the file in errors.

    Raises:
        EditError: the file cannot be read, is written in a way that cannot be edited in place,
            or the result would not say exactly what was asked.
    """
    file = _take_apart(data, path)
    asked = _asked(file.fields, changes)
    front = _edit_front(file, changes, path)
    text = _put_together(file, front, body)
    result = (b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b"") + text.encode()
    _verify(result, asked, file.body if body is None else body, path)
    return result


def _take_apart(data: bytes, path: str) -> _File:
    collector = Collector(path)
    text = decode(data, collector)
    parts = split(text, collector) if text is not None else None
    fields = Mapping()
    if text is not None and parts is not None:
        conflict_markers(text, collector)
        if parts.front is not None:
            fields = front_matter.read(parts.front, Watch(), collector).fields
    if text is None or parts is None or collector.problems:
        first = min(collector.problems)
        raise EditError(path, first.line, first.message)
    return _file(text, parts, fields)


def _file(text: str, parts: Parts, fields: Mapping) -> _File:
    first, newline, _ = text.partition("\n")
    eol = "\r\n" if newline and first.endswith("\r") else "\n"
    if parts.front is None:
        return _File("", None, "", parts.body, eol, fields)
    head = first + newline
    tail = text[len(head) + len(parts.front) : len(text) - len(parts.body)]
    return _File(head, parts.front, tail, parts.body, eol, fields)


def _asked(fields: Mapping, changes: AbstractMapping[str, FieldValue | None]) -> dict[str, Value]:
    asked = dict(fields.items)
    for key, value in changes.items():
        if value is None:
            asked.pop(key, None)
        else:
            asked[key] = value
    return asked


def _edit_front(
    file: _File, changes: AbstractMapping[str, FieldValue | None], path: str
) -> str | None:
    """The new front matter; None where there is none and none is needed."""
    needed = _needed(file.fields, changes)
    if not needed:
        return file.front
    front = file.front or ""
    plan = spans.layout(front)
    if plan.flow:
        raise EditError(path, 2, "the front matter is one mapping in braces")
    added = _new_lines(file.fields, needed, plan.indent, file.eol)
    return _Editor(path, file.eol).members(front, plan.entries, file.fields, needed) + added


def _needed(
    old: Mapping, changes: AbstractMapping[str, FieldValue | None]
) -> dict[str, FieldValue | None]:
    """The changes that change something."""
    return {key: value for key, value in changes.items() if not same_value(old.get(key), value)}


def _new_lines(
    old: Mapping, needed: AbstractMapping[str, FieldValue | None], indent: int, eol: str
) -> str:
    return "".join(
        f"{' ' * indent}{line}{eol}"
        for key, value in needed.items()
        if value is not None and old.get(key) is None
        for line in render.render_entry(key, value)
    )


@dataclass(frozen=True, slots=True)
class _Editor:
    """Edits of single entries; each takes front matter and gives it back changed.

    Entries are edited from the last to the first, so that the places of the others stay right.
    """

    path: str
    eol: str

    def members(
        self,
        front: str,
        entries: Sequence[spans.Entry],
        old: Mapping,
        needed: AbstractMapping[str, FieldValue | None],
    ) -> str:
        """Change or remove the keys of one mapping."""
        for entry in reversed(entries):
            if entry.key in needed:
                value, before = needed[entry.key], old.get(entry.key)
                if value is None:
                    first, last = entry.key_span.line, entry.value.last_line
                    front = _replace_lines(front, first, last, "")
                else:
                    front = self.entry(front, entry, before, value)
        return front

    def entry(self, front: str, entry: spans.Entry, before: Value | None, value: FieldValue) -> str:
        """Give one key another value, in the way its value is written."""
        match entry.kind:
            case "inline":
                return _edit_inline(front, entry, value)
            case "block-scalar":
                return _edit_block_scalar(front, entry, value)
            case "block-list" if isinstance(before, tuple) and isinstance(value, tuple) and value:
                if _items_stand_by_their_dashes(front, entry):
                    return self.items(front, entry, before, value)
            case "block-mapping" if isinstance(before, Mapping) and isinstance(value, Mapping):
                if value.items:
                    return self.inner(front, entry, before, value)
        return self.block(front, entry, value)

    def inner(self, front: str, entry: spans.Entry, before: Mapping, value: Mapping) -> str:
        """Change only the keys that differ inside a block mapping."""
        gone = dict.fromkeys(key for key in before if value.get(key) is None)
        needed = {**_needed(before, dict(value.items)), **gone}
        indent = _column(front, entry.members[0].key_span.start)
        after = entry.value.last_line + 1
        added = _new_lines(before, needed, indent, self.eol)
        front = _replace_lines(front, after, after - 1, added)
        return self.members(front, entry.members, before, needed)

    def items(
        self, front: str, entry: spans.Entry, before: tuple[Value, ...], value: tuple[Value, ...]
    ) -> str:
        """Replace the items between the first and the last that differ; the others stay."""
        start = _common(before, value)
        end = min(_common(before[::-1], value[::-1]), len(before) - start, len(value) - start)
        indent = _column(front, front.rindex("-", 0, entry.items[0].start))
        lines = "".join(
            " " * indent + line + self.eol
            for item in value[start : len(value) - end]
            for line in render.render_item(item)
        )
        gone = entry.items[start : len(before) - end]
        if gone:
            return _replace_lines(front, gone[0].line, gone[-1].last_line, lines)
        first = entry.items[start - 1].last_line + 1 if start else entry.items[0].line
        return _replace_lines(front, first, first - 1, lines)

    def block(self, front: str, entry: spans.Entry, value: FieldValue) -> str:
        """Replace a block collection by another value; the key and a comment beside it stay."""
        colon = spans.COLON.match(front, entry.key_span.end)
        if colon is None:
            line = 2 + entry.key_span.line
            raise EditError(self.path, line, "the key is written with a question mark")
        comment = _KEY_LINE_COMMENT.match(front, colon.end())
        beside = comment[0] if comment is not None else ""
        head, *rest = render.render_entry("k", value)
        indent = " " * _column(front, entry.key_span.start)
        lines = [head.removeprefix("k:") + beside, *(indent + line for line in rest)]
        end = _LINE_END.search(front, entry.value.end)
        tail = front[end.start() :] if end else ""
        return front[: colon.end()] + self.eol.join(lines) + tail


def _edit_inline(front: str, entry: spans.Entry, value: FieldValue) -> str:
    """Replace a value that is written in the line: plain, quoted or in brackets."""
    span = entry.value
    quotes: Quotes = "'" if entry.style == "'" else '"' if entry.style == '"' else ""
    text = render.render_inline(value, quotes)
    if span.start == span.end and not front[span.start - 1].isspace():
        text = f" {text}"
    return front[: span.start] + text + front[span.end :]


def _edit_block_scalar(front: str, entry: spans.Entry, value: FieldValue) -> str:
    """Replace a block scalar by a value on the key's line; a comment of its header stays."""
    header = _HEADER_COMMENT.match(front, entry.value.start)
    comment = header[1] if header is not None and header[1] else ""
    text = render.render_inline(value) + comment
    return front[: entry.value.start] + text + front[entry.value.end :]


def _items_stand_by_their_dashes(front: str, entry: spans.Entry) -> bool:
    """Whether nothing but blanks is between a dash and its item."""
    return all(
        front[front.rfind("-", 0, item.start) + 1 : item.start].strip(" ") == ""
        for item in entry.items
    )


def _column(front: str, index: int) -> int:
    return index - (front.rfind("\n", 0, index) + 1)


def _common(one: tuple[Value, ...], other: tuple[Value, ...]) -> int:
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _replace_lines(front: str, first: int, last: int, text: str) -> str:
    lines = front.split("\n")
    before = "".join(line + "\n" for line in lines[:first])
    return before + text + "\n".join(lines[last + 1 :])


def _put_together(file: _File, front: str | None, body: str | None) -> str:
    new_body = file.body if body is None or _folded(body) == _folded(file.body) else body
    if new_body is not file.body and file.eol == "\r\n" and "\r\n" not in new_body:
        new_body = new_body.replace("\n", "\r\n")
    if file.front is None and front is None:
        if new_body is file.body or not _is_front_matter(new_body):
            return new_body
        front = ""
    head = file.head or f"---{file.eol}"
    tail = file.tail or f"---{file.eol}"
    if new_body and not tail.endswith("\n"):
        tail += file.eol
    return head + (front or "") + tail + new_body


def _is_front_matter(body: str) -> bool:
    parts = split(body, Collector(""))
    return parts is None or parts.front is not None


def _folded(body: str) -> str:
    return body.replace("\r\n", "\n")


def _verify(result: bytes, asked: dict[str, Value], body: str, path: str) -> None:
    """Read the result and compare it with what was asked."""
    file = _take_apart(result, path)
    keys = {**asked, **dict(file.fields.items)}
    wrong = next((k for k in keys if not same_value(file.fields.get(k), asked.get(k))), None)
    if wrong is not None:
        raise EditError(path, 2, f"the key {wrong!r:.60} has no spelling that reads back the same")
    if _folded(file.body) != _folded(body):
        raise EditError(path, 1, "the body has no spelling that reads back the same")
