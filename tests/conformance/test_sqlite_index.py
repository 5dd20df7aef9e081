"""Other programs read the index: the `sqlite3` shell, sqlite-utils, coreutils."""

import hashlib
import json
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from syn.canon import json as canon
from syn.index.inputs import inputs_hash
from syn.index.lines import manifest_columns
from syn.index.manifest import manifest_lines
from syn.index.query import Filters
from syn.index.rows import FACT, TABLES, Table
from syn.index.store import open_index
from syn.index.store.schema import FTS_COLUMNS
from tests.support.indexes import build, manifest

FILES = {
    "facts/B.md": "---\nid: B-1\ntype: note\n---\nBody\n",
    "facts/Z.md": "---\nid: Z-1\ntitle: 'line\\u2028 \\\"q\\\" \\\\ ü'\n---\nBody [[a]]\r\n",
    "facts/a.md": "---\nid: a-1\ntitle: 007\ntags: [no, 1e3]\nvalue: 1.10\n---\nÜmläut \x7f\ttab\n",
    "facts/b.md": "---\nid: 7\nzip: '007'\nsci: '1e5'\nbig: '9007199254740993'\nhex: '0x1F'\n"
    "plain: 007\nhuge: 18446744073709551615\nover: 123456789012345678901234567890\n"
    "nan: .nan\ninf: -.inf\ndate: 2025-01-01\n---\nBody\n",
    "facts/é.md": "---\nid: e-1\nup: '[[B-1]]'\nsupersedes: [a-1]\n---\nBody\n",
    "facts/bad.md": "---\nx: 1\nx: 2\n---\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("index") / "index.db", FILES)


def shell(*arguments: str, data: str | None = None) -> str:
    """Run the `sqlite3` program."""
    program = shutil.which("sqlite3")
    if program is None:
        pytest.skip("needs the sqlite3 program, which is absent here")
    done = subprocess.run(
        [program, *arguments], input=data, capture_output=True, text=True, check=True
    )
    return done.stdout


def shell_rows(path: Path, query: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(
        shell("-json", "-readonly", str(path), query) or "[]"
    )
    return found


def manifest_row(table: Table, row: dict[str, object]) -> bytes:
    """A row of the shell as a manifest line, made with hashlib and the general encoder."""
    if table is FACT:
        body = str(row.pop("body")).encode()
        row["body_digest"] = f"sha256:{hashlib.sha256(body).hexdigest()}"
    assert set(row) == set(manifest_columns(table))
    return canon.encode({**row, "table": table.name}) + b"\n"


def test_the_shell_reads_the_same_manifest(index: Path) -> None:
    lines = [next(iter(manifest(FILES).splitlines(keepends=True)))]
    for table in TABLES:
        columns = ", ".join(f'"{name}"' for name in table.columns)
        order = ", ".join(f'"{name}"' for name in table.key)
        rows = shell_rows(index, f"select {columns} from {table.name} order by {order}")
        lines += [manifest_row(table, row) for row in rows]
    assert b"".join(lines) == manifest(FILES)


def test_every_value_reads_back_as_it_is_written(index: Path) -> None:
    rows = shell_rows(index, "select pointer, value from attr where path = 'facts/b.md'")
    assert {row["pointer"]: row["value"] for row in rows} == {
        "/big": "9007199254740993",
        "/date": "2025-01-01",
        "/hex": "0x1F",
        "/huge": "18446744073709551615",
        "/id": "7",
        "/inf": "-.inf",
        "/nan": ".nan",
        "/over": "123456789012345678901234567890",
        "/plain": "007",
        "/sci": "1e5",
        "/zip": "007",
    }
    (fact,) = shell_rows(index, "select title, value, tags from fact where id = 'a-1'")
    assert fact == {"title": "007", "value": "1.10", "tags": '["no","1e3"]'}


def test_no_column_turns_text_into_a_number(index: Path) -> None:
    for table in TABLES:
        for column, kind in zip(table.columns, table.types, strict=True):
            allowed = {kind.split()[0].lower()} | ({"null"} if kind == "TEXT" else set())
            query = f'select distinct typeof("{column}") as t from {table.name}'
            assert {row["t"] for row in shell_rows(index, query)} <= allowed


def test_the_shell_finds_the_file_sound(index: Path, tmp_path: Path) -> None:
    copy = shutil.copy(index, tmp_path / "copy.db")
    check = "insert into fact_fts(fact_fts, rank) values('integrity-check', 1);"
    assert (
        shell(str(copy), f"pragma integrity_check; pragma journal_mode; {check}") == "ok\ndelete\n"
    )
    assert shell("-readonly", str(index), "pragma application_id; pragma user_version") == (
        "1398361673\n1\n"
    )


def test_an_edit_with_the_shell_shows_in_the_manifest(index: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(index, copy)
    shell(str(copy), "update fact set body = body || 'more' where path = 'facts/B.md'")
    with open_index(copy) as reader:
        lines = list(manifest_lines(reader))
    changed = set(lines) ^ set(manifest(FILES).splitlines(keepends=True))
    assert len(changed) == 2
    assert all(b'"path":"facts/B.md"' in line for line in changed)


def test_vacuum_and_another_page_size_change_nothing(index: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(index, copy)
    shell(str(copy), "pragma page_size = 16384; vacuum; reindex; analyze;")
    assert copy.read_bytes() != index.read_bytes()
    with open_index(copy) as reader:
        assert b"".join(manifest_lines(reader)) == manifest(FILES)
        assert reader.fts_fault() == ""
        assert reader.search("body", Filters(), 10).total == 4


def test_sqlite_utils_sets_up_the_same_full_text_index(index: Path, tmp_path: Path) -> None:
    from sqlite_utils import Database

    copy = tmp_path / "copy.db"
    shutil.copy(index, copy)
    with closing(Database(copy, execute_plugins=False).conn) as connection:
        database = Database(connection, execute_plugins=False)
        assert database.table("fact").detect_fts() == "fact_fts"
        ours = connection.execute("select * from fact_fts order by rowid").fetchall()
        words = ("body", "umlaut", "007", "no")
        match = "select rowid from fact_fts where fact_fts match ? order by rowid"
        found = [connection.execute(match, (f'"{word}"',)).fetchall() for word in words]
        connection.execute("drop table fact_fts")
        database.table("fact").enable_fts(FTS_COLUMNS, tokenize="unicode61 remove_diacritics 2")
        assert connection.execute("select * from fact_fts order by rowid").fetchall() == ours
        again = [connection.execute(match, (f'"{word}"',)).fetchall() for word in words]
    assert again == found
    assert found[1]


def test_coreutils_recompute_the_inputs_hash(tmp_path: Path) -> None:
    files = {b"facts/\xc3\xa9 \\n.md": b"1", b"facts/a b.md": b"", b"synapse.toml": b"format = 1\n"}
    for name, data in files.items():
        path = tmp_path / name.decode()
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    listed = b"".join(name + b"\0" for name in files)
    line = "LC_ALL=C sort -zu | xargs -0 -r sha256sum -z -- | sha256sum"
    done = subprocess.run(
        ["/bin/sh", "-c", line], input=listed, cwd=tmp_path, capture_output=True, check=True
    )
    records = [(name, f"sha256:{hashlib.sha256(data).hexdigest()}") for name, data in files.items()]
    assert inputs_hash(records) == f"sha256:{done.stdout.decode().split()[0]}"
    assert inputs_hash(reversed(records)) == inputs_hash(records)
    assert inputs_hash([]) == f"sha256:{hashlib.sha256(b'').hexdigest()}"
