"""`mcp-memory`: the file of the Model Context Protocol's reference memory server, both ways.

One JSON object a line: `{"type":"entity","name","entityType","observations":[…]}` and
`{"type":"relation","from","to","relationType"}`; or the answer of `read_graph`, one object with
`entities` and `relations`. An entity becomes a fact with its observations as a list and its
relations as front matter; `render` gives such facts back.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.exchange.note import PROVENANCE, Note, Read, SourceFile
from syn.exchange.records import NotJsonError, Refused, member_list, read_json, read_list
from syn.exchange.relations import RELATIONS, relation_pairs, relations_value
from syn.model.fact import Fact
from syn.model.finding import Json
from syn.model.payload import Lexical, Mapping, Value, scalar_text
from syn.model.problem import Problem

OBSERVATIONS = "observations"
"""Front matter for observations whose text cannot be told from the list in the body."""
METADATA = "metadata"
"""Front matter for members that the format does not know."""
_ENTITY = frozenset(("type", "name", "entityType", "observations"))


@dataclass(slots=True)
class _Entity:
    """An entity and what is said of it further down."""

    path: str
    line: int
    name: str
    type: str
    observations: tuple[str, ...]
    more: tuple[tuple[str, Value], ...]
    lines: list[str]
    relations: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Tie:
    """A relation, on its line."""

    line: int
    text: str
    name: str
    relation: str
    target: str


def read(files: Iterable[SourceFile]) -> Iterator[Read]:
    """Every entity with its relations; every line that is neither is named."""
    for file in files:
        entities: dict[str, _Entity] = {}
        ties: list[_Tie] = []
        for found in _graph(file) or _lines(file):
            match found:
                case _Tie():
                    ties.append(found)
                case _Entity() if found.name in entities:
                    yield _twice(found, entities[found.name])
                case _Entity():
                    entities[found.name] = found
                case _:
                    yield found
        yield from _tie(file.path, entities, ties)
        yield from (_note(entity) for entity in entities.values())


def _tie(path: str, entities: dict[str, _Entity], ties: Iterable[_Tie]) -> Iterator[Problem]:
    for tie in ties:
        if tie.name not in entities:
            message = f"the relation begins at {tie.name!r:.60}, which is no entity that was taken"
            remedy = "add the entity, or remove the relation"
            yield Problem(path, tie.line, "unknown-entity", message, remedy)
            continue
        entities[tie.name].relations.append((tie.relation, tie.target))
        entities[tie.name].lines.append(tie.text)


def _twice(entity: _Entity, first: _Entity) -> Problem:
    message = f"the entity {entity.name!r:.60} stands on line {first.line} already"
    remedy = "join their observations into one line"
    return Problem(entity.path, entity.line, "duplicate-entity", message, remedy)


def _lines(file: SourceFile) -> Iterator[_Entity | _Tie | Problem]:
    for number, data in enumerate(file.data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        if not data.strip():
            continue
        record = _record(file.path, number, data)
        if isinstance(record, Problem):
            yield record
        else:
            yield _told((file.path, number), data.decode().strip(), record, record.get("type"))


def _told(
    at: tuple[str, int], text: str, record: Mapping, kind: Value | None
) -> _Entity | _Tie | Problem:
    if kind == "relation":
        return _relation(*at, text, record)
    return _entity(*at, text, record)


def _graph(file: SourceFile) -> Iterator[_Entity | _Tie | Problem] | None:
    """The records of a file that holds the whole graph as one object, or None."""
    try:
        text = file.data.decode("utf-8-sig")
        lists = [member_list(text, (name,), alone=False) for name in ("entities", "relations")]
    except (UnicodeDecodeError, NotJsonError):
        return None
    return _of_lists(file.path, text, lists)


def _of_lists(path: str, text: str, lists: list[int]) -> Iterator[_Entity | _Tie | Problem]:
    for start, kind in zip(lists, ("entity", "relation"), strict=True):
        line, seen = 1 + text.count("\n", 0, start), start
        try:
            for found in read_list(text, start):
                line, seen = line + text.count("\n", seen, found.start), found.start
                at = (path, line)
                if isinstance(found.value, Mapping):
                    yield _told(at, text[found.start : found.end], found.value, kind)
                elif isinstance(found.value, Refused):
                    yield _problem(at, found.value.code, found.value.reason, _MEND)
                else:
                    yield _problem(at, "not-json", "expected an object", _MEND)
        except NotJsonError as error:
            line = 1 + text.count("\n", 0, error.offset)
            message = f"{error.reason}; what follows is not read"
            yield _problem((path, line), "not-json", message, _MEND)


def _record(path: str, line: int, data: bytes) -> Mapping | Problem:
    at = (path, line)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return _problem(at, "not-utf8", f"byte {error.start} is not UTF-8", "save it as UTF-8")
    try:
        found = read_json(text)
    except NotJsonError as error:
        return _problem(at, "not-json", f"expected one JSON object, got {error.reason}", _MEND)
    if isinstance(found.value, Refused):
        return _problem(at, found.value.code, found.value.reason, _MEND)
    if text[found.end :].strip() or not isinstance(found.value, Mapping):
        return _problem(at, "not-json", "expected one JSON object and nothing else", _MEND)
    kind = found.value.get("type")
    if kind not in ("entity", "relation"):
        message = f"expected the type entity or relation, got {scalar_text(kind)!r:.40}"
        return _problem(at, "unknown-type", message, "remove the line, or give it its type")
    return found.value


def _entity(path: str, line: int, text: str, record: Mapping) -> _Entity | Problem:
    name, kind = record.get("name"), record.get("entityType")
    observations = record.get("observations")
    if not isinstance(name, str) or not name.strip():
        return _problem((path, line), "bad-entity", "expected a name as text", _MEND)
    if not isinstance(kind, str):
        return _problem((path, line), "bad-entity", "expected an entityType as text", _MEND)
    texts = _texts(observations)
    if texts is None:
        return _problem((path, line), "bad-entity", "expected observations as texts", _MEND)
    more = tuple(item for item in record.items if item[0] not in _ENTITY)
    return _Entity(path, line, name, kind, texts, more, [text])


def _texts(value: Value | None) -> tuple[str, ...] | None:
    if not isinstance(value, tuple):
        return None
    texts = tuple(item for item in value if isinstance(item, str))
    return texts if len(texts) == len(value) else None


def _relation(path: str, line: int, text: str, record: Mapping) -> _Tie | Problem:
    found = [record.get(key) for key in ("from", "relationType", "to")]
    texts = [value for value in found if isinstance(value, str) and value.strip()]
    if len(texts) != len(found):
        message = "expected from, to and relationType as texts"
        return _problem((path, line), "bad-relation", message, _MEND)
    return _Tie(line, text, *texts)


def _note(entity: _Entity) -> Note:
    body = list_body(entity.observations)
    relations = relations_value(entity.relations)
    fields: list[tuple[str, Value]] = [("title", entity.name)]
    if entity.type:
        fields.append(("type", entity.type))
    if list_items(body) != entity.observations:
        fields.append((OBSERVATIONS, entity.observations))
    if relations is not None:
        fields.append((RELATIONS, relations))
    if entity.more:
        fields.append((METADATA, Mapping(entity.more)))
    fields.append(("source", Mapping((("kind", "mcp"), ("agent", "mcp-memory")))))
    return Note(
        path=entity.path,
        digest=sha256("\n".join(entity.lines).encode()),
        place=entity.name.replace("/", "-"),
        fields=tuple(fields),
        body=body,
        record=entity.name,
        line=entity.line,
    )


def list_body(texts: Iterable[str]) -> str:
    """Texts as a Markdown list; the further lines of one are indented."""
    return "".join("- " + text.replace("\n", "\n  ") + "\n" for text in texts)


def list_items(body: str) -> tuple[str, ...] | None:
    """The texts of `list_body`; None for a body that is another one."""
    items: list[list[str]] = []
    for line in body.removesuffix("\n").split("\n") if body else ():
        if line.startswith("- "):
            items.append([line[2:]])
        elif line.startswith("  ") and items:
            items[-1].append(line[2:])
        else:
            return None
    return tuple("\n".join(lines) for lines in items)


# Export.


def render(facts: Iterable[Fact], encode: Callable[[Json], str] = canonical.render) -> bytes:
    """Facts as the server reads them: entities in order of their names, then relations.

    A fact that did not come from such a file is an entity too: its title is the name, made unique
    by its id, and its statement and body are observations.

    Args:
        facts: in any order.
        encode: writes one line of JSON.
    """
    named = _named(facts)
    entities = [encode(_entity_json(name, fact)) for name, fact in named]
    ties: set[tuple[str, str, str]] = set()
    targets = {fact.id: name for name, fact in named}
    for name, fact in named:
        for relation, target in _ties(fact):
            ties.add((name, targets.get(target, target), relation))
    relations = [
        encode({"type": "relation", "from": one, "to": other, "relationType": relation})
        for one, other, relation in sorted(ties)
    ]
    return "".join(f"{line}\n" for line in (*entities, *relations)).encode()


def _named(facts: Iterable[Fact]) -> list[tuple[str, Fact]]:
    found = sorted(facts, key=lambda fact: (fact.title, fact.path))
    titles = [fact.title for fact in found]
    twice = {title for title, after in pairwise(titles) if title == after}
    named = [(f.title if f.title not in twice else f"{f.title} ({f.id})", f) for f in found]
    return sorted(named, key=lambda pair: pair[0])


def _entity_json(name: str, fact: Fact) -> dict[str, Json]:
    metadata = fact.fields.get(METADATA)
    more = metadata.items if isinstance(metadata, Mapping) else ()
    observations: list[Json] = [*_observations(fact)]
    return {
        **{key: _json(value) for key, value in more if key not in _ENTITY},
        "type": "entity",
        "name": name,
        "entityType": fact.type or ("" if _is_ours(fact) else "fact"),
        "observations": observations,
    }


def _observations(fact: Fact) -> tuple[str, ...]:
    exact = _texts(fact.fields.get(OBSERVATIONS))
    if exact is not None and _is_ours(fact):
        return exact
    said = (f"{fact.subject} / {fact.field}: {fact.value}",) if fact.field and fact.value else ()
    body = fact.body.replace("\r\n", "\n")
    items = list_items(body)
    if items is not None:
        return (*said, *items)
    return (*said, body.strip("\n")) if body.strip() else said


def _is_ours(fact: Fact) -> bool:
    found = fact.fields.get(PROVENANCE)
    return isinstance(found, Mapping) and found.get("format") == "mcp-memory"


def _ties(fact: Fact) -> Iterator[tuple[str, str]]:
    yield from relation_pairs(fact.fields.get(RELATIONS))
    yield from (("supersedes", old) for old in fact.supersedes)
    for link in fact.links:
        if link.syntax == "relation" and link.target:
            yield link.relation, link.target


def _json(value: Value) -> Json:
    match value:
        case str():
            return value
        case Lexical():
            return _scalar(value)
        case Mapping(items=items):
            return {key: _json(inner) for key, inner in items}
        case _:
            return [_json(inner) for inner in value]


def _scalar(value: Lexical) -> Json:
    """Canonical JSON holds no floats: those are given as the text they were."""
    match value.type:
        case "null":
            return None
        case "bool":
            return value.text == "true"
        case _:
            short = len(value.text) < _SAFE and value.text.lstrip("-").isdigit()
            return int(value.text) if short else value.text


_SAFE = 16
"""Characters of an integer that every JSON reader keeps."""
_MEND = "correct the line, or remove it"


def _problem(at: tuple[str, int], code: str, message: str, remedy: str) -> Problem:
    return Problem(at[0], at[1], code, message, remedy)
