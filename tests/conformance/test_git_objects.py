"""Reading objects and history: git is the judge of sound ones, and never of damaged ones."""

import hashlib
import zlib
from pathlib import Path

import pytest

from syn.errors import CannotError, SynError
from syn.git.history import ancestors, changed_modes, is_ancestor, walk
from syn.git.objects import MissingObjectError, ObjectMismatchError
from syn.git.packs import CorruptPackError
from syn.git.parse import object_id, tree_faults
from syn.git.repository import Repository, open_repository
from syn.git.snapshot import commit_snapshot
from tests.support.gitbox import GitBox


def history_box(path: Path) -> GitBox:
    """A small history: folders, a merge, a tag, an executable, a link."""
    box = GitBox.new(path)
    box.commit("one", {"facts/a.md": "A\n" * 50, "facts/deep/b.md": "B\n", "run.sh": "#!/bin/sh\n"})
    (box.path / "run.sh").chmod(0o755)
    (box.path / "link").symlink_to("facts/a.md")
    box.commit("two", {"facts/a.md": "A\n" * 50 + "more\n"})
    box.git("checkout", "-q", "-b", "side")
    box.commit("side", {"facts/side.md": "S\n"})
    box.git("checkout", "-q", "main")
    box.commit("three", {"facts/deep/b.md": None, "facts/deep/c.md": "C\n"})
    box.git("merge", "-q", "--no-edit", "side")
    box.git("tag", "-a", "-m", "the tag", "v1")
    box.clock += 60
    return box


def all_objects(box: GitBox) -> list[str]:
    """Every object's id that the repository holds."""
    listed = box.git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
    return listed.split()


def batch(box: GitBox, oids: list[str]) -> dict[str, tuple[str, bytes]]:
    """`git cat-file --batch`, parsed."""
    output = box.git_bytes("cat-file", "--batch", stdin="\n".join(oids))
    found: dict[str, tuple[str, bytes]] = {}
    while output:
        line, _, output = output.partition(b"\n")
        oid, kind, size = line.decode().split()
        found[oid], output = (kind, output[: int(size)]), output[int(size) + 1 :]
    return found


def loose_file(box: GitBox, oid: str) -> Path:
    """The file of a loose object, made writable."""
    path = box.path / ".git/objects" / oid[:2] / oid[2:]
    path.chmod(0o644)
    return path


@pytest.mark.parametrize("packed", [False, True])
def test_objects_are_those_git_reads(tmp_path: Path, packed: bool) -> None:
    box = history_box(tmp_path / "repo")
    if packed:
        box.git("repack", "-adq", "--depth=20")
    repo = open_repository(box.path)
    for oid, judged in batch(box, all_objects(box)).items():
        assert repo.store.read(oid) == judged


def test_multi_pack_index_and_commit_graph(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    box.git("repack", "-dq")
    box.commit("more", {"facts/m.md": "M\n"})
    box.git("repack", "-dq")
    box.git("multi-pack-index", "write")
    box.git("commit-graph", "write", "--reachable")
    repo = open_repository(box.path)
    for oid, judged in batch(box, all_objects(box)).items():
        assert repo.store.read(oid) == judged
    assert repo.alterations() == ()


def test_a_repack_beside_us_is_noticed(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    repo = open_repository(box.path)
    first, *others = all_objects(box)
    repo.store.read(first)
    box.git("repack", "-adq")
    box.git("prune-packed")
    for oid in others:
        repo.store.read(oid)
    box.commit("again", {"facts/again.md": "again\n"})
    box.git("gc", "-q", "--prune=now")
    for oid in all_objects(box):
        repo.store.read(oid)


def test_walk_agrees_with_rev_list(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    repo = open_repository(box.path)
    head = box.head()
    order = [commit.oid for commit in walk(repo.store, [head])]
    assert sorted(order) == sorted(box.git("rev-list", head).split())
    place = {oid: number for number, oid in enumerate(order)}
    for commit in walk(repo.store, [head]):
        assert all(place[parent] > place[commit.oid] for parent in commit.parents)
    assert {
        c.oid for c in walk(repo.store, [head], until=["".join(box.git("rev-parse", "side"))])
    } == set(box.git("rev-list", head, "^side").split())
    assert ancestors(repo.store, head) == set(order)


def test_changed_paths_agree_with_diff_tree(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    repo = open_repository(box.path)
    for commit in walk(repo.store, [box.head()]):
        for parent in commit.parents:
            judged = box.git_bytes("diff-tree", "-r", "-z", "--no-renames", parent, commit.oid)
            fields = judged.split(b"\0")[:-1]
            expected = [
                (
                    path,
                    *(
                        b"" if mode in {b":000000", b"000000"} else mode
                        for mode in meta.split()[:2]
                    ),
                )
                for meta, path in zip(fields[0::2], fields[1::2], strict=True)
            ]
            old, new = repo.store.commit(parent).tree, commit.tree
            found = [
                (c.path, b":" + c.old_mode if c.old_mode else b"", c.new_mode)
                for c in changed_modes(repo.store, old, new)
            ]
            assert found == expected


def test_names_agree_with_rev_parse(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    repo = open_repository(box.path)
    short = box.head()[:9]
    for name in (
        "HEAD",
        "@",
        "main",
        "side",
        "v1",
        "HEAD~1",
        "HEAD^2",
        "v1^{}",
        "HEAD^2~1",
        "HEAD~2^{commit}",
        "refs/heads/side",
        "heads/side",
        "@~",
        "@^",
        "HEAD^0",
        short,
        f"{short}~1",
    ):
        assert repo.resolve(name) == box.git("rev-parse", f"{name}^{{commit}}"), name
    for name in (
        "nothing",
        "HEAD~40",
        "HEAD^3",
        "v1:facts",
        "",
        "0" * 7,
        "--all",
        "HEAD^{tree}",
        "a..b",
    ):
        if name:
            with pytest.raises(CannotError if name == "0" * 40 else SynError) as caught:
                repo.resolve(name)
            assert caught.value.code == "unknown-ref", name


def test_replace_refs_and_grafts_change_nothing(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    repo = open_repository(box.path)
    head, first = box.head(), box.git("rev-list", "--max-parents=0", "HEAD")
    before = [c.oid for c in walk(repo.store, [head])]
    box.git("replace", "--graft", head)
    (box.path / ".git/info/grafts").write_text(f"{head}\n")
    assert box.git("rev-list", "--count", head) == "1"
    repo = open_repository(box.path)
    assert [c.oid for c in walk(repo.store, [head])] == before
    assert is_ancestor(repo.store, first, head) is True
    assert repo.resolve("HEAD~2") in before
    assert [(a.kind, a.detail) for a in repo.alterations()] == [("grafts", head), ("replace", head)]


def test_a_forged_commit_graph_is_reported(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    box.git("commit-graph", "write", "--reachable")
    path = box.path / ".git/objects/info/commit-graph"
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    count = int(box.git("rev-list", "--all", "--count"))
    chunk = {
        bytes(data[at : at + 4]): int.from_bytes(data[at + 4 : at + 12], "big")
        for at in range(8, 8 + 12 * data[6], 12)
    }
    head = box.head()
    ids = [data[chunk[b"OIDL"] + 20 * n : chunk[b"OIDL"] + 20 * n + 20].hex() for n in range(count)]
    row = chunk[b"CDAT"] + 36 * ids.index(head)
    data[row + 20 : row + 28] = (0x70000000).to_bytes(4, "big") * 2
    data[-20:] = hashlib.sha1(data[:-20]).digest()
    path.write_bytes(data)
    assert box.git("rev-list", "--count", head) == "1"
    repo = open_repository(box.path)
    assert len(list(walk(repo.store, [head]))) == count
    (found,) = repo.alterations()
    assert found.kind == "commit-graph"
    assert found.detail.startswith(f"{head}: expected parents ")


def test_shallow_clone_cannot_tell(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    first = box.git("rev-list", "--max-parents=0", "HEAD")
    clone = box.clone(tmp_path / "clone", "--depth=2")
    repo = open_repository(clone.path)
    assert repo.is_shallow
    head = clone.head()
    assert is_ancestor(repo.store, first, head, repo.shallow_commits()) is None
    with pytest.raises(MissingObjectError) as caught:
        list(walk(repo.store, [head], shallow=repo.shallow_commits()))
    assert caught.value.code == "shallow"
    missing: list[MissingObjectError] = []
    partial = {
        c.oid for c in walk(repo.store, [head], shallow=repo.shallow_commits(), missing=missing)
    }
    assert partial == set(clone.git("rev-list", head).split())
    assert {error.code for error in missing} == {"shallow"}
    with pytest.raises(MissingObjectError) as caught:
        repo.resolve("HEAD~3")
    assert caught.value.code == "shallow"
    assert {a.kind for a in repo.alterations()} == {"shallow"}


def test_shallow_boundary_whose_parents_are_here_is_no_end(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    head, first = box.head(), box.git("rev-list", "--max-parents=0", "HEAD")
    (box.path / ".git/shallow").write_text(f"{head}\n")
    assert box.git("rev-list", "--count", head) == "1"
    repo = open_repository(box.path)
    assert is_ancestor(repo.store, first, head, repo.shallow_commits()) is True


def test_a_swapped_loose_object_is_a_mismatch(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    oid = box.git("rev-parse", "HEAD:facts/a.md")
    loose_file(box, oid).write_bytes(zlib.compress(b"blob 6\0forged"))
    assert box.git_bytes("cat-file", "blob", oid) == b"forged"
    with pytest.raises(ObjectMismatchError, match=oid) as caught:
        open_repository(box.path).store.read(oid)
    assert caught.value.code == "object-mismatch"


def test_every_flip_and_truncation_of_a_loose_object_is_a_mismatch(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"a.md": "A fact that is long enough to be worth compressing. " * 3})
    oid = box.git("rev-parse", "HEAD:a.md")
    path = loose_file(box, oid)
    good = path.read_bytes()
    store = open_repository(box.path).store
    kind, data = store.read(oid)
    damaged = [good[:size] for size in range(len(good))]
    damaged += [
        good[:at] + bytes([good[at] ^ 1 << bit]) + good[at + 1 :]
        for at in range(len(good))
        for bit in (0, 3, 7)
    ]
    damaged += [
        good + b"\0",
        zlib.compress(b"blob 9\0short"),
        zlib.compress(b"blob 2\0longer"),
        zlib.compress(b"blob 06\0padded"),
        b"\0" * 40,
    ]
    same = 0
    for bad in damaged:
        path.write_bytes(bad)
        try:
            same += store.read(oid) == (kind, data)
        except ObjectMismatchError:
            continue
    # A bit of zlib's own header may change without changing what the stream says.
    assert same <= 3


def test_missing_and_foreign_ids(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    repo = open_repository(box.path)
    for oid in ("0" * 40, "1" * 40, "HEAD", "A" * 40, ""):
        with pytest.raises(MissingObjectError) as caught:
            repo.store.read(oid)
        assert caught.value.code == "missing-object"
    with pytest.raises(CannotError) as wrong:
        repo.store.commit(repo.store.commit(box.head()).tree)
    assert wrong.value.code == "wrong-type"


def test_a_good_loose_copy_heals_a_bad_pack(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    oid = box.git("rev-parse", "HEAD:facts/a.md")
    copy = loose_file(box, oid).read_bytes()
    box.git("repack", "-adq")
    damage_packs(box)
    store = open_repository(box.path).store
    with pytest.raises(ObjectMismatchError):
        store.read(oid)
    path = box.path / ".git/objects" / oid[:2] / oid[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(copy)
    assert object_id(*store.read(oid)) == oid


def damage_packs(box: GitBox) -> None:
    """Zero the middle of every pack."""
    for pack in (box.path / ".git/objects/pack").glob("*.pack"):
        data = pack.read_bytes()
        pack.chmod(0o644)
        pack.write_bytes(data[:12] + b"\0" * (len(data) - 32) + data[-20:])


@pytest.mark.parametrize("suffix", [".pack", ".idx", "multi-pack-index"])
def test_damaged_packs_never_end_the_process_or_pass(tmp_path: Path, suffix: str) -> None:
    box = history_box(tmp_path / "repo")
    box.git("repack", "-adq")
    if suffix == "multi-pack-index":
        box.git("multi-pack-index", "write")
    (path,) = (box.path / ".git/objects/pack").glob(f"*{suffix}")
    path.chmod(0o644)
    good = path.read_bytes()
    oids = all_objects(box)
    for at in range(0, len(good), len(good) // 40):
        flipped = good[:at] + bytes([good[at] ^ 1 << at % 8]) + good[at + 1 :]
        for bad in (flipped, good[:at]):
            path.write_bytes(bad)
            _read_everything(open_repository(box.path), oids)
    path.write_bytes(good)


def _read_everything(repo: Repository, oids: list[str]) -> None:
    for oid in oids:
        try:
            assert object_id(*repo.store.read(oid)) == oid
        except (ObjectMismatchError, CorruptPackError, MissingObjectError):
            continue


def test_a_forged_index_with_a_right_checksum_is_refused(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    box.git("repack", "-adq")
    (path,) = (box.path / ".git/objects/pack").glob("*.idx")
    path.chmod(0o644)
    data = bytearray(path.read_bytes())
    count = int.from_bytes(data[8 + 255 * 4 : 8 + 256 * 4], "big")
    offsets = 8 + 1024 + count * 24
    data[offsets : offsets + 4] = b"\xff\xff\xff\xff"
    data[-20:] = hashlib.sha1(data[:-20]).digest()
    path.write_bytes(data)
    with pytest.raises(CorruptPackError, match="offset outside its own table"):
        open_repository(box.path).store.read(box.git("rev-parse", "HEAD"))


HOSTILE_TREES = {
    "dotdot": [b"100644 ..\0"],
    "dot": [b"100644 .\0"],
    "git": [b"100644 .git\0"],
    "twice": [b"100644 a\0", b"100644 a\0"],
    "unsorted": [b"100644 b\0", b"100644 a\0"],
    "zero-padded": [b"040000 a\0"],
    "slash": [b"100644 a/b\0"],
}


@pytest.mark.parametrize("name", sorted(HOSTILE_TREES))
def test_malformed_trees_are_listed_and_named(tmp_path: Path, name: str) -> None:
    box = GitBox.new(tmp_path / "repo")
    blob = box.git("hash-object", "-w", "--stdin", stdin="x\n")
    inner = box.git("mktree", stdin=f"100644 blob {blob}\tx\n")
    target = bytes.fromhex(inner if name == "zero-padded" else blob)
    raw = b"".join(entry + target for entry in HOSTILE_TREES[name])
    tree = box.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw)
    commit = box.git("commit-tree", tree, "-m", "hostile")
    assert box.attempt("fsck", "--strict").stderr + box.attempt("fsck", "--strict").stdout
    repo = open_repository(box.path)
    assert tree_faults(repo.store.tree(tree), repo.store.raw_tree(bytes.fromhex(tree)))
    snapshot = commit_snapshot(repo, commit)
    paths = [entry.path for entry in snapshot.entries()]
    assert paths == sorted(paths)
    assert paths
    assert [(w.code, w.path) for w in snapshot.warnings] == [("malformed-tree", ".")]


def test_bare_repository_and_odd_heads(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    bare = box.clone(tmp_path / "bare.git", "--bare")
    repo = open_repository(bare.path)
    assert repo.root is None
    assert [e.path for e in commit_snapshot(repo, bare.head()).entries()]
    for content, code in ((b"", "corrupt-head"), (b"\0" * 41, "corrupt-head")):
        (bare.path / "HEAD").write_bytes(content)
        with pytest.raises(CannotError) as caught:
            open_repository(bare.path).head()
        assert caught.value.code == code
    (bare.path / "HEAD").write_bytes(b"ref: refs/heads/none\n")
    assert open_repository(bare.path).head().commit is None
    with pytest.raises(CannotError) as nothing:
        open_repository(tmp_path)
    assert nothing.value.code == "not-a-repository"


def test_hostile_configuration_is_not_run(tmp_path: Path) -> None:
    box = history_box(tmp_path / "repo")
    marker = tmp_path / "ran"
    for name in (
        "core.fsmonitor",
        "core.sshCommand",
        "gpg.ssh.program",
        "core.pager",
        "diff.external",
        "alias.status",
    ):
        box.git("config", name, f"!touch {marker}")
    hooks = box.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "reference-transaction", "pre-commit", "post-commit"):
        (hooks / hook).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (hooks / hook).chmod(0o755)
    repo = open_repository(box.path)
    assert list(commit_snapshot(repo, box.head()).entries())
    assert not marker.exists()
