"""The rows across files, in a database that already holds the rows of its files.

In a copy, only what can have changed is written; what is written is what a full build writes.
"""

import sqlite3
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import chain

from syn.index import derive
from syn.index.derive import LinkRef, World
from syn.index.resolve import Resolver, lookup_keys
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


def derive_rows(
    connection: sqlite3.Connection,
    keys: Sequence[FactKey],
    world: World,
    changes: Changes | None,
) -> None:
    """Bring every row across files to what the keys, the rows of files and the ledger give."""
    ids = derive.id_problems(keys, world.recorded)
    doubled = {problem.path for problem in ids}
    connection.execute("DELETE FROM problem WHERE origin = ?", (WORKSPACE_ORIGIN,))
    insert_rows(connection, PROBLEM, derive.problem_rows([*world.problems, *ids]))
    connection.execute("DELETE FROM supersession")
    insert_rows(connection, SUPERSESSION, derive.supersession_rows(keys))
    _derive_decisions(connection, world)
    if changes is None:
        cells: Iterator[Cell] = (cell_of(FactRow(*row)) for row in connection.execute(_ALL_FACTS))
    else:
        cells = _stale_cells(connection, world, doubled)
    insert_rows(connection, STATE, derive.state_rows(cells, world.recorded, doubled))
    _derive_targets(connection, keys, changes)


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


def _stale_cells(connection: sqlite3.Connection, world: World, doubled: Set[str]) -> Iterator[Cell]:
    """Facts whose state row is absent or says something else than the ledger does now."""
    rows = connection.execute(
        "SELECT fact.path, fact.id, payload_digest, source_digest, "
        "state.id, state, closed, taint, quarantine "
        "FROM fact LEFT JOIN state USING (path) ORDER BY fact.path"
    )
    stale = []
    for path, name, payload, source, *have in rows:
        known = world.recorded.get(name)
        light = Cell(path, name, payload, "", None, None, None, None, None, source)
        state = derive.state_of(light, known, doubled=path in doubled)
        if have != [name, state, *derive.trust_of(known)]:
            stale.append((path,))
    connection.executemany("DELETE FROM state WHERE path = ?", stale)
    for place in stale:
        yield cell_of(FactRow(*connection.execute(_ONE_FACT, place).fetchone()))


def _derive_targets(
    connection: sqlite3.Connection, keys: Sequence[FactKey], changes: Changes | None
) -> None:
    if changes is None:
        links: Iterator[LinkRef] = connection.execute(_LINKS)
    elif changes.moves_links:
        # Filling a table beside its index costs twice what making the index afterwards does.
        connection.execute("DROP INDEX target_path")
        connection.execute("DELETE FROM target")
        links = connection.execute(_LINKS)
    else:
        links = iter(_links_of(connection, changes.written))
    first = next(links, None)
    if first is not None:
        resolver = Resolver(keys)
        insert_rows(connection, TARGET, derive.target_rows(resolver, chain([first], links)))
    if changes is not None and changes.moves_links:
        connection.execute(BACKLINKS)


def _links_of(connection: sqlite3.Connection, paths: Set[str]) -> list[LinkRef]:
    found: list[LinkRef] = []
    for path in sorted(paths):
        found += connection.execute(f"{_LINKS} WHERE path = ?", (path,))
    return found
