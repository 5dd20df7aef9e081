"""What somebody asks to be written, as values, and their JSON form (docs/formats/proposal.md)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from typing import TypeAlias

from syn.errors import UsageError
from syn.model.finding import Json
from syn.model.payload import Lexical, ScalarType, Value
from syn.model.payload import Mapping as Fields

TEXTS = (*("id", "type", "title", "status", "subject", "field", "value", "valid_from", "valid_to"),)
"""Members of a new fact that are one text each, in the order they are written."""
SOURCES = ("kind", "agent", "session", "url")


class ChangeError(UsageError):
    """A change that is not one: the message names the member."""

    def __init__(self, message: str) -> None:
        super().__init__("bad-change", message, "docs/formats/proposal.md shows every form")


@dataclass(frozen=True, slots=True)
class NewFact:
    """What a new fact says. An absent member is "" or empty."""

    title: str = ""
    id: str = ""
    """"" makes one from the title."""
    type: str = ""
    status: str = ""
    tags: tuple[str, ...] = ()
    subject: str = ""
    field: str = ""
    value: str = ""
    valid_from: str = ""
    valid_to: str = ""
    source: tuple[tuple[str, str], ...] = ()
    """Members of the reserved key `source`: kind, agent, session, url."""
    more: tuple[tuple[str, Value], ...] = ()
    """Further front matter, key by key."""
    body: str = ""
    path: str = ""
    """"" makes one from the id."""


@dataclass(frozen=True, slots=True)
class Add:
    """A new fact."""

    new: NewFact


@dataclass(frozen=True, slots=True)
class Supersede:
    """A new fact in the place of others, which end where it begins."""

    old: tuple[str, ...]
    new: NewFact


@dataclass(frozen=True, slots=True)
class Edit:
    """Another content of a fact; what is not named stays."""

    id: str
    set: tuple[tuple[str, Value], ...] = ()
    """Key as it is written in the file, and its new value."""
    reserved: tuple[tuple[str, Value], ...] = ()
    """Reserved key, whatever this vault calls it, and its new value."""
    unset: tuple[str, ...] = ()
    tag: tuple[str, ...] = ()
    untag: tuple[str, ...] = ()
    body: str | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """The end of a fact's validity."""

    id: str
    at: str = ""
    """"" is now."""


@dataclass(frozen=True, slots=True)
class Delete:
    """A fact that is removed."""

    id: str


@dataclass(frozen=True, slots=True)
class Move:
    """Another path for a fact; its id stays."""

    id: str
    path: str


@dataclass(frozen=True, slots=True)
class Link:
    """A reference from one fact to another, in a relation field."""

    id: str
    to: str
    relation: str = "related"


Change: TypeAlias = Add | Supersede | Edit | Close | Delete | Move | Link
_OPS: dict[type, str] = {
    Add: "add",
    Supersede: "supersede",
    Edit: "edit",
    Close: "close",
    Delete: "delete",
    Move: "move",
    Link: "link",
}


def change_json(change: Change) -> dict[str, Json]:
    """The JSON form; members that are absent are left out."""
    members: dict[str, Json] = {"op": _OPS[type(change)]}
    body: str | None = None
    match change:
        case Add(new=new):
            members |= _new_json(new)
        case Supersede(old=old, new=new):
            members |= {"old": list(old), **_new_json(new)}
        case Edit():
            members |= _edit_json(change)
            body = change.body
        case _:
            members |= {f.name: getattr(change, f.name) for f in fields(change)}
    answer = {key: value for key, value in members.items() if value not in ("", [])}
    return answer if body is None else {**answer, "body": body}


def _new_json(new: NewFact) -> dict[str, Json]:
    return {
        **{name: getattr(new, name) for name in (*TEXTS, "path", "body")},
        "tags": list(new.tags),
        "source": [list(pair) for pair in new.source],
        "fields": _pairs_json(new.more),
    }


def _edit_json(edit: Edit) -> dict[str, Json]:
    return {
        "id": edit.id,
        "set": _pairs_json(edit.set),
        "reserved": _pairs_json(edit.reserved),
        "unset": list(edit.unset),
        "tag": list(edit.tag),
        "untag": list(edit.untag),
    }


def _pairs_json(pairs: Iterable[tuple[str, Value]]) -> list[Json]:
    """Pairs, since a key of front matter may be any text and a key of canonical JSON may not."""
    return [[key, value_json(value)] for key, value in pairs]


def value_json(value: Value) -> Json:
    """A front-matter value as JSON; a scalar that is no text keeps its type and written form."""
    match value:
        case str():
            return value
        case Lexical(type=kind, text=text):
            return {"t": kind, "v": text}
        case Fields(items=items):
            return {"m": [[key, value_json(inner)] for key, inner in items]}
        case _:
            return [value_json(inner) for inner in value]


def parse_changes(value: Json) -> tuple[Change, ...]:
    """One change, a list of them, or an object with `changes`.

    Raises:
        ChangeError: another shape, an unknown operation or member, or a member of another type.
    """
    if isinstance(value, dict) and "changes" in value:
        value = value["changes"]
    items = value if isinstance(value, list) else [value]
    if not items:
        raise ChangeError("expected at least one change, got none")
    return tuple(_parse_change(item) for item in items)


def _parse_change(value: Json) -> Change:
    if not isinstance(value, dict):
        raise ChangeError(f"expected a change as an object, got {_kind(value)}")
    members = _Members(value)
    op = members.text("op", "add")
    parse = _PARSERS.get(op)
    if parse is None:
        raise ChangeError(f"op: expected one of {', '.join(_PARSERS)}, got {op!r:.40}")
    change = parse(members)
    members.finish()
    return change


def _parse_new(members: "_Members") -> NewFact:
    texts = {name: members.text(name) for name in (*TEXTS, "path", "body")}
    source = members.mapping("source")
    if unknown := source.keys() - set(SOURCES):
        raise ChangeError(f"source: expected {', '.join(SOURCES)}, got {min(unknown)!r:.40}")
    pairs = [(name, _text(source[name], f"source.{name}")) for name in SOURCES if name in source]
    more = [(key, parse_value(item, key)) for key, item in members.mapping("fields").items()]
    return NewFact(tags=members.texts("tags"), source=tuple(pairs), more=tuple(more), **texts)


def _parse_edit(members: "_Members") -> Edit:
    body = members.values.pop("body", None)
    return Edit(
        id=members.required("id"),
        set=_pairs(members.mapping("set")),
        reserved=_pairs(members.mapping("reserved")),
        unset=members.texts("unset"),
        tag=members.texts("tag"),
        untag=members.texts("untag"),
        body=None if body is None else _text(body, "body"),
    )


def _pairs(values: Mapping[str, Json]) -> tuple[tuple[str, Value], ...]:
    return tuple((key, parse_value(value, key)) for key, value in values.items())


_PARSERS: dict[str, Callable[["_Members"], Change]] = {
    "add": lambda m: Add(_parse_new(m)),
    "supersede": lambda m: Supersede(m.some("old"), _parse_new(m)),
    "edit": _parse_edit,
    "close": lambda m: Close(m.required("id"), m.text("at")),
    "delete": lambda m: Delete(m.required("id")),
    "move": lambda m: Move(m.required("id"), m.required("path")),
    "link": lambda m: Link(m.required("id"), m.required("to"), m.text("relation", "related")),
}


def parse_value(value: Json, name: str = "value") -> Value:
    """A front-matter value from JSON; the counterpart of `value_json`, plain JSON too.

    Raises:
        ChangeError: a null, which is written by `unset`.
    """
    match value:
        case str():
            return value
        case bool() | int():
            kind: ScalarType = "bool" if isinstance(value, bool) else "int"
            return Lexical(kind, str(value).lower())
        case None:
            raise ChangeError(f"{name}: expected a value, got null")
        case list():
            return tuple(parse_value(item, name) for item in value)
        case _:
            return _parse_object(value, name)


_SCALARS: dict[Json, ScalarType] = {"int": "int", "float": "float", "bool": "bool", "null": "null"}


def _parse_object(value: dict[str, Json], name: str) -> Value:
    kind, text, items = value.get("t"), value.get("v"), value.get("m")
    if value.keys() == {"t", "v"} and isinstance(kind, str) and isinstance(text, str):
        if kind not in _SCALARS:
            raise ChangeError(f"{name}: t: expected {', '.join(map(str, _SCALARS))}, got {kind!r}")
        return Lexical(_SCALARS[kind], text)
    pairs = _as_mapping(items, name) if value.keys() == {"m"} and isinstance(items, list) else value
    return Fields(tuple((key, parse_value(inner, name)) for key, inner in pairs.items()))


def _as_mapping(value: Json, name: str) -> dict[str, Json]:
    """An object, or a list of pairs."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        raise ChangeError(f"{name}: expected an object or a list of pairs, got {_kind(value)}")
    pairs: dict[str, Json] = {}
    for item in value:
        if not isinstance(item, list) or len(item) != 2 or not isinstance(item[0], str):  # noqa: PLR2004 - a pair
            raise ChangeError(f"{name}: expected [key, value], got {_kind(item)}")
        if item[0] in pairs:
            raise ChangeError(f"{name}: the key {item[0]!r:.40} stands twice")
        pairs[item[0]] = item[1]
    return pairs


class _Members:
    """The members of one change; each is taken once, and one that is left over is an error."""

    def __init__(self, values: Mapping[str, Json]) -> None:
        self.values = dict(values)

    def text(self, name: str, default: str = "") -> str:
        return _text(self.values.pop(name, default), name)

    def required(self, name: str) -> str:
        text = self.text(name)
        if not text:
            raise ChangeError(f"{name}: expected a text, got none")
        return text

    def texts(self, name: str) -> tuple[str, ...]:
        value = self.values.pop(name, [])
        if not isinstance(value, list):
            raise ChangeError(f"{name}: expected a list of texts, got {_kind(value)}")
        return tuple(_text(item, name) for item in value)

    def some(self, name: str) -> tuple[str, ...]:
        value = self.values.get(name)
        if isinstance(value, str):
            self.values[name] = [value]
        if not (texts := self.texts(name)):
            raise ChangeError(f"{name}: expected at least one id, got none")
        return texts

    def mapping(self, name: str) -> dict[str, Json]:
        return _as_mapping(self.values.pop(name, {}), name)

    def finish(self) -> None:
        if self.values:
            raise ChangeError(f"unknown member {min(self.values)!r:.40}")


def _text(value: Json, name: str) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise ChangeError(f"{name}: expected text, got {_kind(value)}")
    return str(value)


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int():
            return "a number"
        case str():
            return "text"
        case list():
            return "a list"
        case _:
            return "an object"
