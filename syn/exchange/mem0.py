"""`mem0`: an export or answer of mem0: a list of memories, alone or under `results`/`memories`."""

from collections.abc import Iterable, Iterator

from syn.canon.digest import sha256
from syn.exchange.note import Note, Read, SourceFile, null
from syn.exchange.records import Found, NotJsonError, Refused, member_list, read_list
from syn.model.payload import Mapping, Value, scalar_text
from syn.model.problem import Problem

_LISTS = ("results", "memories")
_KEPT = ("created_at", "updated_at", "user_id", "app_id", "run_id", "event_date")
_TITLE = 80
"""Characters of a memory that become its title."""
_MEND = "correct it in the file, or remove it"


def read(files: Iterable[SourceFile]) -> Iterator[Read]:
    """Every memory; one that is broken does not stop the others of its list."""
    for file in files:
        yield from _read_file(file)


def _read_file(file: SourceFile) -> Iterator[Read]:
    try:
        text = file.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + file.data.count(b"\n", 0, error.start)
        yield Problem(file.path, line, "not-utf8", "expected UTF-8", "save the file as UTF-8")
        return
    seen: set[str] = set()
    line, at = 1, 0
    try:
        for found in read_list(text, member_list(text, _LISTS)):
            line, at = line + text.count("\n", at, found.start), found.start
            note = _memory(file.path, line, text, found)
            if isinstance(note, Note) and note.record in seen:
                message = f"the id {note.record!r:.60} stands in the list already"
                yield Problem(file.path, line, "duplicate-id", message, _MEND)
            else:
                yield note
            if isinstance(note, Note):
                seen.add(note.record)
    except NotJsonError as error:
        line = 1 + text.count("\n", 0, error.offset)
        message = f"{error.reason}; what follows is not read"
        yield Problem(file.path, line, "not-json", message, "correct the file")
        return
    yield from _graph(file.path, text)


def _graph(path: str, text: str) -> Iterator[Problem]:
    """The graph beside the memories, which says what they say again."""
    try:
        ties = sum(1 for _ in read_list(text, member_list(text, ("relations",), alone=False)))
    except NotJsonError:
        return
    if ties:
        message = f"{ties} relations of its graph stand beside the memories and are not taken"
        yield Problem(path, 0, "graph-not-taken", message, "what they say stands in the memories")


def _memory(path: str, line: int, text: str, found: Found) -> Read:
    record = found.value
    if isinstance(record, Refused):
        return Problem(path, line, record.code, record.reason, _MEND)
    if not isinstance(record, Mapping):
        return Problem(path, line, "bad-memory", "expected an object", _MEND)
    said = record.get("memory") or record.get("text") or record.get("data")
    name = scalar_text(record.get("id"))
    if not isinstance(said, str) or not said.strip():
        return Problem(path, line, "bad-memory", "expected a memory as text", _MEND)
    digest = sha256(text[found.start : found.end].encode())
    name = name or digest[7:23]
    return Note(
        path=path,
        digest=digest,
        place=name.replace("/", "-"),
        fields=tuple(_fields(record, said)),
        body=said if said.endswith("\n") else f"{said}\n",
        record=name,
        line=line,
    )


def _fields(record: Mapping, said: str) -> Iterator[tuple[str, Value]]:
    first = said.strip().split("\n", 1)[0]
    yield "title", first if len(first) <= _TITLE else f"{first[: _TITLE - 1].rstrip()}…"
    yield "type", "memory"
    categories = record.get("categories")
    if isinstance(categories, tuple) and (
        tags := tuple(filter(None, map(scalar_text, categories)))
    ):
        yield "tags", tags
    for key in _KEPT:
        value = record.get(key)
        if value is not None and not null(value):
            yield key, value
    metadata = record.get("metadata")
    if isinstance(metadata, Mapping) and metadata.items:
        yield "metadata", metadata
    agent = scalar_text(record.get("agent_id")) or "mem0"
    session = scalar_text(record.get("run_id"))
    source = [("kind", "tool"), ("agent", agent), *([("session", session)] if session else [])]
    yield "source", Mapping(tuple(source))
