"""Two real histories: the walk, the changed paths and the listing are those of git."""

from pathlib import Path

import pytest

from syn.git.history import changed_paths, walk
from syn.git.repository import Repository, open_repository
from syn.git.snapshot import commit_snapshot
from syn.git.worktree import worktree_snapshot
from tests.support.gitbox import GitBox
from tests.support.shared import shared_path

EDGES = 300


@pytest.mark.parametrize("name", ["dendron-vault", "endoflife-products"])
def test_a_real_history(tmp_path: Path, name: str) -> None:
    bundle = shared_path("corpora") / f"{name}.bundle"
    if not bundle.exists():
        pytest.skip(f"needs {bundle.name} in shared/corpora beside the project")
    outside = GitBox.new(tmp_path / "outside")
    outside.git("clone", "-q", str(bundle), str(tmp_path / "clone"))
    box = outside.at(tmp_path / "clone")
    repo = open_repository(box.path)
    head = box.head()

    walked = [commit.oid for commit in walk(repo.store, [head])]
    judged = {
        line.split()[0]: line.split()[1:] for line in _lines(box, "rev-list", "--parents", head)
    }
    assert sorted(walked) == sorted(judged)
    place = {oid: number for number, oid in enumerate(walked)}
    assert all(place[child] < place[parent] for child in judged for parent in judged[child])

    tree = {child: repo.store.commit(child).tree for child in walked}
    edges = [(tree[parent], tree[child]) for child in walked[:EDGES] for parent in judged[child]]
    asked = "".join(f"{old} {new}\n" for old, new in edges)
    options = ("--stdin", "-r", "-z", "--name-only", "--no-renames")
    told = box.git_bytes("diff-tree", *options, stdin=asked)
    ours = b"".join(_told(repo, old, new) for old, new in edges)
    assert ours == told

    listed = box.git_bytes("ls-tree", "-r", "-z", "--name-only", head).split(b"\0")[:-1]
    at_head, here = commit_snapshot(repo, head), worktree_snapshot(repo)
    assert [entry.path for entry in at_head.entries()] == sorted(listed)
    same = zip(at_head.entries(), here.entries(), strict=True)
    assert all((a.path, a.head_oid) == (b.path, b.head_oid) for a, b in same)
    assert repo.alterations() == ()


def _told(repo: Repository, old: str, new: str) -> bytes:
    paths = [path + b"\0" for path, _, _ in changed_paths(repo.store, old, new)]
    return f"{old} {new}\n".encode() + b"".join(paths)


def _lines(box: GitBox, *args: str) -> list[str]:
    return box.git(*args).splitlines()
