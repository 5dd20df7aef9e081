"""Answers to reads, as JSON values: what both doors give (design 14)."""

from collections.abc import Iterable

from syn.index.lines import read_list
from syn.index.store.answers import Item
from syn.model.fact import Fact
from syn.model.finding import Json
from syn.model.payload import Lexical, Mapping, Value
from syn.model.problem import Problem
from syn.services.recall.indexing import Reindexed
from syn.services.recall.pagein import Served, Withheld

Answer = dict[str, Json]


def item_json(item: Item, served: Served) -> Answer:
    """One row of a list that was checked; absent values are left out."""
    answer: Answer = {
        "id": item.id,
        "type": item.type,
        "title": item.title,
        "path": item.path,
        "status": item.status,
        "subject": item.subject,
        "field": item.field,
        "value": item.value,
        "valid_from": item.valid_from,
        "valid_to": item.valid_to,
        "tags": list(read_list(item.tags)),
        "state": item.state if served.record != "unproven" else "unproven",
        "taint": served.taint,
        "quarantined": bool(served.quarantine),
    }
    always = ("id", "type", "title", "path", "state")
    return {key: value for key, value in answer.items() if key in always or value}


def page_json(items: Iterable[Json], total: int, cursor: str | None) -> Answer:
    """A list as every list looks."""
    return {"items": list(items), "total": total, "next": cursor}


def served_json(served: Served) -> Answer:
    """A fact that checks, whole."""
    fact = served.fact
    answer: Answer = {
        "id": fact.id,
        "type": fact.type,
        "title": fact.title,
        "path": fact.path,
        "status": fact.status,
        "tags": list(fact.tags),
        "aliases": list(fact.aliases),
        "subject": fact.subject,
        "field": fact.field,
        "value": fact.value,
        "valid_from": fact.valid_from.text if fact.valid_from else None,
        "valid_to": fact.valid_to.text if fact.valid_to else None,
        "supersedes": list(fact.supersedes),
        "superseded_by": list(fact.superseded_by),
        "fields": fields_json(fact.fields),
        "body": fact.body,
        "links": [_link(fact, at) for at in range(len(fact.links))],
        "record": served.record,
        "taint": served.taint,
        "quarantine": list(served.quarantine),
        "payload_digest": fact.payload_digest,
        "source_digest": fact.source_digest,
    }
    optional = ("tags", "aliases", "supersedes", "superseded_by", "links", "quarantine", "taint")
    return {key: value for key, value in answer.items() if value or key not in optional}


def _link(fact: Fact, at: int) -> Json:
    link = fact.links[at]
    parts = {
        "line": link.line,
        "syntax": link.syntax,
        "target": link.target,
        "text": link.text,
        "heading": link.heading,
        "relation": link.relation,
    }
    return {key: value for key, value in parts.items() if value}


def withheld_json(withheld: Withheld) -> Answer:
    """A fact that is not handed out: why, and what to do."""
    return {
        "id": withheld.id,
        "path": withheld.path,
        "withheld": withheld.fault,
        "reason": withheld.reason,
        "remedy": withheld.remedy,
    }


def problem_json(problem: Problem, severity: str) -> Answer:
    """A problem or a warning of one file."""
    return {
        "path": problem.path,
        "line": problem.line,
        "severity": severity,
        "code": problem.code,
        "message": problem.message,
        "remedy": problem.remedy,
    }


def fields_json(value: Value) -> Json:
    """Front matter for people and programs: every scalar as the text it was written with."""
    match value:
        case str():
            return value
        case Lexical(type="null"):
            return None
        case Lexical(text=text):
            return text
        case Mapping(items=items):
            return {key: fields_json(inner) for key, inner in items}
        case _:
            return [fields_json(inner) for inner in value]


def reindexed_json(done: Reindexed) -> Answer:
    """What a reindex did."""
    return {
        "mode": done.mode,
        "facts": done.facts,
        "read": done.read,
        "removed": done.removed,
        "inputs_hash": done.inputs_hash,
    }
