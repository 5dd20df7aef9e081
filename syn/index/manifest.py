"""The manifest (`synapse.manifest/1`): every logical row as canonical JSON lines, and its digest.

Two sources give the same lines: the projection (this module, one spool per table, memory flat in
facts but for the light keys) and the database's dump (`syn.index.store`). docs/formats/manifest.md
is normative; ADR 0014 has the reasons.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import IO, Protocol, Self

from syn.canon import json as canon
from syn.index import derive
from syn.index.derive import LinkRef, World
from syn.index.lines import body_digest, decode_line, encode_row
from syn.index.project import fact_key
from syn.index.resolve import Resolver
from syn.index.rows import (
    ATTR,
    DECISION,
    FACT,
    LINK,
    PROBLEM,
    PROJECTION,
    STATE,
    SUPERSESSION,
    TABLES,
    TAG,
    TARGET,
    FactKey,
    FileRows,
    Row,
    Table,
)
from syn.index.words import Cell

FORMAT = "synapse.manifest/1"

OpenSpool = Callable[[], IO[bytes]]
"""Opens an empty temporary binary file; `syn.index.store.open_spool` in production."""


class Source(Protocol):
    """Something that can give the manifest lines of a table, sorted by primary key."""

    def lines(self, table: Table) -> Iterator[bytes]:
        """Each line with its LF."""


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
    state = hashlib.sha256()
    for line in manifest_lines(source):
        state.update(line)
    return f"sha256:{state.hexdigest()}"


class Projection:
    """Rows of files that arrive in path order, spooled per table; then the rows across files.

    Use as a context manager: the spools are closed at the end. After `finish` it is a `Source`.
    """

    def __init__(self, open_spool: OpenSpool) -> None:
        self._spools = {table.name: open_spool() for table in TABLES}
        self._keys: list[FactKey] = []
        self._last: str | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for spool in self._spools.values():
            spool.close()

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
            self._write(FACT, (rows.fact,))
        for table, items in ((ATTR, rows.attrs), (LINK, rows.links), (TAG, rows.tags)):
            if items:
                self._write(table, items)
        if rows.problems:
            self._write(PROBLEM, rows.problems)

    def finish(self, world: World) -> Self:
        """Derive the rows across files; the projection is then complete."""
        problems = derive.id_problems(self._keys, world.recorded)
        doubled = {problem.path for problem in problems}
        self._write(PROBLEM, derive.problem_rows([*world.problems, *problems]))
        self._write(SUPERSESSION, derive.supersession_rows(self._keys))
        self._write(DECISION, derive.decision_rows(world.decisions))
        self._write(STATE, derive.state_rows(self._cells(), world.recorded, doubled))
        self._write(TARGET, derive.target_rows(Resolver(self._keys), self._links()))
        return self

    def lines(self, table: Table) -> Iterator[bytes]:
        """The lines of one table, sorted by primary key."""
        spool = self._spools[table.name]
        spool.seek(0)
        return iter(spool)

    def _write(self, table: Table, rows: "Sequence[Row] | Iterator[Row]") -> None:
        write = self._spools[table.name].write
        for row in rows:
            write(encode_row(table, row))

    def _links(self) -> Iterator[LinkRef]:
        for line in self.lines(LINK):
            value = decode_line(line)
            seq = value["seq"]
            assert isinstance(seq, int)  # noqa: S101 - our own spool; narrows for mypy
            yield str(value["path"]), seq, str(value["syntax"]), str(value["target"])

    def _cells(self) -> Iterator[Cell]:
        for line in self.lines(FACT):
            value = decode_line(line)
            yield Cell(*[value[name] for name in Cell._fields])  # type: ignore[arg-type]


def cell_of(row: Sequence[object]) -> Cell:
    """What the check word of a stored fact row covers; the body's digest is computed from it."""
    values = dict(zip(FACT.columns, row, strict=True))
    values["body_digest"] = body_digest(values.pop("body"))
    return Cell(*[values[name] for name in Cell._fields])  # type: ignore[arg-type]
