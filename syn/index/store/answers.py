"""Lists and searches over an open connection: exact, bounded, and in one deterministic order.

A search that few facts match (`NARROW`) is ranked by bm25, equal scores in path order. Scoring
costs time per match, so a broader one is answered in two tiers, each in path order when it is
itself too broad to score: facts whose title holds every word, then the others.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from syn.index.query import Filters
from syn.index.rows import FACT, STATE
from syn.index.store import check
from syn.index.store.errors import IndexUnusable
from syn.index.store.schema import FTS_WEIGHTS

NARROW = 2_000
"""Matches of one word that are scored, about 4 ms; of several words, this shared between them."""

_SCORE = f"bm25(fact_fts, {', '.join(map(str, FTS_WEIGHTS))})"
_ITEM_COLUMNS = (
    *("path", "id", "type", "title", "status", "subject", "field", "value"),
    *("valid_from", "valid_to", "tags"),
)
JOIN = "LEFT JOIN state ON state.path = fact.path"
_FACETS = "fact INDEXED BY fact_facets"
"""Walks an index that holds every column `Filters` asks for: fact rows carry bodies and are slow
to visit. (A unary plus keeps SQLite from visiting them by number.)"""


def qualified(table: str, columns: Sequence[str]) -> str:
    """A column list for SELECT."""
    return ", ".join(f'{table}."{name}"' for name in columns)


FACT_COLUMNS = qualified("fact", FACT.columns)
STATE_COLUMNS = qualified("state", STATE.columns)
_ITEM = f"{qualified('fact', _ITEM_COLUMNS)}, state.state, state.taint, state.quarantine"


@dataclass(frozen=True, slots=True)
class Item:
    """A fact as a list or a search shows it; values as written."""

    path: str
    id: str
    type: str | None
    title: str
    status: str | None
    subject: str | None
    field: str | None
    value: str | None
    valid_from: str | None
    valid_to: str | None
    tags: str
    """Canonical JSON list (`lines.read_list`)."""
    state: str | None
    """None when the row has no cell: such a fact is `unchecked`."""
    taint: str | None
    quarantine: str | None


def list_page(
    connection: sqlite3.Connection, filters: Filters, limit: int, after: str
) -> tuple[int, list[Item]]:
    """How many facts pass, and up to `limit` of them after a path, in path order."""
    where, values = filters.where()
    source = f"FROM fact {JOIN if filters.needs_state else ''} WHERE {where}"
    total = connection.execute(f"SELECT count(*) {source}", values).fetchone()[0]
    rows = connection.execute(
        f"SELECT {_ITEM} FROM fact {JOIN} WHERE {where} AND fact.path > ? "  # noqa: S608
        "ORDER BY fact.path LIMIT ?",
        [*values, after, limit],
    )
    return total, [Item(*row) for row in rows]


def search_page(
    connection: sqlite3.Connection, expression: str, filters: Filters, limit: int, start: int
) -> tuple[int, list[Item]]:
    """How many facts match and pass, and up to `limit` of them from place `start`, best first."""
    narrow = NARROW // min(8, expression.count('" "') + 1)
    # Where all that match pass, counting them is the answer's total as well.
    total = _count(connection, expression, filters) if filters.asks_nothing else None
    found = _count_to(connection, expression, narrow + 1) if total is None else total
    if found <= narrow:
        scores = _scores(connection, expression, filters, narrow)
        return len(scores), _items(connection, _ranked(connection, scores, start, limit))
    if total is None:
        total = _count(connection, expression, filters)
    titled = f"{{title}} : ({expression})"
    scores = _scores(connection, titled, filters, narrow + 1)
    if len(scores) <= narrow:
        first, size = _ranked(connection, scores, start, limit), len(scores)
    else:
        first = _in_path_order(connection, titled, filters, (limit, start))
        size = _count(connection, titled, filters)
    rest = (limit - len(first), max(0, start - size))
    if rest[0] > 0:
        untitled = f"({expression}) NOT ({titled})"
        first += _in_path_order(connection, untitled, filters, rest)
    return total, _items(connection, first)


def _count_to(connection: sqlite3.Connection, expression: str, most: int) -> int:
    query = "SELECT count(*) FROM (SELECT 1 FROM fact_fts WHERE fact_fts MATCH ? LIMIT ?)"
    found: int = connection.execute(query, (expression, most)).fetchone()[0]
    return found


def _scores(
    connection: sqlite3.Connection, expression: str, filters: Filters, most: int
) -> list[tuple[float, int]]:
    """(score, document) of the matches that pass, up to `most`; lower is better."""
    where, values = filters.where(per_row=True)
    join = "" if filters.asks_nothing else f"CROSS JOIN fact ON fact.n = fact_fts.rowid {JOIN}"
    query = (
        f"SELECT {_SCORE} AS score, fact_fts.rowid AS n FROM fact_fts {join} "  # noqa: S608 - our own
        f"WHERE fact_fts MATCH ? AND {where} LIMIT ?"
    )
    # As one row: for each one Python waits for its turn, and another thread may be at work.
    texts = f"SELECT group_concat(score, ' '), group_concat(n, ' ') FROM ({query})"  # noqa: S608 - the same
    scores, documents = connection.execute(texts, [expression, *values, most]).fetchone()
    pairs = zip((scores or "").split(), (documents or "").split(), strict=True)
    # Six digits: what is left of a score does not depend on how a SQLite adds its floats.
    return [(round(float(score), 6), int(n)) for score, n in pairs]


def _ranked(
    connection: sqlite3.Connection, scores: list[tuple[float, int]], start: int, limit: int
) -> list[int]:
    """A window of the matches by score, then path; paths are read only for scores inside it."""
    found: list[int] = []
    place = 0
    for _, group in groupby(sorted(scores), key=lambda pair: pair[0]):
        tied = [n for _, n in group]
        if place + len(tied) > start:
            if len(tied) > 1:
                tied = _by_path(connection, tied)
            found += tied[max(0, start - place) : start + limit - place]
        place += len(tied)
        if place >= start + limit:
            break
    return found


def _by_path(connection: sqlite3.Connection, documents: list[int]) -> list[int]:
    return [n for _, n in sorted(_select(connection, "fact.path, fact.n", "", documents))]


def _count(connection: sqlite3.Connection, expression: str, filters: Filters) -> int:
    matching = "SELECT rowid FROM fact_fts WHERE fact_fts MATCH ?"
    where, values = filters.where(per_row=True)
    query = f"SELECT count(*) FROM ({matching})"  # noqa: S608 - our own names
    if not filters.asks_nothing:
        join = JOIN if filters.needs_state else ""
        query = f"SELECT count(*) FROM {_FACETS} {join} WHERE +fact.n IN ({matching}) AND {where}"  # noqa: S608
    found: int = connection.execute(query, [expression, *values]).fetchone()[0]
    return found


def _in_path_order(
    connection: sqlite3.Connection, expression: str, filters: Filters, window: tuple[int, int]
) -> list[int]:
    """Documents that match in path order; `window` is (limit, offset)."""
    if filters.asks_nothing:
        return _in_document_order(connection, expression, window)
    matching = "SELECT rowid FROM fact_fts WHERE fact_fts MATCH ?"
    where, values = filters.where(per_row=True)
    join = JOIN if filters.needs_state else ""
    query = (
        f"SELECT fact.n FROM {_FACETS} {join} WHERE +fact.n IN ({matching}) AND {where} "  # noqa: S608
        "ORDER BY fact.path LIMIT ? OFFSET ?"
    )
    return [row[0] for row in connection.execute(query, [expression, *values, *window])]


def _in_document_order(
    connection: sqlite3.Connection, expression: str, window: tuple[int, int]
) -> list[int]:
    """The same without visiting every match: documents of a full build are in path order.

    Those that were added to it since are few, and are merged in by their paths.
    """
    limit, offset = window
    known = check.meta(connection).get(check.SORTED_TO, "")
    bound = int(known) if known.isdecimal() else 0
    match = (
        "SELECT fact.path, fact.n FROM fact_fts CROSS JOIN fact ON fact.n = fact_fts.rowid "
        "WHERE fact_fts MATCH ? AND fact_fts.rowid"
    )
    found = connection.execute(
        f"{match} <= ? ORDER BY fact_fts.rowid LIMIT ?", (expression, bound, limit + offset)
    ).fetchall()
    found += connection.execute(f"{match} > ?", (expression, bound))
    return [n for _, n in sorted(found)[offset : offset + limit]]


def _items(connection: sqlite3.Connection, documents: list[int]) -> list[Item]:
    rows = _select(connection, f"fact.n, {_ITEM}", JOIN, documents)
    found = {row[0]: Item(*row[1:]) for row in rows}
    if len(found) < len(set(documents)):
        raise IndexUnusable(
            "index-corrupt",
            "the full-text index finds a fact that has no row",
            "syn repair derives the index again",
        )
    return [found[n] for n in documents]


def _select(
    connection: sqlite3.Connection, columns: str, join: str, documents: list[int]
) -> Iterator[tuple[Any, ...]]:
    for place in range(0, len(documents), 500):
        batch = documents[place : place + 500]
        slots = ", ".join("?" * len(batch))
        query = f"SELECT {columns} FROM fact {join} WHERE fact.n IN ({slots})"  # noqa: S608
        yield from connection.execute(query, batch)
