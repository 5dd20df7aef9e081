"""The work tree by content: git judges conversions and the index; it is not asked what is clean."""

import itertools
import os
import re
from pathlib import Path

import pytest

from syn.errors import CannotError, RefusedError
from syn.git.gitindex import parse_index, render_index
from syn.git.parse import blob_id
from syn.git.repository import open_repository
from syn.git.snapshot import SnapshotEntry, commit_snapshot
from syn.git.splitindex import load_index
from syn.git.worktree import BareRepositoryError, WorktreeSnapshot, worktree_snapshot
from tests.support.gitbox import GitBox

CONTENTS = {
    "lf": b"a\nb\n",
    "crlf": b"a\r\nb\r\n",
    "mixed": b"a\r\nb\n",
    "lone-cr": b"a\rb\r\n",
    "nul": b"a\0b\r\n",
    "controls": b"\x01\x02\x03 a\r\n",
    "few-controls": b"x" * 300 + b"\x01\r\n",
    "ctrl-z": b"a\r\nb\r\n\x1a",
    "ident": b"$Id: 0123 $ and $Id$ and $Id: open\nx $\r\n",
    "utf8": "é\r\n".encode() * 10,
    "empty": b"",
}
RULES = (
    "",
    "* text",
    "* text=auto",
    "* -text",
    "* text=auto eol=crlf",
    "* text eol=lf",
    "* eol=crlf",
    "* binary",
    "* crlf",
    "* -crlf",
    "* crlf=input",
    "* ident",
    "* text=auto ident",
    "* text=odd",
)


def listing(snapshot: WorktreeSnapshot) -> dict[bytes, SnapshotEntry]:
    """All entries by path."""
    return {entry.path: entry for entry in snapshot.entries()}


@pytest.mark.parametrize("autocrlf", ["false", "true", "input"])
def test_conversions_are_gits(tmp_path: Path, autocrlf: str) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"start": "x"})
    for (name, data), before in itertools.product(CONTENTS.items(), ("new", "lf", "crlf")):
        if before != "new":
            box.git(
                "update-index",
                "--add",
                "--cacheinfo",
                f"100644,{_blob(box, before)},{name}-{before}",
            )
        box.write(f"{name}-{before}", data)
    box.git("config", "core.autocrlf", autocrlf)
    for rule in RULES:
        box.write(".gitattributes", rule + "\n")
        snapshot = worktree_snapshot(open_repository(box.path))
        entries = listing(snapshot)
        paths = [path for path in entries if b"-" in path]
        # What `git add` would store, in a scratch index so that the staged blobs stay.
        scratch = {"GIT_INDEX_FILE": str(tmp_path / "scratch")}
        (tmp_path / "scratch").write_bytes((box.path / ".git/index").read_bytes())
        box.git("add", "-A", env=scratch)
        judged = box.git("ls-files", "--stage", env=scratch).splitlines()
        expected = {line.split("\t")[1].encode(): line.split()[1] for line in judged}
        for path in paths:
            assert blob_id(snapshot.read(entries[path])) == expected[path], (rule, path)


def _blob(box: GitBox, content: str) -> str:
    return box.git("hash-object", "-w", "--stdin", "--no-filters", stdin=CONTENTS[content])


def test_hidden_edits_are_seen(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    names = ("assumed.md", "skipped.md", "racy.md", "ignored.md")
    box.commit("one", {f"facts/{name}": "honest\n" for name in names})
    box.write(".git/info/exclude", "ignored.md\n")
    box.git("update-index", "--assume-unchanged", "facts/assumed.md")
    box.git("update-index", "--skip-worktree", "facts/skipped.md")
    box.git("config", "core.checkStat", "minimal")
    box.git("config", "core.trustctime", "false")
    box.git("status")
    for name in names:
        path = box.path / "facts" / name
        info = path.stat()
        path.write_bytes(b"edited\n")
        os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))
    repo = open_repository(box.path)
    snapshot = worktree_snapshot(repo)
    found = listing(snapshot)
    for name in names:
        entry = found[b"facts/" + name.encode()]
        assert snapshot.read(entry) == b"edited\n"
        assert (entry.tracked, entry.ignored) == (True, False)
        assert entry.head_oid == blob_id(b"honest\n")


def test_what_stands_on_disk(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit(
        "one",
        {
            "a.md": "A",
            "gone.md": "G",
            "tolink.md": "L",
            "tofolder": "F",
            "tofile/x.md": "X",
            "pipe.md": "P",
        },
    )
    for name in ("gone.md", "tolink.md", "tofolder", "pipe.md"):
        (box.path / name).unlink()
    (box.path / "tolink.md").symlink_to("a.md")
    (box.path / "tofolder").mkdir()
    box.write("tofolder/in.md", "I")
    (box.path / "tofile/x.md").unlink()
    (box.path / "tofile").rmdir()
    box.write("tofile", "now a file")
    os.mkfifo(box.path / "pipe.md")
    (box.path / "linked").symlink_to("tofolder")
    os.mkfifo(box.path / "new-pipe")
    box.write("staged.md", "S")
    box.git("add", "staged.md")
    box.write("removed-from-index.md", "R")
    box.git("rm", "-q", "--cached", "a.md")
    snapshot = worktree_snapshot(open_repository(box.path))
    found = [(e.path.decode(), e.kind, e.tracked) for e in snapshot.entries()]
    assert found == sorted(found)
    assert found == [
        ("a.md", "file", True),
        ("gone.md", "missing", True),
        ("linked", "symlink", False),
        ("pipe.md", "missing", True),
        ("removed-from-index.md", "file", False),
        ("staged.md", "file", True),
        ("tofile", "file", False),
        ("tofile/x.md", "missing", True),
        ("tofolder", "missing", True),
        ("tofolder/in.md", "file", False),
        ("tolink.md", "symlink", True),
    ]
    entries = listing(snapshot)
    for path in (b"tolink.md", b"gone.md", b"linked"):
        with pytest.raises(CannotError) as caught:
            snapshot.read(entries[path])
        assert caught.value.code == "no-content"


def test_a_linked_folder_is_never_read_through(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"facts/a.md": "A"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.md").write_text("forged")
    snapshot = worktree_snapshot(open_repository(box.path))
    entry = listing(snapshot)[b"facts/a.md"]
    (box.path / "facts/a.md").unlink()
    (box.path / "facts").rmdir()
    (box.path / "facts").symlink_to(outside)
    with pytest.raises((RefusedError, CannotError)) as caught:
        snapshot.read(entry)
    assert caught.value.code == "symlink-in-path"
    for prefixes in ([b""], [b"facts"], [b"facts/a.md"], [b"facts/"]):
        narrow = worktree_snapshot(open_repository(box.path), prefixes)
        kinds = {e.path: e.kind for e in narrow.entries()}
        assert kinds == {b"facts": "symlink", b"facts/a.md": "missing"}


def test_ignored_files_are_marked_and_tracked_ones_are_not(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.write("build/forced.md", "F")
    box.git("add", "build/forced.md")
    box.commit(
        "one", {".gitignore": "build/\n*.tmp.md\n!keep.tmp.md\n", "facts/.gitignore": "/local\n"}
    )
    for name in (
        "build/x.md",
        "build/deep/y.md",
        "a.tmp.md",
        "keep.tmp.md",
        "facts/local/z.md",
        "facts/é.md",
    ):
        box.write(name, "x")
    judged = box.git_bytes("ls-files", "-z", "-o", "-i", "--exclude-standard").split(b"\0")[:-1]
    found = listing(worktree_snapshot(open_repository(box.path)))
    assert sorted(p for p, e in found.items() if e.ignored) == sorted(judged)
    assert found[b"build/forced.md"].ignored is False
    others = box.git_bytes("ls-files", "-z", "-o", "--exclude-standard").split(b"\0")[:-1]
    assert sorted(p for p, e in found.items() if not e.tracked and not e.ignored) == sorted(others)


def test_prefixes_are_a_filter(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit(
        "one",
        {
            p: p
            for p in (
                "facts/a.md",
                "facts.md",
                "facts-x/b.md",
                ".synapse/l/1",
                "z",
                "facts/d/e/f.md",
            )
        },
    )
    repo = open_repository(box.path)
    every = [e.path for e in worktree_snapshot(repo).entries()]
    for prefixes in (
        [b"facts"],
        [b"facts/", b".synapse"],
        [b"facts/d/e"],
        [b"z", b"facts/a.md"],
        [b"none"],
        [b"", b"z"],
    ):
        expected = [
            p
            for p in every
            if any(not (c := q.rstrip(b"/")) or p == c or p.startswith(c + b"/") for q in prefixes)
        ]
        assert [e.path for e in worktree_snapshot(repo, prefixes).entries()] == expected
        assert [e.path for e in commit_snapshot(repo, box.head(), prefixes).entries()] == expected
    snapshot = worktree_snapshot(repo)
    entry = snapshot.find(b"facts/a.md")
    assert entry is not None
    assert snapshot.read(entry) == b"facts/a.md"
    assert snapshot.find(b"facts") is None
    at_head = commit_snapshot(repo, box.head())
    assert at_head.find(b"facts") is None
    assert at_head.find(b"facts/a.md") is not None


def test_stat_is_given_only_for_plain_files(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"plain.md": "p", "conv.md": "c", ".gitattributes": "conv.md text=auto\n"})
    repo = open_repository(box.path)
    found = listing(worktree_snapshot(repo))
    info = (box.path / "plain.md").stat()
    assert found[b"plain.md"].stat == (
        info.st_size,
        info.st_mtime_ns,
        info.st_ctime_ns,
        info.st_ino,
    )
    assert found[b"conv.md"].stat is None
    only = worktree_snapshot(repo, wanted=lambda path: path == b"plain.md")
    assert listing(only)[b"conv.md"].stat is not None


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_cannot_be_listed(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"facts/a.md": "A"})
    (box.path / "facts").chmod(0)
    try:
        snapshot = worktree_snapshot(open_repository(box.path))
        found = listing(snapshot)
        assert found[b"facts/a.md"].kind == "file"
        with pytest.raises(CannotError) as caught:
            snapshot.read(found[b"facts/a.md"])
        assert caught.value.code == "cannot-read"
        assert [w.code for w in snapshot.warnings] == ["unreadable-folder"]
    finally:
        (box.path / "facts").chmod(0o755)


def test_bare_has_no_work_tree(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo.git", bare=True)
    with pytest.raises(BareRepositoryError):
        worktree_snapshot(open_repository(box.path))


def index_box(path: Path, version: int) -> GitBox:
    """An index with every kind of entry."""
    box = GitBox.new(path)
    box.commit(
        "one",
        {f"facts/{n:03}/note-{n % 7}.md": f"{n}\n" for n in range(40)}
        | {"x" * 200 + ".md": "long"},
    )
    box.git("update-index", f"--index-version={version}")
    box.git("update-index", "--assume-unchanged", "facts/001/note-1.md")
    if version > 2:
        box.git("update-index", "--skip-worktree", "facts/002/note-2.md")
        box.write("later.md", "later")
        box.git("add", "--intent-to-add", "later.md")
    return box


@pytest.mark.parametrize("version", [2, 3, 4])
def test_index_is_read_and_given_back(tmp_path: Path, version: int) -> None:
    box = index_box(tmp_path / "repo", version)
    data = (box.path / ".git/index").read_bytes()
    index = parse_index(data)
    assert index.version == version
    listed = box.git_bytes("ls-files", "-z", "--stage").split(b"\0")[:-1]
    assert [
        b"%06o %s %d\t%s" % (e.mode, e.oid.encode(), e.stage, e.path) for e in index.entries
    ] == listed
    assert render_index(index) == data
    assert sum(e.skip_worktree for e in index.entries) == (version > 2)


def test_split_index_is_read_whole(tmp_path: Path) -> None:
    box = index_box(tmp_path / "repo", 2)
    box.git("config", "splitIndex.maxPercentChange", "100")
    box.git("update-index", "--split-index")
    box.write("facts/005/note-5.md", "changed\n")
    box.write("facts/new.md", "new\n")
    box.git("add", "facts")
    box.git("rm", "-q", "-r", "facts/007")
    box.git("update-index", "--skip-worktree", "facts/009/note-2.md")
    assert b"link" in (box.path / ".git/index").read_bytes()
    _, index = load_index(box.path / ".git/index")
    listed = box.git_bytes("ls-files", "-z", "--stage").split(b"\0")[:-1]
    assert [
        b"%06o %s %d\t%s" % (e.mode, e.oid.encode(), e.stage, e.path) for e in index.entries
    ] == listed
    assert [e.path for e in index.entries if e.skip_worktree] == [b"facts/009/note-2.md"]
    scratch = tmp_path / "whole"
    scratch.write_bytes(render_index(index))
    # Git's own flags of an entry in memory say that it came from a shared index.
    whole = box.git("ls-files", "--stage", "--debug", env={"GIT_INDEX_FILE": str(scratch)})
    split = box.git("ls-files", "--stage", "--debug")
    assert re.sub("flags: .*", "", whole) == re.sub("flags: .*", "", split)


def test_a_damaged_index_says_so(tmp_path: Path) -> None:
    box = index_box(tmp_path / "repo", 4)
    path = box.path / ".git/index"
    good = path.read_bytes()
    for at in range(0, len(good) - 20, 97):
        path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
        with pytest.raises(CannotError) as caught:
            listing(worktree_snapshot(open_repository(box.path)))
        assert caught.value.code == "git-index"
        path.write_bytes(good[:at])
        with pytest.raises(CannotError):
            parse_index(path.read_bytes())
