"""What the file holds: STRICT tables made from the logical ones, FTS5, and the records beside.

`SCHEMA` versions the file's shape (SQLite `user_version`), `rows.PROJECTION` the content.
"""

import sqlite3

from syn.index.lines import OWN_WORDS
from syn.index.rows import FACT, TABLES, Table

APPLICATION_ID = 0x53594E49
"""`SYNI`, the SQLite header's application_id."""
SCHEMA = 1
FTS_COLUMNS = ("title", "subject", "field", "value", "tags", "body")
FTS_WEIGHTS = (8.0, 4.0, 2.0, 4.0, 4.0, 1.0)
"""bm25 weight of each column; part of our queries, not of the file, where they could decay."""
FTS_SHADOWS = frozenset(f"fact_fts_{part}" for part in ("data", "idx", "docsize", "config"))
_MAX_PARAMETERS = 100
"""Of one INSERT; more gain nothing, and SQLite's lowest limit is 999."""
_TOKENIZER = "unicode61 remove_diacritics 2"


def _create(table: Table) -> str:
    columns = [f'"{name}" {kind}' for name, kind in zip(table.columns, table.types, strict=True)]
    key = ", ".join(f'"{name}"' for name in table.key)
    if table is FACT:
        # FTS5 names its documents by an integer, which no manifest may show.
        parts = ["n INTEGER PRIMARY KEY", *columns, f"UNIQUE ({key})"]
        return f"CREATE TABLE {table.name} ({', '.join(parts)}) STRICT"
    parts = [*columns, f"PRIMARY KEY ({key})"]
    return f"CREATE TABLE {table.name} ({', '.join(parts)}) STRICT, WITHOUT ROWID"


_META = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER NOT NULL) "
    "STRICT, WITHOUT ROWID"
)
_FILE = (
    "CREATE TABLE file (path TEXT PRIMARY KEY, source_digest TEXT NOT NULL, "
    "readable INTEGER NOT NULL, stat TEXT, sum INTEGER NOT NULL) STRICT, WITHOUT ROWID"
)
_FTS = (
    f"CREATE VIRTUAL TABLE fact_fts USING fts5({', '.join(FTS_COLUMNS)}, "
    f"content=[fact], content_rowid=[n], tokenize='{_TOKENIZER}')"
)
CREATE_TABLES: tuple[str, ...] = (*(_create(table) for table in TABLES), _META, _FILE, _FTS)
BACKLINKS = "CREATE INDEX target_path ON target (target_path) WHERE target_path IS NOT NULL"
FACT_INDEXES: tuple[str, ...] = (
    "CREATE INDEX fact_keys ON fact "
    "(path, id, explicit_id, title_key, aliases, supersedes, superseded_by, payload_digest, "
    "source_digest)",
    "CREATE INDEX fact_id ON fact (id)",
    "CREATE INDEX fact_id_key ON fact (id_key)",
    "CREATE INDEX fact_title_key ON fact (title_key)",
    "CREATE INDEX fact_facets ON fact "
    "(path, valid_from_key, valid_to_key, type, status, subject, field)",
    "CREATE INDEX fact_statement ON fact (subject, field)",
)
OTHER_INDEXES: tuple[str, ...] = (
    "CREATE INDEX tag_tag ON tag (tag, path)",
    BACKLINKS,
    "CREATE INDEX problem_path ON problem (path)",
    "CREATE INDEX decision_fact ON decision (fact)",
)


def quoted(name: str) -> str:
    """A column's name as SQL takes it whatever it is."""
    return f'"{name}"'


def inserts(table: Table) -> tuple[str, str, int]:
    """INSERT of one row, INSERT of several, and how many; columns in the table's order."""
    width = _MAX_PARAMETERS // len(table.columns)
    names = ", ".join(map(quoted, table.columns))
    slots = f"({', '.join('?' * len(table.columns))})"
    head = f"INSERT INTO {table.name} ({names}) VALUES "  # noqa: S608 - our own names
    return head + slots, head + ", ".join([slots] * width), width


def select(table: Table) -> str:
    """Every row, columns in the table's order, sorted by primary key in byte order."""
    names = ", ".join(f'"{name}"' for name in table.columns)
    key = ", ".join(f'"{name}"' for name in table.key)
    return f"SELECT {names} FROM {table.name} ORDER BY {key}"  # noqa: S608 - our own names


def odd(table: Table) -> str:
    """A query that finds a row with a value of another kind than its column declares.

    STRICT refuses such values, so only a damaged file, or one written past STRICT, has them.
    """
    kinds = {"TEXT NOT NULL": "'text'", "TEXT": "'text', 'null'", "INTEGER NOT NULL": "'integer'"}
    tests = [
        f'typeof("{name}") NOT IN ({kinds[kind]})'
        for name, kind in zip(table.columns, table.types, strict=True)
    ]
    tests += [f"\"{name}\" GLOB '*[^a-z0-9:]*'" for name in OWN_WORDS.get(table.name, ())]
    return f"SELECT 1 FROM {table.name} WHERE {' OR '.join(tests)} LIMIT 1"  # noqa: S608


def inexact(table: Table) -> str:
    """A query that finds a number that is no integer where one belongs, which Python calls equal.

    `odd` is wider and slower; this is what a comparison of values cannot see.
    """
    numbers = [n for n, kind in zip(table.columns, table.types, strict=True) if "INTEGER" in kind]
    tests = [f"typeof(\"{name}\") <> 'integer'" for name in numbers]
    return f"SELECT 1 FROM {table.name} WHERE {' OR '.join(tests or ['0'])} LIMIT 1"  # noqa: S608


def create(connection: sqlite3.Connection) -> None:
    """Make the empty tables and stamp the file as ours."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA}")
    for statement in CREATE_TABLES:
        connection.execute(statement)


_EXPECTED = frozenset(
    " ".join(statement.split()) for statement in (*CREATE_TABLES, *FACT_INDEXES, *OTHER_INDEXES)
)


def faults(connection: sqlite3.Connection) -> list[str]:
    """How the file's schema differs from ours: nothing more, nothing less, but statistics.

    Compares statements, which is exact and cheap; `introspect` says which column it is.
    """
    rows = connection.execute(
        "SELECT type, name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*'"
    ).fetchall()
    found = {" ".join(str(sql).split()): f"{kind} {name}" for kind, name, sql in rows}
    shadows = {
        " ".join(str(sql).split())
        for kind, name, sql in rows
        if kind == "table" and name in FTS_SHADOWS
    }
    foreign = [f"foreign {name}" for sql, name in found.items() if sql not in _EXPECTED | shadows]
    missing = [f"missing {sql.partition(' (')[0]}" for sql in _EXPECTED - found.keys()]
    return sorted([*foreign, *missing])
