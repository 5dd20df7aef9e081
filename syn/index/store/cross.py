"""The rows across files, in a database that already holds the rows of its files.

In a copy, only what can have changed is written; what is written is what a full build writes.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass

from syn.index import derive
from syn.index.derive import LinkRef, World
from syn.index.project import key_of
from syn.index.resolve import Resolver, Wanted, lookup_keys
from syn.index.rows import (
    DECISION,
    FACT,
    PROBLEM,
    STATE,
    SUPERSESSION,
    TARGET,
    WORKSPACE_ORIGIN,
    FactKey,
    FactRow,
)
from syn.index.store.schema import BACKLINKS, quoted
from syn.index.store.tables import insert_rows
from syn.index.words import Cell, cell_of

_FACT_NAMES = ", ".join(map(quoted, FACT.columns))
_ALL_FACTS = f"SELECT {_FACT_NAMES} FROM fact ORDER BY path"  # noqa: S608 - our own names
_ONE_FACT = f"SELECT {_FACT_NAMES} FROM fact WHERE path = ?"  # noqa: S608 - our own names
_LINKS = "SELECT path, seq, syntax, target FROM link"
_KEYS = (
    "SELECT path, id, explicit_id, title_key, aliases, supersedes, superseded_by "
    "FROM fact INDEXED BY fact_keys"
)
"""Keys from an index that holds them all: fact rows carry bodies and are slow to visit."""
_KEYS_OF_ID = _KEYS.replace("INDEXED BY fact_keys", "WHERE id = ?")


_MAY_BE = (
    "id IN (SELECT value FROM json_each(?)) OR title_key IN (SELECT value FROM json_each(?)) "
    "OR aliases <> '[]' OR EXISTS (SELECT 1 FROM json_each(?) WHERE instr(fact.path, value) > 0)"
)
"""What `Wanted.covers` wants, and some more: the paths that hold a stem anywhere."""


_FEW_LINKS = 40
"""Links up to which the facts that they can lead to are asked for; beyond, all are gone through."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a build changed of the index it copied; None in place of it: everything is new."""

    written: Set[str]
    """Paths whose rows were written."""
    before: tuple[FactKey, ...]
    """Keys the copied index had for files that were written or removed."""
    after: tuple[FactKey, ...]
    """Keys of the files that were written."""

    @property
    def moves_links(self) -> bool:
        """Whether links of untouched files can lead elsewhere now."""
        return lookup_keys(self.before) != lookup_keys(self.after)


def key_at(connection: sqlite3.Connection, path: str) -> FactKey | None:
    """The key of the fact at a path."""
    found = connection.execute(f"{_KEYS} WHERE path = ?", (path,)).fetchone()
    return key_of(*found) if found else None


def derive_rows(connection: sqlite3.Connection, world: World, changes: Changes | None) -> None:
    """Bring every row across files to what the rows of files and the ledger give."""
    ids = derive.id_problems(_doubled_keys(connection), world.recorded)
    doubled = {problem.path for problem in ids}
    connection.execute("DELETE FROM problem WHERE origin = ?", (WORKSPACE_ORIGIN,))
    insert_rows(connection, PROBLEM, derive.problem_rows([*world.problems, *ids]))
    connection.execute("DELETE FROM supersession")
    insert_rows(connection, SUPERSESSION, derive.supersession_rows(_superseding_keys(connection)))
    if changes is None or not world.same_ledger:
        _derive_decisions(connection, world)
    if changes is None:
        cells: Iterator[Cell] = (cell_of(FactRow(*row)) for row in connection.execute(_ALL_FACTS))
    elif world.same_ledger:
        cells = _touched_cells(connection, changes.written | doubled)
    else:
        cells = _stale_cells(connection, world, doubled)
    insert_rows(connection, STATE, derive.state_rows(cells, world.recorded, doubled))
    _derive_targets(connection, changes)


def _doubled_keys(connection: sqlite3.Connection) -> list[FactKey]:
    """The keys of facts whose folded id stands twice."""
    paths = connection.execute(
        "SELECT path FROM fact WHERE id_key IN "
        "(SELECT id_key FROM fact GROUP BY id_key HAVING count(*) > 1)"
    )
    return _keys_at(connection, (row[0] for row in paths))


def _superseding_keys(connection: sqlite3.Connection) -> list[FactKey]:
    """The keys of facts that declare a supersession, and of those that they name."""
    rows = connection.execute(f"{_KEYS} WHERE supersedes <> '[]' OR superseded_by <> '[]'")
    found = [key_of(*row) for row in rows]
    named = {name for key in found for name in (*key.supersedes, *key.superseded_by)}
    keys = {key.path: key for key in found}
    for name in sorted(named | {key.id for key in found}):
        for row in connection.execute(_KEYS_OF_ID, (name,)):
            keys.setdefault(row[0], key_of(*row))
    return list(keys.values())


def _keys_at(connection: sqlite3.Connection, paths: Iterable[str]) -> list[FactKey]:
    keys = (key_at(connection, path) for path in sorted(paths))
    return [key for key in keys if key is not None]


def _derive_decisions(connection: sqlite3.Connection, world: World) -> None:
    """Add the entries that are not there; drop those that are not in the ledger."""
    stored = set(connection.execute("SELECT writer, seq, hash FROM decision"))
    rows = derive.decision_rows(world.decisions)
    insert_rows(connection, DECISION, (row for row in rows if not _take(stored, row[:3])))
    connection.executemany("DELETE FROM decision WHERE writer = ? AND seq = ? AND hash = ?", stored)


def _take(stored: set[tuple[str, int, str]], key: tuple[str, int, str]) -> bool:
    """Whether the key is stored; it is then accounted for."""
    known = key in stored
    stored.discard(key)
    return known


def _touched_cells(connection: sqlite3.Connection, paths: Set[str]) -> Iterator[Cell]:
    """Where the ledger is the same: the facts at some paths, and those whose id stood twice."""
    was = connection.execute("SELECT path FROM state WHERE state = ?", (derive.DOUBLED,))
    places = [(path,) for path in sorted({*paths, *(row[0] for row in was)})]
    connection.executemany("DELETE FROM state WHERE path = ?", places)
    for place in places:
        for row in connection.execute(_ONE_FACT, place):
            yield cell_of(FactRow(*row))


def _stale_cells(connection: sqlite3.Connection, world: World, doubled: Set[str]) -> Iterator[Cell]:
    """Facts whose state row is absent or says something else than the ledger does now."""
    facts = connection.execute(
        "SELECT path, id, payload_digest, source_digest FROM fact INDEXED BY fact_keys "
        "ORDER BY path"
    )
    states = connection.execute(
        "SELECT path, id, state, closed, taint, quarantine FROM state ORDER BY path"
    )
    have = next(states, None)
    stale = []
    for path, name, payload, source in facts:
        while have is not None and have[0] < path:
            have = next(states, None)
        known = world.recorded.get(name)
        light = Cell(path, name, payload, "", None, None, None, None, None, source)
        state = derive.state_of(light, known, doubled=path in doubled)
        if have != (path, name, state, *derive.trust_of(known)):
            stale.append((path,))
    connection.executemany("DELETE FROM state WHERE path = ?", stale)
    for place in stale:
        yield cell_of(FactRow(*connection.execute(_ONE_FACT, place).fetchone()))


def _derive_targets(connection: sqlite3.Connection, changes: Changes | None) -> None:
    if changes is not None and not changes.moves_links:
        links = _links_of(connection, changes.written)
        resolver = Resolver(_wanted_keys(connection, links))
        insert_rows(connection, TARGET, derive.target_rows(resolver, links))
        return
    if changes is not None:
        # Filling a table beside its index costs twice what making the index afterwards does.
        connection.execute("DROP INDEX target_path")
        connection.execute("DELETE FROM target")
    keys = [key_of(*row) for row in connection.execute(f"{_KEYS} ORDER BY path")]
    rows = derive.target_rows(Resolver(keys), connection.execute(_LINKS))
    insert_rows(connection, TARGET, rows)
    if changes is not None:
        connection.execute(BACKLINKS)


def _links_of(connection: sqlite3.Connection, paths: Set[str]) -> list[LinkRef]:
    found: list[LinkRef] = []
    for path in sorted(paths):
        found += connection.execute(f"{_LINKS} WHERE path = ?", (path,))
    return found


def _wanted_keys(connection: sqlite3.Connection, links: list[LinkRef]) -> list[FactKey]:
    """The keys that can matter for a few links; reading all of them costs ten times as much."""
    if not links:
        return []
    wanted = Wanted((path, target) for path, _, _, target in links)
    texts = wanted.texts()
    # The query compares each fact with each link; SQLite's JSON would end a text at a NUL.
    if len(links) > _FEW_LINKS or any(r"\u0000" in text for text in texts):
        rows = connection.execute(f"{_KEYS} ORDER BY path")
    else:
        rows = connection.execute(f"{_KEYS} WHERE {_MAY_BE} ORDER BY path", texts)
    return [key_of(*row) for row in rows if wanted.covers(row[0], row[1], row[3], row[4])]
