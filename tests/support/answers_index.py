"""Right answers to the public cases: SQLite, searching, order."""

import os
import shutil
import sqlite3
import subprocess
import sys

from tests.support.cli import syn
from tests.support.world import World, answers


def columns(world: World) -> dict[str, dict[str, str]]:
    """Declared types of every column of the index's own tables."""
    with sqlite3.connect(world.root / ".synapse/index.db") as db:
        tables = [
            name
            for name, strict, kind in db.execute("SELECT name, strict, type FROM pragma_table_list")
            if kind == "table" and not name.startswith("sqlite_") and strict
        ]
        found = {
            table: {row[1]: row[2] for row in db.execute(f"PRAGMA table_info({table})")}
            for table in tables
        }
    db.close()
    return found


@answers("S01")
def affinity(world: World) -> None:
    world.recorded()
    found = world.fields("z-1")
    assert [found[k] for k in ("zip", "sci", "big", "hex")] == [
        "007",
        "1e5",
        "9007199254740993",
        "0x1F",
    ]
    declared = {kind for table in columns(world).values() for kind in table.values()}
    assert declared <= {"TEXT", "INTEGER", "BLOB"}
    assert {"fact", "attr", "link", "decision"} <= set(columns(world))
    with sqlite3.connect(world.root / ".synapse/index.db") as db:
        values = {row[0] for row in db.execute("SELECT typeof(value) FROM attr")}
    db.close()
    assert values <= {"text", "null"}


@answers("S02")
def surrogates(world: World) -> None:
    with open(os.fsencode(world.root) + b"/facts/\xff\xe9.md", "wb") as file:  # noqa: PTH123
        file.write(b"---\nid: odd\n---\n")
    world.init()
    world.ok("adopt", "facts/ok.md", "--yes")
    assert world.listed() == [("ok-1", "facts/ok.md")]
    assert ("facts/\\xff\\xe9.md", 0, "name-not-utf8") in world.problems()


@answers("S04")
def large_integers(world: World) -> None:
    world.recorded()
    assert world.fields("i-1")["n"] == "18446744073709551615"
    world.rebuilds_alike()


@answers("S05")
def nan_and_infinity(world: World) -> None:
    world.recorded()
    found = world.fields("n-1")
    assert (found["r"], found["m"]) == (".nan", ".inf")
    world.rebuilds_alike()


@answers("S07")
def damaged_search_index(world: World) -> None:
    world.recorded()
    world.ok("reindex", "--full")
    database = world.root / ".synapse/index.db"
    with sqlite3.connect(database) as db:
        name = db.execute(
            "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"
        ).fetchone()[0]
        db.execute(f"DELETE FROM {name}_data WHERE id > 10")
        assert db.execute("PRAGMA quick_check").fetchone() is not None
    db.close()
    status, verdict, findings = world.verdict()
    assert (status, verdict) == (1, "fail")
    assert any("index" in finding or "fts" in finding for finding in findings), findings
    ran = world.run("verify")
    assert "reindex" in ran.out
    assert "malformed" not in ran.err
    assert world.run("search", "body").status in (0, 1, 3)
    world.ok("reindex", "--full")
    world.passes()
    assert world.found("body") == ["a-1"]


@answers("S08")
def any_search_text(world: World) -> None:
    world.recorded()
    for words in ("TKT-42", "isn't", "two-phase", "C++", "12.34", "HINT: details", '"', "AND"):
        ran = world.run("search", "--json", "--", words)
        assert ran.status == 0, (words, ran.err)
    for words in ("TKT-42", "isn't", "two-phase", "12.34", "HINT: details"):
        assert world.found("--", words) == ["q-1"], words
    assert world.run("search", "--json", "--", "").status in (0, 2)


@answers("S10")
def read_only_folder(world: World) -> None:
    world.recorded()
    (world.root / ".synapse/index.db").unlink(missing_ok=True)
    before = sorted(str(path) for path in world.root.rglob("*"))
    folders = [world.root, *(path for path in world.root.rglob("*") if path.is_dir())]
    for path in folders:
        path.chmod(0o555)
    # Root may write anywhere; without its capabilities it may not.
    bare = ["setpriv", "--inh-caps=-all", "--bounding-set=-all", "--"] if os.geteuid() == 0 else []
    try:
        for words in (["verify"], ["search", "note"], ["list"], ["status"], ["reindex"]):
            done = subprocess.run(
                [*bare, sys.executable, "-m", "syn", *words],
                cwd=world.root,
                env=world.place.env,
                capture_output=True,
                check=False,
                timeout=120,
            )
            assert done.returncode == 0, (words, done.stderr)
        assert sorted(str(path) for path in world.root.rglob("*")) == before
    finally:
        for path in folders:
            path.chmod(0o755)


@answers("S11")
def two_at_once(world: World) -> None:
    world.recorded()
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "syn", *words],
            cwd=world.root,
            env=world.place.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for words in (
            ["reindex", "--full"],
            ["reindex", "--full"],
            ["add", "--title", "One", "--body", "x"],
            ["add", "--title", "Two", "--body", "y"],
        )
    ]
    ended = [(process.communicate(timeout=120)[1], process.returncode) for process in running]
    assert all(code == 0 or (code == 3 and b"busy" in err) for err, code in ended), ended
    world.ok("reindex")
    world.passes("--rebuild")


@answers("S12")
def rows_of_files_that_are_gone(world: World) -> None:
    # An older commit was checked out; the facts that came later are gone from the index.
    world.recorded()
    world.box.git("checkout", "-q", "main")
    world.ok("adopt", "--yes")
    world.ok("reindex")
    assert [i for i, _ in world.listed()] == ["a-1", "b-1"]
    world.box.git("checkout", "-q", "HEAD~1")
    world.ok("reindex")
    assert [i for i, _ in world.listed()] == ["a-1"]
    incremental = sqlite_dump(world)
    world.ok("reindex", "--full")
    assert sqlite_dump(world) == incremental


def sqlite_dump(world: World) -> list[str]:
    """The rows of the index's own tables but `meta`, sorted."""
    with sqlite3.connect(world.root / ".synapse/index.db") as db:
        rows = sorted(
            f"{table} {row!r}"
            for table in columns(world)
            if table != "meta"
            for row in db.execute(f"SELECT * FROM {table}")
        )
    db.close()
    return rows


@answers("S14")
def scan_order(world: World) -> None:
    # Case twins are a finding on both (P02); the others stand in the order of their bytes.
    world.init()
    assert [path for _, path in world.listed()] == [
        "facts/Z.md",
        "facts/a.md",
        "facts/\u00e9.md",
    ]
    assert {path for path, _, code in world.problems() if code == "case-twin"} == {
        "facts/B.md",
        "facts/b.md",
    }
    digests = {
        syn(world.place, "manifest", "--digest", env={"LC_ALL": locale, "PYTHONHASHSEED": seed}).out
        for locale, seed in (("C", "1"), ("C.UTF-8", "2"), ("tr_TR.UTF-8", "3"))
    }
    assert len(digests) == 1
    for file in sorted((world.root / "facts").iterdir(), reverse=True):
        data = file.read_bytes()
        file.unlink()
        file.write_bytes(data)
    assert world.digest() + "\n" in digests
    shutil.rmtree(world.box.home / "cache", ignore_errors=True)


@answers("S15")
def folding(world: World) -> None:
    (world.root / "facts/l.md").write_text(
        "---\nid: l-1\n---\n[[STRASSE \u00e4\u00f6 i\u0307]] [[stra\u00dfe \u00c4\u00d6 \u0130]]\n"
    )
    world.recorded()
    graph = world.ok("graph", "l-1", "--json").json
    assert graph["dangling"] == []
    assert {edge["to"] for edge in graph["edges"]} == {"s-1"}
