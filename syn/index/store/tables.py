"""Writing rows: several to a statement, and the rows of one file as a whole."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from syn.index.rows import (
    ATTR,
    FACT,
    FILE_ORIGIN,
    LINK,
    PROBLEM,
    STATE,
    TABLES,
    TAG,
    TARGET,
    FileRows,
    Row,
    Scalar,
    Table,
)
from syn.index.store import schema
from syn.index.store.files import FileRecord

_INSERTS = {table.name: schema.inserts(table) for table in TABLES}
_FTS_NAMES = ", ".join(schema.FTS_COLUMNS)
_FTS_FROM_FACT = f"SELECT n, {_FTS_NAMES} FROM fact"  # noqa: S608 - our own names
_FTS_ADD = f"INSERT INTO fact_fts (rowid, {_FTS_NAMES}) {_FTS_FROM_FACT}"
_FTS_DROP = (
    f"INSERT INTO fact_fts (fact_fts, rowid, {_FTS_NAMES}) "  # noqa: S608 - our own names
    f"SELECT 'delete', n, {_FTS_NAMES} FROM fact WHERE path = ?"
)
_OF_ONE_FILE = (
    *(f"DELETE FROM {table.name} WHERE path = ?" for table in (FACT, ATTR, LINK, TAG)),  # noqa: S608
    *(f"DELETE FROM {table.name} WHERE path = ?" for table in (TARGET, STATE)),  # noqa: S608
    f"DELETE FROM problem WHERE origin = '{FILE_ORIGIN}' AND path = ?",  # noqa: S608
    "DELETE FROM file WHERE path = ?",
)


def insert_rows(connection: sqlite3.Connection, table: Table, rows: Iterable[Row]) -> None:
    """Write rows of one table; several to a statement is a third faster than one by one."""
    one, many, width = _INSERTS[table.name]
    remaining = iter(rows)
    tail: list[Row] = []

    def batches() -> Iterator[tuple[Scalar, ...]]:
        while len(batch := list(islice(remaining, width))) == width:
            yield tuple(chain.from_iterable(batch))
        tail.extend(batch)

    connection.executemany(many, batches())
    connection.executemany(one, tail)


def insert_files(
    connection: sqlite3.Connection, files: Sequence[tuple[FileRows, str | None]]
) -> None:
    """Write everything some files alone give, and their records; FTS apart."""
    connection.executemany(
        "INSERT INTO file VALUES (?, ?, ?, ?, ?)",
        (FileRecord(f.path, f.source_digest, f.fact is not None, stat).row() for f, stat in files),
    )
    insert_rows(connection, FACT, (f.fact for f, _ in files if f.fact is not None))
    insert_rows(connection, ATTR, (row for f, _ in files for row in f.attrs))
    insert_rows(connection, LINK, (row for f, _ in files for row in f.links))
    insert_rows(connection, TAG, (row for f, _ in files for row in f.tags))
    insert_rows(connection, PROBLEM, (row for f, _ in files for row in f.problems))


def drop_file(connection: sqlite3.Connection, path: str) -> None:
    """Remove every row of one file; FTS5 first, since it needs the very values it indexed."""
    connection.execute(_FTS_DROP, (path,))
    for statement in _OF_ONE_FILE:
        connection.execute(statement, (path,))


def restat(connection: sqlite3.Connection, path: str, stat: str) -> None:
    """Renew the stat record of one file."""
    query = "SELECT path, source_digest, readable FROM file WHERE path = ?"
    for name, digest, readable in connection.execute(query, (path,)).fetchall():
        row = FileRecord(name, digest, bool(readable), stat).row()
        connection.execute("REPLACE INTO file VALUES (?, ?, ?, ?, ?)", row)


def fill_fts(connection: sqlite3.Connection) -> None:
    """Index the text of every fact."""
    connection.execute(f"{_FTS_ADD} ORDER BY n")


def add_to_fts(connection: sqlite3.Connection, paths: Iterable[str]) -> None:
    """Index the text of some facts that FTS5 does not hold."""
    connection.executemany(f"{_FTS_ADD} WHERE path = ?", ((path,) for path in paths))
