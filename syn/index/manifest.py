"""The manifest (`synapse.manifest/1`): every logical row as canonical JSON lines, and its digest.

Two sources give the same lines: the projection (this module, one spool per table, memory flat in
facts but for the light keys) and the database's dump (`syn.index.store`). docs/formats/manifest.md
is normative; ADR 0014 has the reasons.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Protocol, Self, cast

from syn.canon import json as canon
from syn.index import derive
from syn.index.derive import LinkRef, World
from syn.index.lines import (
    decode_texts,
    encode_rows,
    encode_texts,
    file_lines,
)
from syn.index.project import fact_key
from syn.index.resolve import Resolver
from syn.index.rows import (
    DECISION,
    PROBLEM,
    PROJECTION,
    STATE,
    SUPERSESSION,
    TABLES,
    TARGET,
    FactKey,
    FileRows,
    Row,
    Scalar,
    Table,
)
from syn.index.words import Cell, cell_of

FORMAT = "synapse.manifest/1"
_BATCH = 1000
"""Derived rows that are written at once."""
_CHUNK = 1 << 20

OpenSpool = Callable[[], IO[bytes]]
"""Opens an empty temporary binary file; `syn.index.store.open_spool` in production."""


class Source(Protocol):
    """Something that can give the manifest lines of a table, sorted by primary key."""

    def lines(self, table: Table) -> Iterator[bytes]:
        """Each line with its LF."""

    def chunks(self, table: Table) -> Iterator[bytes]:
        """The same bytes, cut anywhere."""


def header(projection: int = PROJECTION) -> bytes:
    """The first line of a manifest."""
    return canon.encode({"format": FORMAT, "projection": projection}) + b"\n"


def manifest_lines(source: Source) -> Iterator[bytes]:
    """The whole manifest, line by line."""
    yield header()
    for table in TABLES:
        yield from source.lines(table)


def manifest_digest(source: Source) -> str:
    """`sha256:<hex>` of the manifest's bytes."""
    state = hashlib.sha256(header())
    for table in TABLES:
        for chunk in source.chunks(table):
            state.update(chunk)
    return f"sha256:{state.hexdigest()}"


class _Spool:
    """The lines of one table: those in the file, and the last few that are not yet."""

    __slots__ = ("count", "data", "file", "rows")

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.data: list[bytes] = []
        self.rows: list[Row] = []
        self.count = 0


class Projection:
    """Rows of files that arrive in path order, spooled per table; then the rows across files.

    Use as a context manager: the spools are closed at the end. After `finish` it is a `Source`.
    Held in memory per fact: its key, about a quarter of a kilobyte.
    """

    def __init__(self, open_spool: OpenSpool, beside: "Agreement | None" = None) -> None:
        """`beside` compares every row with another source's as it passes."""
        self._spools = {table.name: _Spool(open_spool()) for table in TABLES}
        self._beside = beside
        self._keys: list[FactKey] = []
        self._cells = open_spool()
        self._links = open_spool()
        self._last: str | None = None
        self._keys_only = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cells.close()
        self._links.close()
        for spool in self._spools.values():
            spool.file.close()

    @property
    def keys(self) -> Sequence[FactKey]:
        """The keys of the facts added so far."""
        return self._keys

    def add(self, rows: FileRows) -> None:
        """Take the rows of one file.

        Raises:
            ValueError: the path does not sort after the one before; a manifest is in path order.
        """
        if self._last is not None and rows.path <= self._last:
            raise ValueError(f"expected a path after {self._last!r}, got {rows.path!r}")
        self._last = rows.path
        if rows.fact is not None:
            self._keys.append(fact_key(rows.fact))
            self._cells.write(encode_texts(cell_of(rows.fact, rows.body_digest)))
            if rows.links:
                pairs = [text for link in rows.links for text in (link.syntax, link.target)]
                self._links.write(encode_texts([rows.path, *pairs]))
        for table, items, data in file_lines(rows):
            self._write(table, items, data)

    def add_key(self, rows: FileRows) -> None:
        """Take only the key of a file, where the manifest is proven; there are no lines then."""
        self._keys_only = True
        if rows.fact is not None:
            self._keys.append(fact_key(rows.fact))

    def finish(self, world: World) -> Self:
        """Derive the rows across files; the projection is then complete.

        Raises:
            RuntimeError: only keys were added.
        """
        self._refuse_keys()
        ids = derive.id_problems(self._keys, world.recorded)
        doubled = {problem.path for problem in ids}
        self._derived(PROBLEM, derive.problem_rows([*world.problems, *ids]))
        self._derived(SUPERSESSION, derive.supersession_rows(self._keys))
        self._derived(DECISION, derive.decision_rows(world.decisions))
        self._derived(STATE, derive.state_rows(self._spooled_cells(), world.recorded, doubled))
        self._derived(TARGET, derive.target_rows(Resolver(self._keys), self._link_refs()))
        for table in TABLES:
            self._flush(table, self._spools[table.name])
        return self

    def lines(self, table: Table) -> Iterator[bytes]:
        """The lines of one table, sorted by primary key."""
        return iter(self._whole(table))

    def chunks(self, table: Table) -> Iterator[bytes]:
        """The bytes of one table, in pieces of no meaning."""
        file = self._whole(table)
        while data := file.read(_CHUNK):
            yield data

    def _refuse_keys(self) -> None:
        if self._keys_only:
            raise RuntimeError("expected the rows of every file, got keys only")

    def _derived(self, table: Table, rows: Iterable[Row]) -> None:
        remaining = iter(rows)
        while batch := list(islice(remaining, _BATCH)):
            self._write(table, batch, encode_rows(table, batch))

    def _write(self, table: Table, rows: Sequence[Row], data: bytes) -> None:
        # A table's rows of one file are few: they are kept until there are enough of them.
        spool = self._spools[table.name]
        spool.data.append(data)
        spool.count += len(rows)
        if self._beside is not None:
            spool.rows += rows
        if spool.count >= _BATCH:
            self._flush(table, spool)

    def _flush(self, table: Table, spool: "_Spool") -> None:
        if self._beside is not None:
            self._beside.take(table, spool.rows)
        spool.file.write(b"".join(spool.data))
        spool.rows, spool.data, spool.count = [], [], 0

    def _whole(self, table: Table) -> IO[bytes]:
        """The spool of a table with all that was added, at its beginning."""
        self._refuse_keys()
        spool = self._spools[table.name]
        self._flush(table, spool)
        spool.file.seek(0)
        return spool.file

    def _spooled_cells(self) -> Iterator[Cell]:
        self._cells.seek(0)
        for line in self._cells:
            yield Cell(*decode_texts(line))  # type: ignore[arg-type]

    def _link_refs(self) -> Iterator[LinkRef]:
        self._links.seek(0)
        for line in self._links:
            path, *pairs = cast("list[str]", decode_texts(line))
            for place in range(0, len(pairs), 2):
                yield path, place // 2 + 1, pairs[place], pairs[place + 1]


class Agreement:
    """Whether another source's rows are the very rows that pass, without encoding either.

    Rows are taken in manifest order per table, as a projection makes them.
    """

    def __init__(self, rows: Callable[[Table], Iterator[tuple[Scalar, ...]]]) -> None:
        """`rows` gives the other side's rows of a table, sorted by primary key."""
        self._others = {table.name: rows(table) for table in TABLES}
        self._same = True

    def take(self, table: Table, rows: Sequence[Row]) -> None:
        """Compare the next rows of a table; after the first difference nothing is read."""
        if self._same:
            self._same = list(islice(self._others[table.name], len(rows))) == list(rows)

    def complete(self) -> bool:
        """Whether every row agreed and the other side has no more."""
        return self._same and all(next(other, None) is None for other in self._others.values())
