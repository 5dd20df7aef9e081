"""Reading an index: immutable, reopened when the file was replaced, every row as it is stored."""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote

from syn.index.lines import encode_chunks, encode_row
from syn.index.query import (
    Filters,
    checked_limit,
    decode_cursor,
    encode_cursor,
    search_expression,
)
from syn.index.rows import TABLES, FactRow, ProblemRow, Scalar, StateRow, Table
from syn.index.store import answers, check, schema
from syn.index.store.answers import Item
from syn.index.store.errors import IndexUnusable, guard
from syn.index.store.files import FileRecord

_T = TypeVar("_T")
_Identity = tuple[int, int, int, int]
_SELECT = {table.name: schema.select(table) for table in TABLES}
_ODD = {table.name: schema.odd(table) for table in TABLES}
_INEXACT = [schema.inexact(table) for table in TABLES]
_ABSENT = (
    "SELECT DISTINCT fact FROM decision WHERE fact <> '' "
    "AND NOT EXISTS (SELECT 1 FROM fact WHERE fact.id = decision.fact) ORDER BY fact"
)
SQLITE = sqlite3.sqlite_version
"""Which SQLite reads here, and says whether a file is sound."""
_CACHE_KIB = 16_384
"""Pages that stay in memory between calls."""
_STREAM_KIB = 2_048
"""The same for who goes through the file from end to end: more of them are never asked again."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of an answer."""

    items: tuple[Item, ...]
    total: int
    next: str | None
    """The cursor of the next page, or None on the last."""


class Index:
    """An open index. Every call answers from the file that is in place at that moment.

    Use as a context manager. Safe to share between threads: SQLite serializes.

    Raises (every method): IndexUnusable.
    """

    def __init__(self, path: Path, cache: int = _CACHE_KIB) -> None:
        """`cache`: KiB of pages to keep."""
        self._path = path
        self._cache = cache
        self._identity: _Identity
        self._connection = self._open()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the file."""
        self._connection.close()

    # Content for verification.

    def lines(self, table: Table) -> Iterator[bytes]:
        """The manifest lines of one table, sorted by primary key."""
        for row in self.rows(table):
            yield encode_row(table, row)

    def chunks(self, table: Table) -> Iterator[bytes]:
        """The bytes of those lines in pieces of no meaning: for a digest, three times as fast."""
        with guard(self._path):
            is_odd = self._current().execute(_ODD[table.name]).fetchone() is not None
        return self.lines(table) if is_odd else encode_chunks(table, self.rows(table))

    @property
    def identity(self) -> tuple[int, int, int, int]:
        """Which file is open: it changes when another one was put in place."""
        return self._identity

    def is_exact(self) -> bool:
        """Whether rows that compare equal to ours have our manifest lines (1.0 equals 1)."""
        with guard(self._path):
            return all(self._current().execute(ask).fetchone() is None for ask in _INEXACT)

    def rows(self, table: Table) -> Iterator[tuple[Scalar, ...]]:
        """The rows of one table as they are stored, columns in the table's order.

        Text of a damaged file that is not UTF-8 keeps its bytes as lone surrogates, so that it
        differs from every projected row instead of stopping the comparison.
        """
        return self._stream(_SELECT[table.name], (), _keep_bytes)

    def rows_by(self, table: Table, **values: str) -> list[tuple[Scalar, ...]]:
        """The rows of one table whose columns have exactly these values, sorted by primary key."""
        if unknown := values.keys() - set(table.columns):
            raise ValueError(f"expected columns of {table.name}, got {min(unknown)!r}")
        where = " AND ".join(f'"{name}" = ?' for name in values)
        query = _SELECT[table.name].replace(" ORDER BY ", f" WHERE {where} ORDER BY ")
        return list(self._stream(query, tuple(values.values()), _show_bytes))

    def rows_between(self, table: Table, first: str, last: str) -> list[tuple[Scalar, ...]]:
        """The rows of one table about the paths from `first` to `last`, sorted by primary key."""
        if "path" not in table.columns:
            raise ValueError(f"expected a table with paths, got {table.name}")
        query = _SELECT[table.name].replace(" ORDER BY ", " WHERE path BETWEEN ? AND ? ORDER BY ")
        return list(self._stream(query, (first, last), _show_bytes))

    def meta(self) -> dict[str, str]:
        """The meta table: projection version, inputs_hash, and what the builder was given."""
        with guard(self._path):
            return check.meta(self._current())

    def files(self, below: str = "") -> Iterator[FileRecord]:
        """The files the index was built from, in path order; those below one folder, or all."""
        with guard(self._path):
            yield from check.file_records(self._current(), below)

    def structure_faults(self) -> list[str]:
        """What SQLite's integrity_check says; empty when it holds."""
        with guard(self._path):
            return check.structure_faults(self._current())

    def record_faults(self) -> list[str]:
        """Records beside the rows (`meta`, `file`) that are not what was written."""
        with guard(self._path):
            return check.record_faults(self._current())

    def faults(self) -> list[str]:
        """All that is wrong with the file and not in its manifest; empty when it is sound."""
        found = [*self.structure_faults(), *self.record_faults()]
        if not found and (fault := self.fts_fault()):
            found.append(f"full-text index: {fault}")
        return found

    def fts_fault(self) -> str:
        """What FTS5's integrity-check says of a copy of the file; "" when it holds."""
        return check.fts_fault_of(self._path)

    # Answers.

    def counts(self) -> dict[str, int]:
        """Rows of every logical table."""
        with guard(self._path):
            parts = ", ".join(f"(SELECT count(*) FROM {t.name})" for t in TABLES)  # noqa: S608
            row = self._current().execute(f"SELECT {parts}").fetchone()
        return {table.name: count for table, count in zip(TABLES, row, strict=True)}

    def tally(self, table: Table, column: str) -> dict[str, int]:
        """How many rows hold each value of a column; those without one stand under ""."""
        if column not in table.columns:
            raise ValueError(f"expected a column of {table.name}, got {column!r}")
        value = f"coalesce(CAST(\"{column}\" AS TEXT), '')"
        query = f"SELECT {value}, count(*) FROM {table.name} GROUP BY 1 ORDER BY 1"  # noqa: S608
        with guard(self._path):
            return dict(self._current().execute(query))

    def cell(self, path: str) -> tuple[FactRow, StateRow | None] | None:
        """One fact's row and its cell, as a verified read needs them; None when it is not there."""
        found = list(self._cells("fact.path = ?", path))
        return found[0] if found else None

    def cells_of_id(self, fact_id: str) -> list[tuple[FactRow, StateRow | None]]:
        """The facts with exactly this id, in path order: more than one when it stands twice."""
        return list(self._cells("fact.id = ?", fact_id))

    def cells(self) -> Iterator[tuple[FactRow, StateRow | None]]:
        """Every fact's row and its cell, in path order."""
        return self._cells("fact.path > ?", "")

    def cells_beside(self, states: Sequence[str]) -> Iterator[tuple[FactRow, StateRow | None]]:
        """The facts whose state is none of these, or that have no cell, in path order."""
        slots = ", ".join("?" * len(states))
        return self._cells(f"state.state IS NULL OR state.state NOT IN ({slots})", *states)

    def absent_facts(self) -> list[str]:
        """Ids that the ledger's entries name and no fact has, sorted."""
        with guard(self._path):
            return [str(row[0]) for row in self._current().execute(_ABSENT)]

    def _cells(self, where: str, *values: str) -> Iterator[tuple[FactRow, StateRow | None]]:
        query = (
            f"SELECT {answers.FACT_COLUMNS}, {answers.STATE_COLUMNS} "  # noqa: S608 - our own names
            f"FROM fact {answers.JOIN} WHERE {where} ORDER BY fact.path"
        )
        width = len(FactRow._fields)
        for row in self._stream(query, values, _show_bytes):
            state = StateRow(*row[width:]) if row[width] is not None else None
            yield FactRow(*row[:width]), state

    def search(self, text: str, filters: Filters, limit: int, cursor: str | None = None) -> Page:
        """Facts that hold every word of the text, best first, equal scores in path order.

        Where no fact holds the words as they are, each is taken as the beginning of a word:
        `refund` then finds `refunds`.
        """
        page = self._search(search_expression(text), filters, limit, cursor)
        if page.total:
            return page
        return self._search(search_expression(text, prefixes=True), filters, limit, cursor)

    def _search(self, expression: str, filters: Filters, limit: int, cursor: str | None) -> Page:
        position = decode_cursor("search", cursor) if cursor is not None else 0
        start = position if isinstance(position, int) and position > 0 else 0
        limit = checked_limit(limit)
        if not expression:
            return Page((), 0, None)
        total, items = self._answer(
            lambda connection: answers.search_page(
                connection, expression, filters, limit + 1, start
            )
        )
        more = encode_cursor("search", start + limit) if len(items) > limit else None
        return Page(tuple(items[:limit]), total, more)

    def problems(self, path: str) -> list[ProblemRow]:
        """The problems and warnings of one file, the file's own first."""
        names = ", ".join(ProblemRow._fields)
        query = f"SELECT {names} FROM problem WHERE path = ? ORDER BY origin, seq"  # noqa: S608
        return self._answer(
            lambda connection: [ProblemRow(*row) for row in connection.execute(query, (path,))]
        )

    def ids(self) -> Iterator[str]:
        """Every fact's id, in path order: to suggest near ones."""
        with guard(self._path):
            for row in self._current().execute("SELECT id FROM fact ORDER BY path"):
                yield row[0]

    def _answer(self, ask: Callable[[sqlite3.Connection], _T]) -> _T:
        """Ask; where a damaged row holds text that is not UTF-8, ask again with it escaped."""
        with guard(self._path):
            try:
                return ask(self._current())
            except sqlite3.OperationalError as error:
                if not _is_undecodable(error):
                    raise
            with closing(connect(self._path, _show_bytes)) as tolerant:
                return ask(tolerant)

    def _stream(
        self, query: str, values: tuple[str, ...], decode: Callable[[bytes], str]
    ) -> Iterator[tuple[Any, ...]]:
        """Rows one by one; from the first text that is not UTF-8 on, through `decode`."""
        with guard(self._path):
            done = 0
            try:
                for row in self._current().execute(query, values):
                    yield row
                    done += 1
            except sqlite3.OperationalError as error:
                if not _is_undecodable(error):
                    raise
            else:
                return
            with closing(connect(self._path, decode)) as tolerant:
                yield from islice(tolerant.execute(query, values), done, None)

    # The file.

    def _current(self) -> sqlite3.Connection:
        """The connection to the file that is in place now."""
        if _identity(self._path) != self._identity:
            self._connection.close()
            self._connection = self._open()
        return self._connection

    def _open(self) -> sqlite3.Connection:
        check.refuse_side_files(self._path)
        self._identity = _identity(self._path)
        with guard(self._path):
            connection = connect(self._path)
        try:
            with guard(self._path):
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("PRAGMA cell_size_check = ON")
                connection.execute(f"PRAGMA cache_size = -{self._cache}")
            check.refuse_foreign(connection, self._path.name)
        except BaseException:
            connection.close()
            raise
        return connection

    def list(self, filters: Filters, limit: int, cursor: str | None = None) -> Page:
        """Facts in path order; stable across changes of the index between two pages."""
        after = decode_cursor("list", cursor) if cursor is not None else ""
        limit = checked_limit(limit)
        total, items = self._answer(
            lambda connection: answers.list_page(connection, filters, limit + 1, str(after))
        )
        more = encode_cursor("list", items[limit - 1].path) if len(items) > limit else None
        return Page(tuple(items[:limit]), total, more)


def open_index(path: Path, *, through: bool = False) -> Index:
    """Open an index for reading; `through` says that it is gone through from end to end.

    Raises:
        IndexUnusable: `index-missing`, `-foreign`, `-version`, `-schema`, `-locked`, `-corrupt`.
    """
    return Index(path, _STREAM_KIB if through else _CACHE_KIB)


def _is_undecodable(error: sqlite3.OperationalError) -> bool:
    return "decode" in str(error)


def _keep_bytes(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _show_bytes(data: bytes) -> str:
    return data.decode("utf-8", "backslashreplace")


def connect(path: Path, decode: Callable[[bytes], str] = str) -> sqlite3.Connection:
    """A connection that cannot write, takes no lock and makes no file beside the database."""
    name = quote(os.fsencode(path.absolute()))
    connection = sqlite3.connect(
        f"file:{name}?mode=ro&immutable=1",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.text_factory = decode
    return connection


def _identity(path: Path) -> _Identity:
    try:
        stat = path.stat()
    except FileNotFoundError as error:
        raise IndexUnusable(
            "index-missing", f"{path.name}: there is no index", "run syn reindex"
        ) from error
    except OSError as error:
        raise IndexUnusable("index-place", f"{path}: {error.strerror}", "") from error
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns
