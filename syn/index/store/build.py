"""Building an index: always in a new file, from nothing or from a copy of the old one.

From a copy (incremental): rows of unchanged files stay as they are, mismatches included; rows of
changed files are replaced; rows across files are brought to what they are today. The result
equals a full build, row for row (property test, ADR 0015).
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from syn.index.derive import World
from syn.index.rows import PROJECTION, FactKey, FileRows
from syn.index.store import check, cross, files, schema, tables
from syn.index.store.errors import IndexUnusable, guard
from syn.index.store.files import StatRecord

_MIN_SQLITE = (3, 37, 0)
"""STRICT tables."""
_INPUTS = "SELECT path, source_digest FROM file ORDER BY path"
_BATCH = 500
"""Files whose rows are written at once."""
_CHECKED_COPY = 16 << 20
"""Bytes up to which the structure of a copy is checked: above, only `verify` does it."""


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
        self._before: dict[str, FactKey | None] = {}
        """Keys the copy had for the files that were written or removed."""
        self._written: set[str] = set()

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
        with guard(self._target):
            if self._base is not None:
                check.refuse_side_files(self._base)
                files.copy_into(self._base, self._path)
            connection = sqlite3.connect(self._path, isolation_level=None)
            stack.callback(connection.close)
            # A failed build is thrown away as a whole, so a journal would protect nothing.
            for pragma in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -65536"):
                connection.execute(f"PRAGMA {pragma}")
            connection.execute("PRAGMA trusted_schema = OFF")
            if self._base is not None:
                check.refuse_foreign(connection, self._base.name)
            connection.execute("BEGIN")
            if self._base is None:
                schema.create(connection)
        return connection

    def inputs(self) -> Iterator[tuple[bytes, str]]:
        """The files of the index as it will be, in path order: for `inputs_hash`."""
        self._flush()
        with guard(self._target):
            for path, digest in self._connection.execute(_INPUTS):
                yield path.encode(), digest

    def add(self, rows: FileRows, stat: StatRecord | None = None) -> None:
        """Write the rows of one file: in path order from nothing, in any order over a copy."""
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
                tables.restat(self._connection, path, stat.text())

    def finish(self, world: World, meta: Mapping[str, str]) -> Built:
        """Derive the rows across files, check the file, make it durable and put it in place.

        `meta` holds at least `inputs_hash`; the projection version is added.
        """
        self._flush()
        with guard(self._target):
            if self._base is None:
                for statement in schema.FACT_INDEXES:
                    self._connection.execute(statement)
            cross.derive_rows(self._connection, world, self._changes())
            if self._base is None:
                for statement in schema.OTHER_INDEXES:
                    self._connection.execute(statement)
                tables.fill_fts(self._connection)
            self._write_meta(meta)
            self._connection.execute("COMMIT")
            self._check()
            built = self._summary()
            self._connection.close()
            files.replace(self._path, self._target)
        return built

    def _check(self) -> None:
        """A new file is checked as a whole; a copy only in its structure, and when it is small.

        What a copy took over from the old file, FTS5 included, is for `verify` to judge: refusing
        it here would stop every command over a row that somebody edited.
        """
        if self._base is None:
            check.refuse_unsound(self._connection, self._target.name)
        elif self._path.stat().st_size <= _CHECKED_COPY:
            check.refuse_broken(self._connection, self._target.name)

    def _changes(self) -> cross.Changes | None:
        if self._base is None:
            return None
        after = (cross.key_at(self._connection, path) for path in self._written)
        return cross.Changes(
            written=self._written,
            before=tuple(key for key in self._before.values() if key is not None),
            after=tuple(key for key in after if key is not None),
        )

    def _summary(self) -> Built:
        row = self._connection.execute(
            "SELECT (SELECT count(*) FROM file), (SELECT count(*) FROM fact)"
        ).fetchone()
        return Built(row[0], row[1], len(self._written), self._base is not None)

    def _flush(self) -> None:
        pending, self._pending = self._pending, []
        if not pending:
            return
        with guard(self._target):
            if self._base is not None:
                for rows, _ in pending:
                    self._drop(rows.path)
            tables.insert_files(self._connection, pending)
            if self._base is not None:
                tables.add_to_fts(self._connection, (rows.path for rows, _ in pending))
        self._written.update(rows.path for rows, _ in pending)

    def _drop(self, path: str) -> None:
        if path not in self._before:
            self._before[path] = cross.key_at(self._connection, path)
        tables.drop_file(self._connection, path)
        self._written.discard(path)

    def _write_meta(self, meta: Mapping[str, str]) -> None:
        """Replace the meta table. `sorted_to` is the last document in path order (`answers`)."""
        execute = self._connection.execute
        known = check.meta(self._connection).get(check.SORTED_TO)
        if self._base is None:
            known = str(execute("SELECT coalesce(max(n), 0) FROM fact").fetchone()[0])
        execute("DELETE FROM meta")
        own = {"projection": str(PROJECTION), check.SORTED_TO: known or "0"}
        self._connection.executemany(
            "INSERT INTO meta VALUES (?, ?, ?)",
            [(key, value, files.row_sum(key, value)) for key, value in {**meta, **own}.items()],
        )
