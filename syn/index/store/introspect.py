"""The database through sqlite-utils: what differs in its shape, and its rows as plain objects.

sqlite-utils is imported here, where it is used: it takes longer to load than most commands run.
It is not used to write: its inserts are half as fast as prepared ones (ADR 0015).
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from syn.index.rows import FACT, TABLES, Scalar, Table
from syn.index.store import schema
from syn.index.store.errors import guard

if TYPE_CHECKING:
    from sqlite_utils import Database


def shape_differences(connection: sqlite3.Connection) -> list[str]:
    """How tables, columns, keys, triggers and views differ from ours, in words."""
    database = _database(connection)
    ours = {table.name: table for table in TABLES}
    known = {*ours, "meta", "file", "fact_fts", *schema.FTS_SHADOWS}
    names = set(database.table_names())
    found = [f"missing table {name}" for name in sorted(known - names)]
    found += [f"foreign table {name}" for name in sorted(names - known)]
    found += [f"foreign view {name}" for name in sorted(database.view_names())]
    found += [f"foreign trigger {trigger.name} on {trigger.table}" for trigger in database.triggers]
    for name in sorted(names & ours.keys()):
        found += _table_differences(database, ours[name])
    return found


def _table_differences(database: "Database", table: Table) -> Iterator[str]:
    there = database.table(table.name)
    have = {column.name: column.type for column in there.columns}
    want = {name: kind.split()[0] for name, kind in zip(table.columns, table.types, strict=True)}
    if table is FACT:
        want["n"] = "INTEGER"
    for name in sorted(want.keys() | have.keys()):
        if want.get(name) != have.get(name):
            expected, actual = want.get(name, "no column"), have.get(name, "no column")
            yield f"{table.name}.{name}: expected {expected}, got {actual}"
    keys = ["n"] if table is FACT else list(table.key)
    if there.pks != keys:
        yield f"{table.name}: expected primary key {keys}, got {there.pks}"
    if not there.strict:
        yield f"{table.name}: expected a STRICT table"


def table_objects(path: Path, table: Table) -> Iterator[dict[str, Scalar]]:
    """The rows of one table as objects, sorted by primary key: for export and for people.

    Raises:
        IndexUnusable: the file cannot be read.
    """
    from syn.index.store.reader import connect

    with guard(path), closing(connect(path)) as connection:
        order = ", ".join(map(schema.quoted, table.key))
        names = ", ".join(map(schema.quoted, table.columns))
        yield from _database(connection).table(table.name).rows_where(select=names, order_by=order)


def _database(connection: sqlite3.Connection) -> "Database":
    """Without plugins: installing one must not change what a verifier does."""
    from sqlite_utils import Database

    return Database(connection, recursive_triggers=False, execute_plugins=False)
