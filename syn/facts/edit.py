"""The smallest edit of a fact's file that makes it say something else.

Only the lines of the named keys change; comments, quotes, order, line ends and the byte order
mark stay, and an edit that changes nothing gives back the same bytes. Every result is read again
before it is handed out.
"""

import re
from collections.abc import Mapping as AbstractMapping
from dataclasses import dataclass

from syn.errors import RefusedError
from syn.facts import front_matter, render, spans
from syn.facts.builder import Watch
from syn.facts.collector import Collector
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
    old = dict(file.fields.items)
    needed = {
        key: value
        for key, value in changes.items()
        if (key in old if value is None else old.get(key) != value)
    }
    if not needed:
        return file.front
    plan = spans.layout(file.front or "")
    if plan.flow:
        raise EditError(path, 2, "the front matter is one mapping in braces")
    front = file.front or ""
    for entry in reversed(plan.entries):
        if entry.key in needed:
            front = _edit_entry(front, entry, needed[entry.key], file.eol, path)
    added = [
        " " * plan.indent + line + file.eol
        for key, value in needed.items()
        if key not in old and value is not None
        for line in render.render_entry(key, value)
    ]
    return front + "".join(added)


def _edit_entry(
    front: str, entry: spans.Entry, value: FieldValue | None, eol: str, path: str
) -> str:
    if value is None:
        return _remove_lines(front, entry.key_span.line, entry.value.last_line)
    span = entry.value
    if entry.kind == "inline":
        quotes: Quotes = "'" if entry.style == "'" else '"' if entry.style == '"' else ""
        text = render.render_inline(value, quotes)
        if span.start == span.end and not front[span.start - 1].isspace():
            text = f" {text}"
        return front[: span.start] + text + front[span.end :]
    if entry.kind == "block-scalar":
        header = _HEADER_COMMENT.match(front, span.start)
        comment = header[1] if header is not None and header[1] else ""
        return front[: span.start] + render.render_inline(value) + comment + front[span.end :]
    if entry.kind == "block-list" and isinstance(value, tuple) and value:
        dashes = [front.rfind("-", 0, item.start) for item in entry.items]
        # an item that starts below its dash, or after a comment, is left to the whole replacement
        if all(
            front[dash + 1 : item.start].strip(" ") == ""
            for dash, item in zip(dashes, entry.items, strict=True)
        ):
            return _edit_list(front, entry, value, eol)
    return _replace_block(front, entry, value, eol, path)


def _edit_list(front: str, entry: spans.Entry, value: tuple[Value, ...], eol: str) -> str:
    """Replace the items between the first and the last that change; the others keep their lines."""
    old = _items_of(front, entry)
    start = _common(old, value)
    end = min(_common(old[::-1], value[::-1]), len(old) - start, len(value) - start)
    first_item = entry.items[0]
    indent = front.rindex("-", 0, first_item.start) - (front.rfind("\n", 0, first_item.start) + 1)
    lines = [
        " " * indent + line + eol
        for item in value[start : len(value) - end]
        for line in render.render_item(item)
    ]
    gone = entry.items[start : len(old) - end]
    if gone:
        first, last = gone[0].line, gone[-1].last_line
    else:
        first = entry.items[start - 1].last_line + 1 if start else entry.items[0].line
        last = first - 1
    return _replace_lines(front, first, last, "".join(lines))


def _items_of(front: str, entry: spans.Entry) -> tuple[Value, ...]:
    fields = front_matter.read(front, Watch(), Collector("")).fields
    value = fields.get(entry.key)
    return value if isinstance(value, tuple) else ()


def _common(one: tuple[Value, ...], other: tuple[Value, ...]) -> int:
    pairs = zip(one, other, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _replace_block(front: str, entry: spans.Entry, value: FieldValue, eol: str, path: str) -> str:
    """Replace a block collection by another value; the key and a comment beside it stay."""
    colon = spans.COLON.match(front, entry.key_span.end)
    if colon is None:
        raise EditError(path, 2 + entry.key_span.line, "the key is written with a question mark")
    comment = _KEY_LINE_COMMENT.match(front, colon.end())
    beside = comment[0] if comment is not None else ""
    head, *rest = render.render_entry("k", value)
    indent = " " * (entry.key_span.start - (front.rfind("\n", 0, entry.key_span.start) + 1))
    lines = [head.removeprefix("k:") + beside, *(indent + line for line in rest)]
    end = _LINE_END.search(front, entry.value.end)
    return front[: colon.end()] + eol.join(lines) + front[end.start() if end else len(front) :]


def _remove_lines(front: str, first: int, last: int) -> str:
    return _replace_lines(front, first, last, "")


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
    if dict(file.fields.items) != asked:
        wrong = next(
            key
            for key in {**asked, **dict(file.fields.items)}
            if file.fields.get(key) != asked.get(key)
        )
        raise EditError(path, 2, f"the key {wrong!r:.60} has no spelling that reads back the same")
    if _folded(file.body) != _folded(body):
        raise EditError(path, 1, "the body has no spelling that reads back the same")
