"""Another driver with an SQLite of its own reads and rewrites the index, and nothing differs."""

import hashlib
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest

from syn.canon import json as canon
from syn.index.manifest import manifest_lines
from syn.index.query import Filters
from syn.index.rows import FACT, TABLES, Table
from syn.index.store import open_index
from syn.services.recall.indexing import index_path
from syn.services.recall.opening import reindex
from tests.support.inside import inside
from tests.support.workspaces import Place, make_workspace


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = make_workspace(tmp_path_factory.mktemp("apsw"))
    reindex(place.open(), full=True)
    return place


def _index(place: Place) -> Path:
    return index_path(place.open())


def _rows(connection: apsw.Connection, statement: str) -> list[tuple[Any, ...]]:
    return list(connection.execute(statement))


def _line(table: Table, row: tuple[Any, ...]) -> bytes:
    values = dict(zip(table.columns, row, strict=True))
    if table is FACT:
        body = str(values.pop("body")).encode()
        values["body_digest"] = f"sha256:{hashlib.sha256(body).hexdigest()}"
    return canon.encode({**values, "table": table.name}) + b"\n"


def test_it_is_another_sqlite() -> None:
    assert apsw.sqlite_lib_version() != sqlite3.sqlite_version


def test_another_driver_dumps_the_same_manifest(place: Place) -> None:
    with closing(apsw.Connection(str(_index(place)), flags=apsw.SQLITE_OPEN_READONLY)) as other:
        found = []
        for table in TABLES:
            columns = ", ".join(f'"{name}"' for name in table.columns)
            order = ", ".join(f'"{name}"' for name in table.key)
            rows = _rows(other, f"SELECT {columns} FROM {table.name} ORDER BY {order}")
            found += [_line(table, row) for row in rows]
        assert _rows(other, "PRAGMA integrity_check") == [("ok",)]
    with open_index(_index(place)) as index:
        first, *lines = b"".join(manifest_lines(index)).splitlines(keepends=True)
    assert first.startswith(b"{")
    assert found == lines


def test_another_driver_finds_the_same_words(place: Place) -> None:
    with open_index(_index(place)) as index:
        ours = {item.id for item in index.search("people", Filters(), 10).items}
    with closing(apsw.Connection(str(_index(place)), flags=apsw.SQLITE_OPEN_READONLY)) as other:
        tables = [name for (name,) in _rows(other, "SELECT name FROM sqlite_schema")]
        (words,) = (name for name in tables if name.endswith("_fts"))
        query = f"SELECT rowid FROM {words} WHERE {words} MATCH 'people'"
        hits = [row[0] for row in _rows(other, query)]
        marks = ", ".join(map(str, hits))
        theirs = {row[0] for row in _rows(other, f"SELECT id FROM fact WHERE rowid IN ({marks})")}
    assert ours == theirs == {"limit"}


@pytest.mark.parametrize("what", ["VACUUM", "REINDEX", "PRAGMA optimize", "ANALYZE"])
def test_what_another_sqlite_writes_is_the_same_index(
    what: str, place: Place, tmp_path: Path
) -> None:
    copy = tmp_path / "ws"
    shutil.copytree(place.root, copy, symlinks=True)
    there = Place(copy, place.env)
    with closing(apsw.Connection(str(_index(there)))) as other:
        other.execute(what)
    with open_index(_index(place)) as one, open_index(_index(there)) as changed:
        assert b"".join(manifest_lines(one)) == b"".join(manifest_lines(changed))
    assert inside(there, "list", "--json").status == 0


def test_an_edit_by_another_driver_is_seen(place: Place, tmp_path: Path) -> None:
    copy = tmp_path / "ws"
    shutil.copytree(place.root, copy, symlinks=True)
    there = Place(copy, place.env)
    with closing(apsw.Connection(str(_index(there)))) as other:
        other.execute("UPDATE fact SET title = 'Forged' WHERE id = 'limit'")
    ran = inside(there, "verify", "--deep", "--json")
    assert ran.status == 1
    assert "index-row-changed" in ran.out
