"""The public git and path cases, answered through `syn.git`, and own inputs of each kind."""

import os
from pathlib import Path

import pytest

from syn.errors import CannotError, UsageError
from syn.git.alterations import references
from syn.git.history import is_ancestor, walk
from syn.git.locks import LockedError
from syn.git.parse import Ident, blob_id
from syn.git.repository import Repository, open_repository
from syn.git.snapshot import Snapshot, SnapshotEntry, commit_snapshot
from syn.git.worktree import worktree_snapshot
from syn.git.write import commit_paths
from tests.support.cases import case
from tests.support.gitbox import GitBox

WHO = Ident("Ada", "ada@example.org", 1_700_000_000)


def open_case(identifier: str, tmp_path: Path) -> tuple[GitBox, Repository]:
    """Build a case and open what it built."""
    box = case(identifier).build(tmp_path / "R")
    return box, open_repository(box.path)


def listing(snapshot: Snapshot) -> dict[bytes, SnapshotEntry]:
    """All entries by path, in order."""
    return {entry.path: entry for entry in snapshot.entries()}


def facts(snapshot: Snapshot) -> list[bytes]:
    """The Markdown files."""
    return [p for p, e in listing(snapshot).items() if p.endswith(b".md") and e.kind == "file"]


def head_snapshot(repo: Repository) -> Snapshot:
    """The snapshot of HEAD's commit."""
    commit = repo.head().commit
    assert commit is not None
    return commit_snapshot(repo, commit)


def same_from_both(repo: Repository) -> list[bytes]:
    """The Markdown files, checked to be the same in the work tree and in HEAD."""
    snapshots: tuple[Snapshot, ...] = (worktree_snapshot(repo), head_snapshot(repo))
    found = [
        [(p, s.read(s_entries[p])) for p in facts(s)]
        for s in snapshots
        for s_entries in [listing(s)]
    ]
    assert found[0] == found[1]
    return [path for path, _ in found[0]]


def test_p01_unicode_twins_keep_their_bytes(tmp_path: Path) -> None:
    _, repo = open_case("P01", tmp_path)
    found = same_from_both(repo)
    assert sorted(found) == [b"facts/Cafe\xcc\x81.md", b"facts/Caf\xc3\xa9.md"]


def test_p02_case_twins_are_two_entries(tmp_path: Path) -> None:
    _, repo = open_case("P02", tmp_path)
    assert same_from_both(repo) == [b"facts/Plan_A.md", b"facts/plan_a.md"]


def test_p04_every_name_exactly(tmp_path: Path) -> None:
    box, repo = open_case("P04", tmp_path)
    names = box.git_bytes("ls-tree", "-r", "-z", "--name-only", "HEAD").split(b"\0")[:-1]
    assert same_from_both(repo) == sorted(names)
    assert len(names) == 7


def test_p05_names_that_are_not_utf8(tmp_path: Path) -> None:
    _, repo = open_case("P05", tmp_path)
    assert facts(head_snapshot(repo)) == [b"facts/ok.md", b"facts/\xe9l\xe9phant.md"]
    found = listing(worktree_snapshot(repo))
    assert found[b"facts/\xe9tat.md"].tracked is False
    assert found[b"facts/\xe9l\xe9phant.md"].tracked is True


def test_p07_root_through_a_link(tmp_path: Path) -> None:
    box, repo = open_case("P07", tmp_path)
    linked = open_repository(Path(f"{box.path}.link"))
    assert same_from_both(linked) == same_from_both(repo) == [b"facts/ok.md"]
    assert linked.root == repo.root
    below = open_repository(Path(f"{box.path}.link") / "facts")
    assert below.root == repo.root


def test_p08_nested_repository_is_not_entered(tmp_path: Path) -> None:
    _, repo = open_case("P08", tmp_path)
    for snapshot in (worktree_snapshot(repo), head_snapshot(repo)):
        found = listing(snapshot)
        assert list(found) == [b"facts/ok.md", b"nested"]
        assert found[b"nested"].kind == "gitlink"


def test_p08_untracked_nested_repository_is_not_entered(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"facts/a.md": "A\n"})
    inner = box.at(box.path / "facts" / "inner")
    inner.path.mkdir()
    inner.git("init", "-q", ".")
    inner.commit("in", {"n.md": "N\n"})
    found = listing(worktree_snapshot(open_repository(box.path)))
    assert [(p, e.kind, e.tracked) for p, e in found.items()] == [
        (b"facts/a.md", "file", True),
        (b"facts/inner", "gitlink", False),
    ]


def test_c01_line_ends_of_a_checkout(tmp_path: Path) -> None:
    box, repo = open_case("C01", tmp_path)
    assert b"\r\n" in (box.path / "facts/n.md").read_bytes()
    assert same_from_both(repo) == [b"facts/n.md"]
    assert box.git("status", "--porcelain") == ""


def test_c01_autocrlf_setting(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"facts/n.md": "a\nb\n", "facts/mixed.md": "a\r\nb\n"})
    box.git("config", "core.autocrlf", "true")
    for name in ("n.md", "mixed.md"):
        (box.path / "facts" / name).unlink()
    box.git("checkout", "--", "facts")
    assert (box.path / "facts/n.md").read_bytes() == b"a\r\nb\r\n"
    assert same_from_both(open_repository(box.path)) == [b"facts/mixed.md", b"facts/n.md"]


def test_c02_attributes_that_hide_bytes(tmp_path: Path) -> None:
    box, repo = open_case("C02", tmp_path)
    assert box.git("status", "--porcelain", "--untracked-files=no") == ""
    snapshot = worktree_snapshot(repo, [b"facts"])
    found = listing(snapshot)
    for path, entry in found.items():
        blob = box.git_bytes("cat-file", "blob", f"HEAD:{path.decode()}")
        assert snapshot.read(entry) == blob
        assert blob_id(snapshot.read_disk(entry)) != entry.head_oid
    assert {(w.path, w.code) for w in snapshot.warnings} == {
        ("facts/id.md", "opaque-attribute"),
        ("facts/enc.md", "opaque-attribute"),
    }


def test_c02_a_filter_is_never_run(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"facts/n.md": "plain\n", ".gitattributes": "*.md filter=evil\n"})
    marker = tmp_path / "ran"
    for name in ("clean", "smudge", "process"):
        box.git("config", f"filter.evil.{name}", f"touch {marker}; cat")
    box.git("config", "core.fsmonitor", f"touch {marker}")
    box.write("facts/n.md", "edited\n")
    snapshot = worktree_snapshot(open_repository(box.path))
    assert {p: snapshot.read(e) for p, e in listing(snapshot).items()}[b"facts/n.md"] == b"plain\n"
    assert [(w.path, w.code) for w in snapshot.warnings] == [("facts/n.md", "opaque-attribute")]
    assert not marker.exists()


def test_c04_states_are_told_apart(tmp_path: Path) -> None:
    _, repo = open_case("C04", tmp_path)
    snapshot = worktree_snapshot(repo)
    found = listing(snapshot)
    assert b"title: Unstaged" in snapshot.read(found[b"facts/a.md"])
    state = {p: (e.tracked, e.ignored) for p, e in found.items() if p.endswith(b".md")}
    assert state == {
        b"facts/a.md": (True, False),
        b"facts/b.md": (False, False),
        b"facts/excl.md": (False, True),
        b"facts/ign.md": (False, True),
    }


def test_g01_unborn_branch(tmp_path: Path) -> None:
    _, repo = open_case("G01", tmp_path)
    assert repo.head().commit is None
    assert repo.head().branch == "main"
    found = listing(worktree_snapshot(repo))
    assert [(p, e.tracked, e.head_oid) for p, e in found.items()] == [(b"facts/n.md", False, "")]
    with pytest.raises(UsageError, match="unborn"):
        repo.resolve("HEAD")


def test_g02_detached_head(tmp_path: Path) -> None:
    box, repo = open_case("G02", tmp_path)
    head = repo.head()
    assert (head.branch, head.ref) == (None, "HEAD")
    assert same_from_both(repo) == [b"facts/n.md"]
    new = commit_paths(repo, {b"facts/n.md": b"new\n"}, "n", WHO, WHO, parent=head.commit)
    assert box.head() == new
    assert box.git("rev-parse", "main") == head.commit


def test_g04_partial_clone_says_so(tmp_path: Path) -> None:
    box, _ = open_case("G04", tmp_path)
    repo = open_repository(box.path / "partial")
    snapshot = head_snapshot(repo)
    entry = listing(snapshot)[b"facts/n.md"]
    with pytest.raises(CannotError) as caught:
        snapshot.read(entry)
    assert caught.value.code == "partial-clone"


def test_g05_linked_work_tree(tmp_path: Path) -> None:
    box, repo = open_case("G05", tmp_path)
    linked = open_repository(box.path / "wt")
    assert linked.common_dir == repo.common_dir == repo.git_dir
    assert linked.git_dir == repo.git_dir / "worktrees" / "wt"
    assert linked.root == box.path / "wt"
    assert same_from_both(linked) == same_from_both(repo) == [b"facts/n.md"]
    assert linked.head().branch == "side"


def test_g07_object_format(tmp_path: Path) -> None:
    with pytest.raises(CannotError) as caught:
        open_case("G07", tmp_path)
    assert caught.value.code == "object-format"
    assert "sha256" in caught.value.message


def test_g08_reftable(tmp_path: Path) -> None:
    with pytest.raises(CannotError) as caught:
        open_case("G08", tmp_path)
    assert caught.value.code == "reftable"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give files to another user")
def test_g10_owner(tmp_path: Path) -> None:
    with pytest.raises(CannotError) as caught:
        open_case("G10", tmp_path)
    assert caught.value.code == "owner"
    assert "safe.directory" in caught.value.remedy
    assert str(tmp_path / "R") in caught.value.remedy


def test_g11_stale_lock(tmp_path: Path) -> None:
    box, repo = open_case("G11", tmp_path)
    assert same_from_both(repo) == [b"facts/n.md"]
    before = box.head()
    with pytest.raises(LockedError, match=r"index\.lock is there since .* old\)") as caught:
        commit_paths(repo, {b"facts/n.md": b"x"}, "x", WHO, WHO, parent=before)
    assert caught.value.path == repo.git_dir / "index.lock"
    (repo.git_dir / "index.lock").unlink()
    with pytest.raises(LockedError, match=r"HEAD\.lock"):
        commit_paths(repo, {b"facts/n.md": b"x"}, "x", WHO, WHO, parent=before)
    assert box.head() == before
    assert (repo.git_dir / "HEAD.lock").exists()


def test_g12_order_ignores_dates(tmp_path: Path) -> None:
    box, repo = open_case("G12", tmp_path)
    walked = [c.message.strip() for c in walk(repo.store, [box.head()])]
    assert walked == ["last", "backdated", "c6", "c5", "c4", "c3", "c2", "c1", "one"]


def test_g14_rewrite_and_rollback_are_told_apart(tmp_path: Path) -> None:
    box, repo = open_case("G14", tmp_path)
    witness = Path(f"{box.path}.witness").read_text().strip()
    assert is_ancestor(repo.store, witness, box.head()) is False
    assert is_ancestor(repo.store, box.head(), box.head()) is True
    box.git("reset", "-q", "--hard", "HEAD~1")
    assert is_ancestor(repo.store, witness, box.head()) is False
    assert is_ancestor(repo.store, box.head(), witness) is True


def test_g15_sparse_checkout_comes_from_head(tmp_path: Path) -> None:
    box, repo = open_case("G15", tmp_path)
    assert not (box.path / "other/m.md").exists()
    assert same_from_both(repo) == [b"facts/n.md", b"other/m.md"]
    assert listing(worktree_snapshot(repo))[b"other/m.md"].on_disk is False


def test_g15_sparse_index(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit(
        "one", {"facts/n.md": "N\n", "other/m.md": "M\n", "other/deep/x.md": "X\n", "z.md": "Z"}
    )
    box.git("sparse-checkout", "set", "--cone", "--sparse-index", "facts")
    assert b"sdir" in (box.path / ".git/index").read_bytes()
    repo = open_repository(box.path)
    assert same_from_both(repo) == [b"facts/n.md", b"other/deep/x.md", b"other/m.md", b"z.md"]


def test_g17_alternates(tmp_path: Path) -> None:
    found = case("G17")
    box = found.build(tmp_path / "R")
    gone = box.path / ".git/objects.gone"
    borrowing = Path(f"{box.path}.borrow")
    gone.rename(box.path / ".git/objects")
    repo = open_repository(borrowing)
    assert same_from_both(repo) == [b"facts/n.md"]
    assert [a.kind for a in repo.alterations()] == ["alternates"]
    (box.path / ".git/objects").rename(gone)
    repo = open_repository(borrowing)
    with pytest.raises(CannotError) as caught:
        head_snapshot(repo)
    assert caught.value.code == "alternate-missing"
    assert str(box.path / ".git/objects") in caught.value.message


def test_g18_reference_names_are_bytes(tmp_path: Path) -> None:
    _, repo = open_case("G18", tmp_path)
    assert b"refs/heads/\xb1" in references(repo)
    assert [(a.kind, a.detail) for a in repo.alterations()] == [("ref-name", r"refs/heads/\xb1")]


def test_g20_every_parent_edge_is_seen(tmp_path: Path) -> None:
    box, repo = open_case("G20", tmp_path)
    starts = box.git("rev-list", "--all", "--no-walk").split()
    edges = {(c.oid, p) for c in walk(repo.store, starts) for p in c.parents}
    judge = box.git("rev-list", "--all", "--parents")
    assert edges == {(line.split()[0], p) for line in judge.splitlines() for p in line.split()[1:]}
    assert max(sum(1 for e in edges if e[0] == c) for c, _ in edges) >= 3
