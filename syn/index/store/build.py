"""Building an index: always in a new file, from nothing or from a copy of the old one.

From a copy (incremental): rows of unchanged files stay as they are, mismatches included; rows of
changed files are replaced; rows across files are derived anew and written where they differ. The
result equals a full build, row for row (property test, ADR 0015).
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Self

from syn.index import derive
from syn.index.derive import LinkRef, World
from syn.index.project import fact_key, key_of
from syn.index.resolve import Resolver, lookup_keys
from syn.index.rows import (
    ATTR,
    DECISION,
    FACT,
    FILE_ORIGIN,
    FILE_TABLES,
    LINK,
    PROBLEM,
    PROJECTION,
    STATE,
    SUPERSESSION,
    TABLES,
    TAG,
    TARGET,
    WORKSPACE_ORIGIN,
    FactKey,
    FactRow,
    FileRows,
    Row,
    Scalar,
    Table,
)
from syn.index.store import check, files, schema
from syn.index.store.errors import IndexUnusable, guard
from syn.index.store.files import FileRecord, StatRecord
from syn.index.words import Cell, cell_of

_INSERTS = {table.name: schema.inserts(table) for table in TABLES}
_SELECT_FACT = f"SELECT {', '.join(schema.quoted(name) for name in FACT.columns)} FROM fact"  # noqa: S608
_MIN_SQLITE = (3, 37, 0)
"""STRICT tables."""
_BATCH = 500
"""Files whose rows are written at once."""
_FTS_NAMES = ", ".join(schema.FTS_COLUMNS)
_FTS_FILL = (
    f"INSERT INTO fact_fts (rowid, {_FTS_NAMES}) SELECT n, {_FTS_NAMES} FROM fact ORDER BY n"  # noqa: S608 - our own names
)
_FTS_ADD = (
    f"INSERT INTO fact_fts (rowid, {_FTS_NAMES}) SELECT n, {_FTS_NAMES} FROM fact WHERE path = ?"  # noqa: S608 - our own names
)
_FTS_DROP = f"INSERT INTO fact_fts (fact_fts, rowid, {_FTS_NAMES}) SELECT 'delete', n, {_FTS_NAMES} FROM fact WHERE path = ?"  # noqa: S608, E501 - our own names


@dataclass(frozen=True, slots=True)
class Built:
    """What a build did."""

    files: int
    facts: int
    written: int
    """Files whose rows were written; the others were copied."""
    copied: bool
    """Whether it started from the old index."""


class Builder:
    """One build, as a context manager; until `finish` returns, the target is untouched.

    Raises (every method): IndexUnusable, with the old index left as it was.
    """

    def __init__(self, target: Path, *, base: Path | None = None) -> None:
        """Build `target`, from nothing or from a copy of the index `base` (usually `target`)."""
        self._target = target
        self._base = base
        self._stack = ExitStack()
        self._path = target
        self._connection: sqlite3.Connection
        self._created_ns = 0
        self._pending: list[tuple[FileRows, str | None]] = []
        self._keys: dict[str, FactKey] = {}
        self._cells: dict[str, Cell] = {}
        """Cells of the files added: those whose state rows are to be written."""
        self._before: frozenset[tuple[str, ...]] = frozenset()
        self._touched: set[str] = set()
        self._written = 0

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            self._path = stack.enter_context(files.new_file(self._target))
            self._created_ns = self._path.stat().st_mtime_ns
            self._connection = self._open(stack)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _open(self, stack: ExitStack) -> sqlite3.Connection:
        if sqlite3.sqlite_version_info < _MIN_SQLITE:
            raise IndexUnusable(
                "sqlite-too-old",
                f"expected SQLite 3.37 or later, got {sqlite3.sqlite_version}",
                "use a Python that is linked with a newer SQLite",
            )
        if self._base is not None:
            check.refuse_side_files(self._base)
            with guard(self._target):
                files.copy_into(self._base, self._path)
        connection = sqlite3.connect(self._path, isolation_level=None)
        stack.callback(connection.close)
        with guard(self._target):
            # A failed build is thrown away as a whole, so a journal would protect nothing.
            for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -65536"):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("PRAGMA trusted_schema = OFF")
            if self._base is not None:
                check.refuse_foreign(connection, self._base.name)
                self._load_keys(connection)
            connection.execute("BEGIN")
            if self._base is None:
                schema.create(connection)
        return connection

    def _load_keys(self, connection: sqlite3.Connection) -> None:
        names = "path, id, explicit_id, title_key, aliases, supersedes, superseded_by"
        for row in connection.execute(f"SELECT {names} FROM fact ORDER BY path"):  # noqa: S608
            self._keys[row[0]] = key_of(*row)
        self._before = lookup_keys(self._keys.values())

    def file_records(self) -> Iterator[FileRecord]:
        """The files of the index as it will be, in path order: for `inputs_hash`."""
        self._flush()
        with guard(self._target):
            yield from check.file_records(self._connection)

    def add(self, rows: FileRows, stat: StatRecord | None = None) -> None:
        """Write the rows of one new or changed file; any order. Its old rows go."""
        trusted = stat is not None and files.settled(stat, self._created_ns)
        self._pending.append((rows, stat.text() if stat is not None and trusted else None))
        if len(self._pending) >= _BATCH:
            self._flush()

    def remove(self, path: str) -> None:
        """Drop the rows of a file that is gone."""
        self._flush()
        with guard(self._target):
            self._drop(path)

    def restat(self, path: str, stat: StatRecord) -> None:
        """Renew the stat record of a file that was read and found unchanged."""
        if files.settled(stat, self._created_ns):
            with guard(self._target):
                self._connection.execute(
                    "UPDATE file SET stat = ? WHERE path = ?", (stat.text(), path)
                )

    def finish(self, world: World, meta: Mapping[str, str]) -> Built:
        """Derive the rows across files, check the file, make it durable and put it in place.

        `meta` holds at least `inputs_hash`; the projection version is added.
        """
        self._flush()
        with guard(self._target):
            self._derive(world)
            self._write_meta(meta)
            self._connection.execute("COMMIT")
            check.refuse_unsound(self._connection, self._target.name)
            built = self._summary()
            self._connection.close()
            files.replace(self._path, self._target)
        return built

    def _summary(self) -> Built:
        row = self._connection.execute(
            "SELECT (SELECT count(*) FROM file), (SELECT count(*) FROM fact)"
        ).fetchone()
        return Built(row[0], row[1], self._written, self._base is not None)

    # Rows of files.

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        if not pending:
            return
        with guard(self._target):
            if self._base is not None:
                for rows, _ in pending:
                    self._drop(rows.path)
            self._insert_files(pending)

    def _insert_files(self, pending: Sequence[tuple[FileRows, str | None]]) -> None:
        self._written += len(pending)
        self._touched.update(rows.path for rows, _ in pending)
        self._connection.executemany(
            "INSERT INTO file VALUES (?, ?, ?, ?)",
            ((r.path, r.source_digest, int(r.fact is not None), stat) for r, stat in pending),
        )
        for rows, _ in pending:
            if rows.fact is not None:
                self._keys[rows.path] = fact_key(rows.fact)
                self._cells[rows.path] = cell_of(rows.fact, rows.body_digest)
        self._insert(FACT, (rows.fact for rows, _ in pending if rows.fact is not None))
        self._insert(ATTR, (row for rows, _ in pending for row in rows.attrs))
        self._insert(LINK, (row for rows, _ in pending for row in rows.links))
        self._insert(TAG, (row for rows, _ in pending for row in rows.tags))
        self._insert(PROBLEM, (row for rows, _ in pending for row in rows.problems))
        if self._base is not None:
            for rows, _ in pending:
                self._connection.execute(_FTS_ADD, (rows.path,))

    def _drop(self, path: str) -> None:
        execute = self._connection.execute
        execute(_FTS_DROP, (path,))
        for table in FILE_TABLES:
            where = f"origin = '{FILE_ORIGIN}' AND path = ?" if table is PROBLEM else "path = ?"
            execute(f"DELETE FROM {table.name} WHERE {where}", (path,))  # noqa: S608 - our names
        for name in ("target", "state", "file"):
            execute(f"DELETE FROM {name} WHERE path = ?", (path,))  # noqa: S608 - our names
        self._keys.pop(path, None)
        self._cells.pop(path, None)
        self._touched.discard(path)

    def _insert(self, table: Table, rows: Iterable[Row]) -> None:
        """Write rows, several to a statement: a third faster than one by one."""
        one, many, width = _INSERTS[table.name]
        remaining = iter(rows)
        tail: list[Row] = []

        def batches() -> Iterator[tuple[Scalar, ...]]:
            while len(batch := list(islice(remaining, width))) == width:
                yield tuple(chain.from_iterable(batch))
            tail.extend(batch)

        self._connection.executemany(many, batches())
        self._connection.executemany(one, tail)

    # Rows across files.

    def _derive(self, world: World) -> None:
        keys = [self._keys[path] for path in sorted(self._keys)]
        if self._base is None:
            for statement in schema.CREATE_INDEXES:
                self._connection.execute(statement)
            self._connection.execute(_FTS_FILL)
        ids = derive.id_problems(keys, world.recorded)
        self._connection.execute("DELETE FROM problem WHERE origin = ?", (WORKSPACE_ORIGIN,))
        self._insert(PROBLEM, derive.problem_rows([*world.problems, *ids]))
        self._connection.execute("DELETE FROM supersession")
        self._insert(SUPERSESSION, derive.supersession_rows(keys))
        self._derive_decisions(world)
        self._derive_states(world)
        self._derive_targets(keys)

    def _derive_decisions(self, world: World) -> None:
        key = "writer, seq, hash"
        stored = set(self._connection.execute(f"SELECT {key} FROM decision"))  # noqa: S608
        rows = derive.decision_rows(world.decisions)
        self._insert(DECISION, (row for row in rows if not _take(stored, row[:3])))
        self._connection.executemany(
            "DELETE FROM decision WHERE writer = ? AND seq = ? AND hash = ?", stored
        )

    def _derive_states(self, world: World) -> None:
        """Write the cells that are new or that the ledger now sees otherwise."""
        if self._base is not None:
            for path in self._stale_paths(world):
                self._connection.execute("DELETE FROM state WHERE path = ?", (path,))
                row = self._connection.execute(f"{_SELECT_FACT} WHERE path = ?", (path,)).fetchone()
                self._cells[path] = cell_of(FactRow(*row))
        cells = [self._cells[path] for path in sorted(self._cells)]
        self._insert(STATE, derive.state_rows(cells, world.recorded))

    def _stale_paths(self, world: World) -> list[str]:
        """Copied facts whose state row is absent or says something else than the ledger now."""
        light = "payload_digest, source_digest"
        rows = self._connection.execute(
            "SELECT fact.path, fact.id, state.id, state, closed, taint, quarantine, "  # noqa: S608
            f"{light} FROM fact LEFT JOIN state USING (path) ORDER BY fact.path"
        )
        stale = []
        for path, name, *have, payload, source in rows:
            known = world.recorded.get(name)
            want = [name, derive.state_of(path, payload, source, known), *derive.trust_of(known)]
            if have != want and path not in self._cells:
                stale.append(path)
        return stale

    def _derive_targets(self, keys: Sequence[FactKey]) -> None:
        resolver = Resolver(keys)
        if self._base is None or lookup_keys(keys) != self._before:
            self._connection.execute("DELETE FROM target")
            links: Iterable[LinkRef] = self._connection.execute(
                "SELECT path, seq, syntax, target FROM link"
            )
        else:
            links = self._links_of(sorted(self._touched))
        self._insert(TARGET, derive.target_rows(resolver, links))

    def _links_of(self, paths: Sequence[str]) -> Iterator[LinkRef]:
        query = "SELECT path, seq, syntax, target FROM link WHERE path = ?"
        for path in paths:
            yield from self._connection.execute(query, (path,))

    def _write_meta(self, meta: Mapping[str, str]) -> None:
        self._connection.execute("DELETE FROM meta")
        self._connection.executemany(
            "INSERT INTO meta VALUES (?, ?)",
            sorted({**meta, "projection": str(PROJECTION)}.items()),
        )


def _take(stored: set[tuple[str, int, str]], key: tuple[str, int, str]) -> bool:
    """Whether the key is stored; it is then accounted for."""
    known = key in stored
    stored.discard(key)
    return known
