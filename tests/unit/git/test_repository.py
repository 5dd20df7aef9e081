"""Opening repositories of every form, and refusing those this build cannot read."""

from pathlib import Path

import pytest

from syn.errors import CannotError, SynError, UsageError
from syn.git.identity import identity
from syn.git.repository import open_repository
from syn.git.write import init_repository
from tests.support.gitbox import GitBox


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ({"extensions.objectFormat": "sha256"}, "object-format"),
        ({"extensions.objectFormat": "sha1"}, ""),
        ({"extensions.compatObjectFormat": "sha256"}, "object-format"),
        ({"extensions.refStorage": "reftable"}, "reftable"),
        ({"extensions.refStorage": "files"}, "cannot-open"),
        ({"extensions.partialClone": "origin"}, ""),
        ({"extensions.worktreeConfig": "true"}, ""),
        ({"extensions.preciousObjects": "true"}, ""),
        ({"extensions.relativeWorktrees": "true"}, ""),
        ({"extensions.unheardOf": "true"}, "cannot-open"),
    ],
)
def test_extensions(tmp_path: Path, settings: dict[str, str], code: str) -> None:
    box = GitBox.new(tmp_path / "repo")
    head = box.commit("one", {"a.md": "A\n"})
    box.git("config", "core.repositoryFormatVersion", "1")
    for name, value in settings.items():
        with (box.path / ".git/config").open("a") as file:
            section, key = name.split(".")
            file.write(f"[{section}]\n\t{key} = {value}\n")
    if code:
        with pytest.raises(CannotError) as caught:
            open_repository(box.path)
        assert caught.value.code == code
        assert next(iter(settings.values())) in caught.value.message or code == "cannot-open"
    else:
        repo = open_repository(box.path)
        assert repo.head().commit == head
        assert repo.store.commit(head).tree


def test_damaged_configuration(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    (box.path / ".git/config").write_text("[core\n")
    with pytest.raises(CannotError) as caught:
        open_repository(box.path)
    assert caught.value.code == "bad-git-config"


def test_found_from_below_and_by_a_git_file(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"facts/deep/a.md": "A\n"})
    below = open_repository(box.path / "facts/deep")
    assert below.root == box.path
    box.git("init", "-q", "--separate-git-dir", str(tmp_path / "elsewhere.git"))
    repo = open_repository(box.path)
    assert (repo.root, repo.git_dir) == (box.path, tmp_path / "elsewhere.git")
    assert repo.store.commit(box.head()).message == "one\n"


def test_a_folder_that_is_no_repository(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent", Path("/")):
        with pytest.raises(CannotError) as caught:
            open_repository(path)
        assert caught.value.code == "not-a-repository"
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    with pytest.raises(CannotError):
        open_repository(tmp_path)


def test_head_through_symbolic_references(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    head = box.commit("one", {"a.md": "A\n"})
    box.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
    box.git("symbolic-ref", "HEAD", "refs/heads/alias")
    repo = open_repository(box.path)
    assert (repo.head().commit, repo.head().ref) == (head, "refs/heads/main")
    (box.path / ".git/refs/heads/main").write_text("ref: refs/heads/alias\n")
    with pytest.raises(CannotError) as caught:
        repo.head()
    assert caught.value.code == "corrupt-head"
    (box.path / ".git/refs/heads/main").write_bytes(b"\0" * 41)
    with pytest.raises(CannotError) as broken:
        open_repository(box.path).head()
    assert broken.value.code == "corrupt-head"
    kinds = {(a.kind, a.detail) for a in open_repository(box.path).alterations()}
    assert ("broken-ref", "refs/heads/main") in kinds


def test_identity_comes_from_the_configuration(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    assert identity(open_repository(box.path)) == ("", "")
    box.git("config", "user.name", "Ada Lovelace")
    box.git("config", "user.email", "ada@example.org")
    assert identity(open_repository(box.path)) == ("Ada Lovelace", "ada@example.org")


def test_init_refuses_what_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        init_repository(tmp_path / "x", "two..dots")
    assert caught.value.code == "bad-ref-name"
    (tmp_path / "file").write_text("x")
    with pytest.raises(SynError):
        init_repository(tmp_path / "file", "main")
    repo = init_repository(tmp_path / "y", "main")
    again = init_repository(tmp_path / "y", "main")
    assert (again.root, again.head()) == (repo.root, repo.head())


def test_nested_and_relative_alternates(tmp_path: Path) -> None:
    base = GitBox.new(tmp_path / "base")
    oid = base.git("hash-object", "-w", "--stdin", stdin="base\n")
    middle = GitBox.new(tmp_path / "middle")
    top = GitBox.new(tmp_path / 'to"p')
    (middle.path / ".git/objects/info/alternates").write_text(
        f"# borrowed\n{base.path}/.git/objects\n"
    )
    (top.path / ".git/objects/info/alternates").write_text("../../../middle/.git/objects\n")
    repo = open_repository(top.path)
    assert repo.store.blob(oid) == b"base\n"
    assert top.git("cat-file", "blob", oid) == "base"
    assert [a.detail for a in repo.alterations()] == sorted(
        [str(middle.path / ".git/objects"), str(base.path / ".git/objects")]
    )
