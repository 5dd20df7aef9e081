"""What changed in a fact, by field and not by line."""

from collections.abc import Iterator
from dataclasses import dataclass

from syn.model.fact import Fact
from syn.model.finding import Json
from syn.model.payload import Lexical, Mapping, Value
from syn.report.diff import render

BODY = "body"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field, before and after; None where it is not there."""

    field: str
    """Key of the front matter, `key.inner` inside a mapping, or `body`."""
    before: Json
    after: Json


def compare_facts(old: Fact | None, new: Fact | None) -> tuple[FieldChange, ...]:
    """The fields that differ, in the order they are written, the body last."""
    before, after = _leaves(old), _leaves(new)
    names = dict.fromkeys((*before, *after))
    changes = [
        FieldChange(name, before.get(name), after.get(name))
        for name in names
        if before.get(name) != after.get(name)
    ]
    texts = _body(old), _body(new)
    if texts[0] != texts[1]:
        changes.append(FieldChange(BODY, *texts))
    return tuple(changes)


def changes_json(changes: tuple[FieldChange, ...]) -> list[Json]:
    """Field changes for programs; of a body also the lines that differ."""
    return [_change_json(change) for change in changes]


def _change_json(change: FieldChange) -> Json:
    answer: dict[str, Json] = {
        "field": change.field,
        "before": change.before,
        "after": change.after,
    }
    if change.field == BODY:
        answer["diff"] = body_diff(change, color=False)
    return answer


def body_diff(change: FieldChange, *, color: bool) -> str:
    """The lines of a body that differ, made visible."""
    return render(str(change.before or ""), str(change.after or ""), color=color)


def _body(fact: Fact | None) -> str | None:
    return None if fact is None or not fact.body else fact.body.replace("\r\n", "\n")


def _leaves(fact: Fact | None) -> dict[str, Json]:
    return {} if fact is None else dict(_walk("", fact.fields))


def _walk(prefix: str, value: Mapping) -> Iterator[tuple[str, Json]]:
    for key, inner in value.items:
        name = f"{prefix}{key}"
        if isinstance(inner, Mapping) and inner.items:
            yield from _walk(f"{name}.", inner)
        else:
            yield name, _shown(inner)


def _shown(value: Value) -> Json:
    match value:
        case str():
            return value
        case Lexical(text=text):
            return text
        case Mapping(items=items):
            return {key: _shown(inner) for key, inner in items}
        case _:
            return [_shown(inner) for inner in value]
