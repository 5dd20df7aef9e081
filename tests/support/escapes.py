"""Damage to a workspace's index, judged: found, of no consequence, or escaped."""

import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from syn.index.manifest import manifest_lines
from syn.index.query import Filters
from syn.index.rows import TABLES, Table
from syn.index.store import Index, IndexUnusable, open_index
from syn.services.patrol.facts import check_rows
from syn.services.patrol.index import check_index
from syn.services.patrol.look import Look
from syn.services.recall.indexing import index_path
from tests.support.workspaces import Place

Outcome = Literal["found", "equal", "escaped"]
WORDS = ("payments", "people", "owner", "money", "ledger", "body", "plain", "2026")
_OF_THE_INDEX = ("records", "record_faults", "stored", "keys", "doubled", "standing")
_BESIDE = (
    ("meta", ("key", "value", "sum"), ("key",)),
    ("file", ("path", "source_digest", "readable", "stat", "sum"), ("path",)),
)
"""The tables beside the logical ones: name, columns, primary key."""


@dataclass(slots=True)
class Tally:
    """What became of many changes."""

    counts: Counter[str] = field(default_factory=Counter)
    escaped: list[str] = field(default_factory=list)

    def add(self, what: str, outcome: Outcome) -> None:
        """Count one change."""
        self.counts[outcome] += 1
        if outcome == "escaped":
            self.escaped.append(what)

    def text(self) -> str:
        """The counts in words."""
        counts = self.counts
        return (
            f"{counts.total():,} changes: {counts['found']:,} found, {counts['equal']:,} of no "
            f"consequence, {counts['escaped']} escaped"
        )


class IndexJudge:
    """Holds damaged copies of one workspace's index against its files and its ledger."""

    def __init__(self, place: Place, scratch: Path) -> None:
        """`scratch` is where the copies are written."""
        workspace = place.open()
        self.healthy = index_path(workspace).read_bytes()
        self._scratch = scratch
        self._look = Look(workspace)
        reading = self._look.reading
        self._projected = [
            self._look.project(entry.path.decode(), reading.snapshot.read(entry))
            for entry in reading.files.facts
        ]
        assert self._look.index is not None
        self._content = content(self._look.index)

    def judge(self, data: bytes) -> Outcome:
        """What becomes of an index with these bytes."""
        self._scratch.write_bytes(data)
        return self.judge_file()

    def judge_file(self) -> Outcome:
        """What becomes of the index that lies in the scratch file."""
        try:
            with open_index(self._scratch) as index:
                if self._same(index):
                    return "equal"
                return "found" if self._found(index) else "escaped"
        except IndexUnusable:
            return "found"

    def _same(self, index: Index) -> bool:
        """Whether every row, record and answer is what it was."""
        try:
            return content(index) == self._content
        except IndexUnusable:
            return False

    def _found(self, index: Index) -> bool:
        look = self._look
        look.index = index
        for name in _OF_THE_INDEX:
            look.__dict__.pop(name, None)
        if any(check_index(look)):
            return True
        return any(any(check_rows(look, projected)) for projected in self._projected)


def content(index: Index) -> object:
    """Everything an index says: its rows, its records, and its answers to searches."""
    return (
        b"".join(manifest_lines(index)),
        tuple(index.files()),
        index.meta(),
        tuple(index.search(word, Filters(), 50) for word in WORDS),
    )


def flips(data: bytes, stride: int, start: int = 0) -> Iterator[tuple[str, bytes]]:
    """Copies with one bit flipped: every `stride`-th bit, from `start`."""
    for at in range(start, len(data) * 8, stride):
        changed = bytearray(data)
        changed[at // 8] ^= 1 << at % 8
        yield f"byte {at // 8} bit {at % 8}", bytes(changed)


def row_changes(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """For every row of every table: statements that remove, double, edit or exchange it."""
    with closing(sqlite3.connect(path)) as database:
        beside = (Table(name, columns, (), key, False, "") for name, columns, key in _BESIDE)
        for table in (*TABLES, *beside):
            rows = database.execute(f"SELECT * FROM {table.name}").fetchall()
            yield from _removed_and_doubled(table, len(rows))
            yield from _edited(table, len(rows))
            yield from _exchanged(table, len(rows))


def _nth(table: Table, number: int) -> str:
    keys = ", ".join(f'"{name}"' for name in table.key)
    pick = f"SELECT {keys} FROM {table.name} ORDER BY {keys} LIMIT 1 OFFSET {number}"
    return f"({keys}) = ({pick})"


def _removed_and_doubled(table: Table, count: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    names = [f'"{name}"' for name in table.columns]
    for number in range(count):
        where = _nth(table, number)
        yield f"{table.name} {number} removed", (f"DELETE FROM {table.name} WHERE {where}",)
        key = f'"{table.key[-1]}"'
        other = f"CASE typeof({key}) WHEN 'integer' THEN {key} + 100 ELSE {key} || 'x' END"
        values = [other if name == key else name for name in names]
        copy = f"SELECT {', '.join(values)} FROM {table.name} WHERE {where}"
        statement = f"INSERT INTO {table.name} ({', '.join(names)}) {copy}"
        yield f"{table.name} {number} doubled", (statement,)


def _edited(table: Table, count: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    for number in range(count):
        for name in table.columns:
            other = (
                f"CASE WHEN \"{name}\" IS NULL THEN 'x' WHEN typeof(\"{name}\") = 'integer' "
                f'THEN "{name}" + 1 ELSE "{name}" || \'x\' END'
            )
            where = _nth(table, number)
            statement = f'UPDATE {table.name} SET "{name}" = {other} WHERE {where}'
            yield f"{table.name} {number} {name} edited", (statement,)


def _exchanged(table: Table, count: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Two neighbours exchange what they say: all columns but the key."""
    columns = [name for name in table.columns if name not in table.key]
    if not columns:
        return
    names = ", ".join(f'"{name}"' for name in columns)
    for number in range(count - 1):
        first, second = _nth(table, number), _nth(table, number + 1)
        sets = ", ".join(f'"{n}" = (SELECT "{n}" FROM spare.kept LIMIT 1)' for n in columns)
        across = f"SELECT {names} FROM {table.name} WHERE {second}"
        yield (
            f"{table.name} {number} and {number + 1} exchanged",
            (
                "ATTACH ':memory:' AS spare",
                f"CREATE TABLE spare.kept AS SELECT {names} FROM {table.name} WHERE {first}",
                f"UPDATE {table.name} SET ({names}) = ({across}) WHERE {first}",
                f"UPDATE {table.name} SET {sets} WHERE {second}",
            ),
        )
