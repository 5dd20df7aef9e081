"""in-toto Statements v1 (https://in-toto.io/Statement/v1): a predicate about digested subjects.

Every subject has a name, since common readers need one. Reading ignores unknown members, as the
specification asks, and refuses doubled ones.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from syn.canon import json
from syn.canon.json import CanonError
from syn.errors import RefusedError
from syn.model.finding import Json

TYPE = "https://in-toto.io/Statement/v1"
PAYLOAD_TYPE = "application/vnd.in-toto+json"


class StatementError(RefusedError):
    """Bytes that are no in-toto Statement v1 (`statement-form`)."""


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that the predicate is about; it is matched by digest alone."""

    name: str
    digest: tuple[tuple[str, str], ...]
    """Pairs (algorithm, lower-case hex), sorted, at least one: `gitCommit`, `gitTree`, `sha256`."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A Statement; the predicate is JSON as its type defines it."""

    subjects: tuple[Subject, ...]
    predicate_type: str
    predicate: Mapping[str, Json]


def encode(statement: Statement) -> bytes:
    """The canonical JSON bytes of a Statement, the payload of an envelope."""
    return json.encode(
        {
            "_type": TYPE,
            "subject": [
                {"name": item.name, "digest": dict(item.digest)} for item in statement.subjects
            ],
            "predicateType": statement.predicate_type,
            "predicate": dict(statement.predicate),
        }
    )


def parse(data: bytes) -> Statement:
    """Read a Statement in any spelling of its JSON.

    Raises:
        StatementError: it is none.
    """
    try:
        value = json.parse(data)
    except CanonError as error:
        raise _form(error.message) from error
    match value:
        case {
            "_type": str(kind),
            "subject": list(subjects),
            "predicateType": str(predicate_type),
            "predicate": dict(predicate),
        }:
            pass
        case _:
            raise _form("expected _type, subject, predicateType and predicate")
    if kind != TYPE:
        raise _form(f"expected the type {TYPE}, got {kind[:80]!r}")
    return Statement(_subjects(subjects), predicate_type, predicate)


def _subjects(items: Sequence[Json]) -> tuple[Subject, ...]:
    if not items:
        raise _form("expected at least one subject")
    return tuple(_subject(item) for item in items)


def _subject(item: Json) -> Subject:
    digest = item.get("digest") if isinstance(item, dict) else None
    if not isinstance(item, dict) or not isinstance(digest, dict) or not digest:
        raise _form("expected a digest in every subject")
    name = item.get("name", "")
    pairs = sorted((key, value) for key, value in digest.items() if isinstance(value, str))
    if len(pairs) != len(digest) or not isinstance(name, str):
        raise _form("expected text as name and digests of a subject")
    return Subject(name, tuple(pairs))


def _form(message: str) -> StatementError:
    return StatementError("statement-form", f"not an in-toto Statement: {message}")
