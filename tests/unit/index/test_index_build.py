"""Building: in a new file, checked, in place as a whole or not at all."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from syn.index.derive import World
from syn.index.manifest import manifest_lines
from syn.index.rows import DECISION, STATE, TARGET
from syn.index.store import IndexUnusable, StatRecord, open_index
from syn.index.store.build import Builder
from syn.model.ledger import Entry
from tests.support.indexes import build, recorded, rows_of

FILES = {
    "facts/a.md": "---\nid: a\ntitle: Alpha\n---\nSee [[b]].\n",
    "facts/b.md": "---\nid: b\ntitle: Beta\n---\nSee [[alpha]] and [[gone]].\n",
    "facts/c.md": "Body of c\n",
}
META = {"inputs_hash": "sha256:x"}


def dump(path: Path) -> bytes:
    with open_index(path) as index:
        return b"".join(manifest_lines(index))


def test_a_full_build_says_what_it_did(tmp_path: Path) -> None:
    bad = {**FILES, "facts/bad.md": "---\na: 1\na: 2\n---\n"}
    with Builder(tmp_path / "i.db") as builder:
        for row in rows_of(bad):
            builder.add(row)
        built = builder.finish(World(), META)
    assert (built.files, built.facts, built.written, built.copied) == (4, 3, 4, False)
    with open_index(tmp_path / "i.db") as index:
        assert index.meta()["inputs_hash"] == "sha256:x"
        assert [(r.path, r.readable) for r in index.files()][-1] == ("facts/c.md", True)


def test_nothing_but_the_index_is_left_behind(tmp_path: Path) -> None:
    build(tmp_path / "i.db", FILES)
    assert [path.name for path in tmp_path.iterdir()] == ["i.db"]


def test_a_build_that_is_given_up_leaves_the_old_index(tmp_path: Path) -> None:
    path = build(tmp_path / "i.db", FILES)
    before = path.read_bytes()
    with Builder(path) as builder:
        builder.add(rows_of(FILES)[0])
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["i.db"]


def test_readers_keep_the_old_file_until_the_new_one_is_in_place(tmp_path: Path) -> None:
    path = build(tmp_path / "i.db", FILES)
    with open_index(path) as index:
        assert len(list(index.ids())) == 3
        build(path, {"facts/a.md": FILES["facts/a.md"]})
        assert list(index.ids()) == ["a"]


def incremental(
    path: Path,
    changed: dict[str, str],
    removed: tuple[str, ...] = (),
    world: World | None = None,
) -> None:
    with Builder(path, base=path) as builder:
        for gone in removed:
            builder.remove(gone)
        for row in rows_of(changed):
            builder.add(row)
        builder.finish(world or World(), META)


@pytest.mark.parametrize(
    ("changed", "removed"),
    [
        ({"facts/a.md": "---\nid: a\ntitle: Alpha\n---\nNew body [[gone]].\n"}, ()),
        ({"facts/a.md": "---\nid: a\ntitle: Omega\n---\nSee [[b]].\n"}, ()),
        ({"facts/gone.md": "Here now\n"}, ()),
        ({"facts/a.md": "---\nid: a\nid: a\n---\n"}, ()),
        ({}, ("facts/a.md",)),
        ({"facts/d.md": FILES["facts/a.md"]}, ("facts/a.md",)),
        ({"facts/a.md": "---\nid: b\n---\n"}, ()),
        ({}, ()),
    ],
)
def test_an_incremental_build_equals_a_full_one(
    tmp_path: Path, changed: dict[str, str], removed: tuple[str, ...]
) -> None:
    path = build(tmp_path / "i.db", FILES)
    incremental(path, changed, removed)
    now = {name: text for name, text in {**FILES, **changed}.items() if name not in removed}
    full = build(tmp_path / "full.db", now)
    assert dump(path) == dump(full)
    with open_index(path) as index:
        assert index.fts_fault() == ""
        assert index.structure_faults() == []


def entry(seq: int) -> tuple[str, Entry]:
    made = Entry("w", seq, "p", "2026-04-15T10:00:00.000000Z", "a", "cli", "create")
    return f"sha256:{seq:064}", made


def test_the_ledger_reaches_copied_rows(tmp_path: Path) -> None:
    rows = {row.path: row for row in rows_of(FILES)}
    hold = ("sha256:" + "2" * 64,)
    first = World(recorded={"a": recorded(rows["facts/a.md"])}, decisions=[entry(1), entry(2)])
    then = World(
        recorded={
            "a": recorded(rows["facts/a.md"], quarantine=hold),
            "b": recorded(rows["facts/b.md"], taint="external"),
        },
        decisions=[entry(2), entry(3)],
    )
    path = build(tmp_path / "i.db", FILES, first)
    incremental(path, {}, world=then)
    assert dump(path) == dump(build(tmp_path / "full.db", FILES, then))
    with open_index(path) as index:
        assert [row[1] for row in index.rows(DECISION)] == [2, 3]
        states = {row[0]: row[2] for row in index.rows(STATE)}
    assert states == {
        "facts/a.md": "recorded",
        "facts/b.md": "recorded",
        "facts/c.md": "unrecorded",
    }


def test_a_mismatch_in_a_copied_row_stays(tmp_path: Path) -> None:
    path = build(tmp_path / "i.db", FILES)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update fact set title = 'Lie' where id = 'b'")
        connection.execute("update attr set value = 'Lie' where value = 'Beta'")
        connection.execute("update state set word = 'w' where id = 'b'")
    incremental(path, {"facts/a.md": "New\n"})
    text = dump(path).decode()
    assert '"title":"Lie"' in text
    assert '"value":"Lie"' in text
    assert '"word":"w"' in text
    with open_index(path) as index:
        assert index.fts_fault()


def test_trust_columns_are_derived_anew(tmp_path: Path) -> None:
    rows = rows_of(FILES)
    held = recorded(rows[1], quarantine=("sha256:" + "2" * 64,))
    world = World(recorded={"b": held})
    path = build(tmp_path / "i.db", FILES, world)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("update state set quarantine = '[]' where id = 'b'")
    incremental(path, {"facts/a.md": "New\n"}, world=world)
    with open_index(path) as index:
        found = index.cell("facts/b.md")
    assert found is not None
    assert found[1] is not None
    assert found[1].quarantine != "[]"


def test_a_damaged_base_is_refused_and_kept(tmp_path: Path) -> None:
    path = build(tmp_path / "i.db", FILES)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("create trigger t after insert on fact begin delete from tag; end")
    before = path.read_bytes()
    with pytest.raises(IndexUnusable) as caught, Builder(path, base=path):
        pass
    assert caught.value.code == "index-schema"
    assert "trigger t on fact" in caught.value.message
    assert path.read_bytes() == before


def test_a_folder_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    with pytest.raises(IndexUnusable) as caught, Builder(tmp_path / "missing" / "i.db"):
        pass
    assert caught.value.code == "index-place"
    assert str(tmp_path / "missing") in caught.value.remedy


def test_a_folder_behind_a_symbolic_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(IndexUnusable) as caught, Builder(tmp_path / "link" / "i.db"):
        pass
    assert caught.value.code == "index-place"
    assert list((tmp_path / "real").iterdir()) == []


def test_a_target_that_is_a_symbolic_link_is_replaced_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    (tmp_path / "i.db").symlink_to("victim")
    build(tmp_path / "i.db", FILES)
    assert victim.read_text() == "mine"
    assert not (tmp_path / "i.db").is_symlink()


def test_what_a_dead_build_left_is_swept(tmp_path: Path) -> None:
    dead = tmp_path / "i.db.new-999999999-0"
    alive = tmp_path / f"i.db.new-{os.getpid()}-0"
    dead.write_bytes(b"x")
    alive.write_bytes(b"x")
    build(tmp_path / "i.db", FILES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["i.db", alive.name]


def test_a_stat_record_is_trusted_only_when_the_file_had_settled(tmp_path: Path) -> None:
    old = StatRecord(10, 1_000_000_123, 1_000_000_456, 2**64 - 1)
    future = StatRecord(10, 2**62, 1_000_000_456, 7)
    a, b, c = rows_of(FILES)
    with Builder(tmp_path / "i.db") as builder:
        builder.add(a, old)
        builder.add(b, future)
        builder.add(c)
        assert [path.decode() for path, _ in builder.inputs()] == list(FILES)
        builder.finish(World(), META)
    with open_index(tmp_path / "i.db") as index:
        first, second, third = index.files()
    assert first.unchanged(old)
    assert not first.unchanged(old._replace(inode=1))
    assert not second.unchanged(future)
    assert third.stat is None


def test_a_coarse_clock_needs_more_time(tmp_path: Path) -> None:
    probe = tmp_path / "probe"
    probe.touch()
    now = probe.stat().st_mtime_ns
    whole = (now // 1_000_000_000 - 1) * 1_000_000_000
    with Builder(tmp_path / "i.db") as builder:
        builder.add(rows_of(FILES)[0], StatRecord(1, whole, whole, 1))
        builder.add(rows_of(FILES)[1], StatRecord(1, whole + 1, whole + 1, 1))
        builder.finish(World(), META)
    with open_index(tmp_path / "i.db") as index:
        coarse, fine = index.files()
    assert coarse.stat is None
    assert fine.stat is not None


@pytest.mark.parametrize(("nul", "times"), [([], 1), (["a\0b"], 1), ([], 5)])
def test_links_of_a_changed_file_lead_to_the_same_facts(
    tmp_path: Path, nul: list[str], times: int
) -> None:
    """The facts they can lead to are looked for by a query, whatever stands in a target."""
    targets = ["Straße", "deep/er/x", "x.md", "../x", "%", "1", "FULL", "d%20e", "d e"]
    files = {
        "facts/deep/er/x.md": "---\nid: '1'\ntitle: STRASSE\n---\n",
        "facts/x.md": '---\ntitle: it\'s "x"\n---\n',
        "facts/y.md": "---\naliases: ['%', full]\n---\n",
        "facts/d e.md": "body\n",
    }
    wiki = " ".join(f"[[{target}]]" for target in targets)
    marks = " ".join(f"[t]({quote(target)})" for target in (*targets, *nul))
    before = {**files, "facts/l.md": "nothing\n"}
    after = {**files, "facts/l.md": f"{wiki}\n\n{marks}\n\n" * times}
    path = build(tmp_path / "i.db", before)
    with Builder(path, base=path) as builder:
        builder.add(rows_of({"facts/l.md": after["facts/l.md"]})[0])
        builder.finish(World(), META)
    full = build(tmp_path / "full.db", after)
    with open_index(path) as index, open_index(full) as other:
        assert list(index.rows(TARGET)) == list(other.rows(TARGET))
        assert sum(row[2] == "resolved" for row in index.rows(TARGET)) >= len(targets)


def test_a_file_that_was_read_again_gets_its_record_back(tmp_path: Path) -> None:
    path = build(tmp_path / "i.db", FILES)
    stat = StatRecord(10, 1_000_000_123, 1_000_000_456, 7)
    with Builder(path, base=path) as builder:
        builder.restat("facts/a.md", stat)
        builder.finish(World(), META)
    with open_index(path) as index:
        assert next(index.files()).unchanged(stat)
