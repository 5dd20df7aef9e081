"""Whether a file is an index of ours, and whether it is sound. Reads only, and says, never heals.

FTS5's integrity-check is an INSERT to SQLite, so for a live index it runs on a copy: `verify`
never opens the live file for writing.
"""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from zlib import crc32

from syn.index.rows import PROJECTION
from syn.index.store import files, schema
from syn.index.store.errors import REBUILD, IndexUnusable, guard
from syn.index.store.files import FileRecord

SORTED_TO = "sorted_to"
"""Meta key: documents up to this number are numbered in path order; later ones are not."""
_MAX_MESSAGES = 20
_FTS_CHECK = "INSERT INTO fact_fts (fact_fts, rank) VALUES ('integrity-check', 1)"
"""Rank 1 compares with the rows; without it a stray delete goes unseen."""


def refuse_side_files(path: Path) -> None:
    """Refuse an index that another program is writing, or died writing.

    A journal or write-ahead log beside it holds part of its content, and reading without it gives
    a state that never was. Synapse itself never makes one.
    """
    for suffix in ("-journal", "-wal"):
        side = path.with_name(path.name + suffix)
        try:
            size = side.stat().st_size
        except FileNotFoundError:
            continue
        if size:
            raise IndexUnusable(
                "index-locked",
                f"{path.name}: {side.name} stands beside it: another program is writing the index "
                "or died while it did",
                f"close that program, or delete {path.name} and {side.name} and run syn reindex",
            )


def refuse_foreign(connection: sqlite3.Connection, name: str) -> None:
    """Refuse what is no index of this version: `index-foreign`, `-version`, `-schema`."""
    with guard(Path(name)):
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != schema.APPLICATION_ID:
        raise IndexUnusable(
            "index-foreign",
            f"{name}: expected an index of Synapse, got another SQLite database",
            "move that file away and run syn reindex",
        )
    if version != schema.SCHEMA:
        raise IndexUnusable(
            "index-version", f"{name}: expected schema {schema.SCHEMA}, got {version}", REBUILD
        )
    with guard(Path(name)):
        if faults := schema.faults(connection):
            words = (_in_words(connection) or faults)[:5]
            raise IndexUnusable("index-schema", f"{name}: {'; '.join(words)}", REBUILD)
        row = connection.execute("SELECT value FROM meta WHERE key = 'projection'").fetchone()
        projection = row[0] if row else "none"
    if projection != str(PROJECTION):
        raise IndexUnusable(
            "index-version", f"{name}: expected projection {PROJECTION}, got {projection}", REBUILD
        )


def _in_words(connection: sqlite3.Connection) -> list[str]:
    """How the shape differs, where sqlite-utils can read what is left of it."""
    from syn.index.store.introspect import shape_differences

    try:
        return shape_differences(connection)
    except (TypeError, ValueError, AttributeError):
        # It expects a name and a statement in every row of the schema; ours is damaged.
        return []


def meta(connection: sqlite3.Connection) -> dict[str, str]:
    """The meta table: projection version, inputs_hash, and what else the builder was given."""
    found = {}
    for key, value, total in connection.execute("SELECT key, value, sum FROM meta ORDER BY key"):
        if total != files.row_sum(key, value):
            raise _decayed(f"meta {key}")
        found[key] = value
    return found


def file_records(connection: sqlite3.Connection, below: str = "") -> Iterator[FileRecord]:
    """The files the index was built from whose path begins with `below`, in path order."""
    rows = connection.execute(
        "SELECT path, source_digest, readable, stat, sum FROM file WHERE path >= ? ORDER BY path",
        (below,),
    )
    for path, digest, readable, stat, total in rows:
        # `files.row_sum`, written out: this runs once a file in every command.
        text = f"{path}\0{digest}\0{readable}\0{stat}"
        if total != crc32(text.encode("utf-8", "surrogateescape")):
            raise _decayed(f"file {path}")
        if not path.startswith(below):
            return
        yield FileRecord(path, digest, bool(readable), stat)


def _decayed(what: str) -> IndexUnusable:
    return IndexUnusable("index-corrupt", f"{what}: the record is not what was written", REBUILD)


def record_faults(connection: sqlite3.Connection) -> list[str]:
    """Records of files and of the build that are not what was written."""
    try:
        meta(connection)
        for _ in file_records(connection):
            pass
    except IndexUnusable as error:
        return [error.message]
    return []


def structure_faults(connection: sqlite3.Connection) -> list[str]:
    """What SQLite's own integrity_check says; empty when the b-trees and constraints hold."""
    rows = connection.execute(f"PRAGMA integrity_check({_MAX_MESSAGES})").fetchall()
    return [str(row[0]) for row in rows if row[0] != "ok"]


def fts_fault(connection: sqlite3.Connection) -> str:
    """What FTS5's integrity-check says, rows included; "" when it holds. Needs a writable file."""
    try:
        connection.execute(_FTS_CHECK)
    except sqlite3.DatabaseError as error:
        return str(error)
    return ""


def fts_fault_of(path: Path) -> str:
    """`fts_fault` of a live index, on a temporary copy of it."""
    with guard(path), tempfile.TemporaryDirectory(prefix="syn-") as folder:
        copy = Path(folder) / "index.db"
        copy.touch(mode=0o600)
        files.copy_into(path, copy)
        with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            return fts_fault(connection)


def refuse_broken(connection: sqlite3.Connection, name: str) -> None:
    """Refuse to put a file in place whose b-trees or constraints do not hold."""
    if faults := structure_faults(connection):
        raise IndexUnusable("index-corrupt", f"{name}: {'; '.join(faults[:3])}", REBUILD)


def refuse_unsound(connection: sqlite3.Connection, name: str) -> None:
    """The same, and refuse a full-text index that does not agree with the rows."""
    refuse_broken(connection, name)
    if fault := fts_fault(connection):
        raise IndexUnusable("index-corrupt", f"{name}: full-text index: {fault}", REBUILD)
