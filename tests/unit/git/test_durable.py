"""Durable files: whole or not at all, and never through a link."""

import os
import stat
from pathlib import Path

import pytest

from syn.errors import CannotError, RefusedError
from syn.git import durable
from syn.git.durable import FileError, Folders, LinkedPathError, UnsafePathError


def test_replace_makes_folders_and_keeps_the_mode(tmp_path: Path) -> None:
    durable.replace(tmp_path, b"a/b/c.md", b"one")
    path = tmp_path / "a/b/c.md"
    assert path.read_bytes() == b"one"
    path.chmod(0o751)
    durable.replace(tmp_path, b"a/b/c.md", b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert [p.name for p in path.parent.iterdir()] == ["c.md"]


def test_new_files_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        durable.replace(tmp_path, b"new.md", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new.md").stat().st_mode) == 0o640


def test_append_and_its_condition(tmp_path: Path) -> None:
    durable.append(tmp_path, b"l/1.jsonl", b"one\n", at=0)
    durable.append(tmp_path, b"l/1.jsonl", b"two\n", at=4)
    with pytest.raises(RefusedError) as caught:
        durable.append(tmp_path, b"l/1.jsonl", b"late\n", at=4)
    assert caught.value.code == "file-moved-on"
    assert durable.read(tmp_path, b"l/1.jsonl") == b"one\ntwo\n"


def test_remove_and_sweep(tmp_path: Path) -> None:
    durable.replace(tmp_path, b"a.md", b"x")
    durable.remove(tmp_path, b"a.md")
    durable.remove(tmp_path, b"a.md")
    durable.remove(tmp_path, b"no/folder/a.md")
    assert not (tmp_path / "no").exists()
    left = tmp_path / (durable.TEMPORARY_PREFIX + b"0123").decode()
    left.write_bytes(b"half")
    (tmp_path / "kept.md").write_bytes(b"x")
    assert durable.sweep(tmp_path, b"") == (durable.TEMPORARY_PREFIX + b"0123",)
    assert [p.name for p in tmp_path.iterdir()] == ["kept.md"]
    assert durable.sweep(tmp_path, b"nothing") == ()


@pytest.mark.parametrize(
    "path", [b"", b"..", b"a/../b", b"/etc/x", b"a//b", b"a/.", b"a\0b", b"./a"]
)
def test_unsafe_paths_are_refused(tmp_path: Path, path: bytes) -> None:
    for call in (
        lambda: durable.replace(tmp_path, path, b"x"),
        lambda: durable.append(tmp_path, path, b"x"),
        lambda: durable.remove(tmp_path, path),
        lambda: durable.read(tmp_path, path),
    ):
        with pytest.raises(UnsafePathError):
            call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("place", ["file", "folder", "above"])
def test_links_are_never_followed(tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    (outside / "d").mkdir(parents=True)
    (outside / "d/a.md").write_bytes(b"theirs")
    root = tmp_path / "root"
    root.mkdir()
    if place == "file":
        (root / "d").mkdir()
        (root / "d/a.md").symlink_to(outside / "d/a.md")
    elif place == "folder":
        (root / "d").symlink_to(outside / "d")
    else:
        (root / "x").symlink_to(outside)
    path = b"x/d/a.md" if place == "above" else b"d/a.md"
    for call in (
        lambda: durable.replace(root, path, b"mine"),
        lambda: durable.append(root, path, b"mine"),
        lambda: durable.read(root, path),
    ):
        with pytest.raises(LinkedPathError):
            call()
    if place != "file":
        with pytest.raises(LinkedPathError):
            durable.remove(root, path)
    assert (outside / "d/a.md").read_bytes() == b"theirs"
    assert len(list((outside / "d").iterdir())) == 1


def test_the_root_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    durable.replace(tmp_path / "link", b"a.md", b"x")
    assert (tmp_path / "real/a.md").read_bytes() == b"x"


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    for name, code in (
        (b"folder", "cannot-read"),
        (b"pipe", "cannot-read"),
        (b"none", "missing-file"),
    ):
        with pytest.raises(FileError) as caught:
            durable.read(tmp_path, name)
        assert caught.value.code == code
    with pytest.raises(CannotError):
        durable.append(tmp_path, b"folder", b"x")
    with pytest.raises(LinkedPathError):
        durable.replace(tmp_path, b"folder", b"x")
    with pytest.raises(LinkedPathError):
        durable.replace(tmp_path, b"pipe/below", b"x")


def test_a_folder_replaced_meanwhile_is_found_again(tmp_path: Path) -> None:
    durable.replace(tmp_path, b"d/a.md", b"one")
    with Folders(tmp_path) as folders:
        assert durable.read_file(folders, b"d/a.md") == b"one"
        (tmp_path / "d/a.md").unlink()
        (tmp_path / "d").rmdir()
        durable.replace(tmp_path, b"d/a.md", b"two")
        assert durable.read_file(folders, b"d/a.md") == b"two"
        durable.replace(tmp_path, b"d/e/f.md", b"deep")
        assert durable.read_file(folders, b"d/e/f.md") == b"deep"
        with durable.open_file(folders, b"d/a.md") as file:
            assert file.read() == b"two"


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    # The device is no regular file: it is refused before a byte is written.
    with pytest.raises(LinkedPathError):
        durable.replace(Path("/dev"), b"full", b"x")
