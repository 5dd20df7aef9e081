"""Commits of own paths: `git fsck --strict`, `git status` and ssh-keygen are the judges."""

import multiprocessing
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syn.canon.digest import sha256
from syn.errors import RefusedError, SynError
from syn.git.locks import Guarded, LockedError, check_lock
from syn.git.newobjects import MOST_LOOSE, NewObjects
from syn.git.objects import ObjectMismatchError
from syn.git.parse import Ident, blob_id
from syn.git.refs import RefMovedError
from syn.git.repository import open_repository
from syn.git.write import (
    commit_paths,
    forget_blobs,
    init_repository,
    keep_blobs,
    kept_blob,
)
from tests.support.gitbox import GitBox

ADA = Ident("Ada Lovelace", "ada@example.org", 1_700_000_000, "+0130")
BEN = Ident("Ben", "ben@example.org", 1_700_000_060, "-0500")


def sound(box: GitBox) -> None:
    """Git finds nothing to say about the repository."""
    checked = box.attempt("fsck", "--strict", "--full", "--no-dangling")
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def write_and_commit(
    box: GitBox, files: dict[str, bytes | None], message: str = "syn: change"
) -> str:
    """What a service does: the files first, then their commit."""
    repo = open_repository(box.path)
    for path, data in files.items():
        if data is None:
            (box.path / path).unlink()
        else:
            box.write(path, data)
    changes = {path.encode(): data for path, data in files.items()}
    return commit_paths(repo, changes, message, ADA, BEN, parent=repo.head().commit)


def test_first_commit_of_a_new_repository(tmp_path: Path) -> None:
    repo = init_repository(tmp_path / "new" / "repo", "trunk")
    assert repo.head().branch == "trunk"
    (tmp_path / "new/repo.home").mkdir()
    box = GitBox(tmp_path / "new/repo", tmp_path / "new/repo.home")
    commit = write_and_commit(
        box, {"facts/a.md": b"A\n", "synapse.toml": b"format = 1\n"}, "one\n\nWhy.\n"
    )
    sound(box)
    assert box.git("status", "--porcelain") == ""
    shown = box.git("log", "-1", "--format=%H|%an|%ae|%ai|%cn|%ci|%s|%b").rstrip()
    who = "Ada Lovelace|ada@example.org|2023-11-14 23:43:20 +0130|Ben|2023-11-14 17:14:20 -0500"
    assert shown == f"{commit}|{who}|one|Why."
    assert box.git("reflog", "--format=%gs") == "commit: one"


def test_unrelated_changes_stay_as_they_are(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit(
        "one",
        {
            "facts/a.md": "A\n",
            "staged.txt": "s\n",
            "dirty.txt": "d\n",
            "gone.txt": "g\n",
            "both.txt": "b\n",
        },
    )
    box.write("staged.txt", "staged\n")
    box.write("both.txt", "staged\n")
    box.write("new-staged.txt", "n\n")
    box.git("add", "staged.txt", "both.txt", "new-staged.txt")
    box.write("both.txt", "and dirty\n")
    box.write("dirty.txt", "dirty\n")
    box.write("untracked.txt", "u\n")
    box.git("rm", "-q", "--cached", "gone.txt")
    before = (box.git("status", "--porcelain=v2"), box.git("diff"), box.git("diff", "--cached"))
    write_and_commit(box, {"facts/a.md": b"A2\n", "facts/new/b.md": b"B\n"})
    after = (box.git("status", "--porcelain=v2"), box.git("diff"), box.git("diff", "--cached"))
    assert after == before
    assert box.git("show", "--format=", "--name-status") == "M\tfacts/a.md\nA\tfacts/new/b.md"
    sound(box)


@pytest.mark.parametrize("form", ["2", "3", "4", "split", "cache-tree", "untracked-cache"])
def test_every_form_of_the_index(tmp_path: Path, form: str) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {f"facts/{n % 5}/note-{n}.md": f"{n}\n" for n in range(30)})
    if form.isdigit():
        box.git("update-index", f"--index-version={form}")
    if form == "3":
        box.write("later.md", "later\n")
        box.git("add", "--intent-to-add", "later.md")
    if form == "split":
        box.git("update-index", "--split-index")
    if form == "untracked-cache":
        box.git("config", "core.untrackedCache", "true")
        box.git("update-index", "--force-untracked-cache")
        box.write("untracked/x.md", "x")
        box.git("status")
    if form == "cache-tree":
        box.git("read-tree", "HEAD")
        box.git("write-tree")
        box.git("update-index", "--refresh")
    box.write("facts/1/note-1.md", "staged\n")
    box.git("add", "facts/1/note-1.md")
    cached = box.git("diff", "--cached")
    write_and_commit(
        box,
        {"facts/2/note-2.md": b"changed\n", "facts/3/note-3.md": None, "facts/9/new.md": b"9\n"},
    )
    assert box.git("diff", "--cached") == cached
    untracked = {"3": [" A later.md"], "untracked-cache": ["?? untracked/"]}.get(form, [])
    assert box.git("status", "--porcelain").splitlines() == sorted(
        ["M  facts/1/note-1.md", *untracked], key=lambda line: (line.startswith("??"), line[3:])
    )
    tree = box.git("write-tree")
    box.git("commit", "-q", "-m", "theirs")
    assert box.git("rev-parse", "HEAD^{tree}") == tree
    sound(box)


def test_staged_times_match_the_file(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"facts/a.md": "A\n"})
    write_and_commit(box, {"facts/a.md": b"A2\n", "facts/b.md": b"B\n"})
    # diff-files asks the index alone: an entry without the file's times would show.
    assert box.git("diff-files") == ""
    repo = open_repository(box.path)
    head = repo.head().commit
    box.write("facts/a.md", "edited meanwhile\n")
    commit_paths(repo, {b"facts/a.md": b"A3\n"}, "x", ADA, BEN, parent=head)
    assert box.git("status", "--porcelain") == " M facts/a.md"


def test_modes_links_and_folders(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.write("run.sh", "#!/bin/sh\n").chmod(0o755)
    (box.path / "link.md").symlink_to("run.sh")
    box.commit("one", {"dir/x.md": "X\n", "file": "F\n"})
    write_and_commit(box, {"run.sh": b"#!/bin/sh\ntrue\n"})
    assert box.git("ls-tree", "HEAD", "run.sh").startswith("100755 ")
    assert box.git("status", "--porcelain") == ""
    repo = open_repository(box.path)
    head = repo.head().commit
    refused: list[dict[bytes, bytes | None]] = [
        {b"link.md": b"x"},
        {b"dir": b"x"},
        {b"file/x.md": b"x"},
        {b"../x": b"x"},
        {b".git/config": b"x"},
        {b"a/.GIT/x": b"x"},
        {b"": b"x"},
        {b"a//b": b"x"},
        {b"/a": b"x"},
        {b"new": b"x", b"new/below": b"y"},
        {b"a\0b": b"x"},
    ]
    for changes in refused:
        with pytest.raises(RefusedError) as caught:
            commit_paths(repo, changes, "x", ADA, BEN, parent=head)
        assert caught.value.code == "path-refused"
    assert box.head() == head
    assert box.git("status", "--porcelain") == ""
    sound(box)


def test_removing_the_last_file_of_a_folder(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"a/b/c.md": "C\n", "z.md": "Z\n"})
    write_and_commit(box, {"a/b/c.md": None})
    assert box.git("ls-tree", "-r", "--name-only", "HEAD") == "z.md"
    write_and_commit(box, {"z.md": None})
    assert box.git("rev-parse", "HEAD^{tree}") == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
    assert box.git("status", "--porcelain") == ""
    sound(box)


def test_nothing_to_commit_moves_nothing(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    head = box.commit("one", {"a.md": "A\n"})
    assert write_and_commit(box, {"a.md": b"A\n"}) == head
    assert box.head() == head


def test_linked_work_tree_detached_and_bare(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    first = box.commit("one", {"a.md": "A\n"})
    box.git("worktree", "add", "-q", str(tmp_path / "wt"), "-b", "side")
    linked = box.at(tmp_path / "wt")
    second = write_and_commit(linked, {"a.md": b"side\n"})
    assert (box.head(), linked.head()) == (first, second)
    assert box.git("status", "--porcelain") == linked.git("status", "--porcelain") == ""
    assert linked.git("reflog", "-1", "--format=%H %gs") == f"{second} commit: syn: change"
    linked.git("checkout", "-q", "--detach")
    third = write_and_commit(linked, {"a.md": b"detached\n"})
    assert linked.head() == third
    assert box.git("rev-parse", "side") == second
    bare = box.clone(tmp_path / "bare.git", "--bare")
    repo = open_repository(bare.path)
    fourth = commit_paths(repo, {b"b.md": b"B\n"}, "bare", ADA, BEN, parent=first)
    assert bare.head() == fourth
    for each in (box, linked, bare):
        sound(each)


def test_packed_and_slashed_branches(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo", branch="team/main")
    box.commit("one", {"a.md": "A\n"})
    box.git("pack-refs", "--all")
    assert not (box.path / ".git/refs/heads/team/main").exists()
    commit = write_and_commit(box, {"a.md": b"A2\n"})
    assert box.git("rev-parse", "team/main") == commit
    box.git("checkout", "-q", "--orphan", "team")
    with pytest.raises(RefusedError) as caught:
        write_and_commit(box, {"a.md": b"A3\n"})
    assert caught.value.code == "ref-conflict"
    box.git("checkout", "-q", "-f", "team/main")
    box.git("checkout", "-q", "-b", b"odd\xb1")
    commit = write_and_commit(box, {"a.md": b"A4\n"})
    assert box.git("rev-parse", b"odd\xb1") == commit == box.head()
    sound(box)


def test_a_moved_head_is_refused(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    first = box.commit("one", {"a.md": "A\n"})
    box.commit("two", {"a.md": "B\n"})
    for parent in (first, None):
        with pytest.raises(RefMovedError):
            commit_paths(open_repository(box.path), {b"a.md": b"x"}, "x", ADA, BEN, parent=parent)
    assert box.git("status", "--porcelain") == ""


def test_an_unresolved_merge_keeps_its_conflicts(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"a.txt": "a\n", "facts/f.md": "F\n"})
    box.git("checkout", "-q", "-b", "side")
    box.commit("side", {"a.txt": "side\n"})
    box.git("checkout", "-q", "main")
    box.commit("main", {"a.txt": "main\n"})
    assert box.attempt("merge", "side").returncode == 1
    write_and_commit(box, {"facts/f.md": b"F2\n"})
    assert box.git("ls-files", "-u").count("\n") == 2
    assert box.git("status", "--porcelain") == "UU a.txt"
    box.write("a.txt", "both\n")
    box.git("commit", "-qam", "merged")
    assert box.git("show", "HEAD:facts/f.md") == "F2"
    sound(box)


def test_no_hook_or_program_is_run(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"a.md": "A\n"})
    marker = tmp_path / "ran"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    for hook in (
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
        "post-index-change",
    ):
        (hooks / hook).write_text(f"#!/bin/sh\ntouch {marker}\n")
        (hooks / hook).chmod(0o755)
    template = tmp_path / "template"
    shutil.copytree(hooks, template / "hooks")
    for name, value in {
        "core.hooksPath": str(hooks),
        "core.fsmonitor": str(hooks / "pre-commit"),
        "init.templateDir": str(template),
        "commit.gpgSign": "true",
        "gpg.program": str(hooks / "pre-commit"),
        "core.autocrlf": "true",
        "filter.x.clean": str(hooks / "pre-commit"),
    }.items():
        box.git("config", name, value)
    repo = open_repository(box.path)
    commit = commit_paths(repo, {b"a.md": b"A2\r\n"}, "x", ADA, BEN, parent=repo.head().commit)
    assert not marker.exists()
    # The bytes are the caller's: no conversion of ours or of git's touches them.
    assert repo.store.blob(box.git("rev-parse", f"{commit}:a.md")) == b"A2\r\n"


def test_signed_commit_is_verified_by_git(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"a.md": "A\n"})
    key = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    signers = tmp_path / "signers"
    signers.write_text(f"ben@example.org {key.with_suffix('.pub').read_text()}")

    def sign(payload: bytes) -> str:
        done = subprocess.run(
            ["ssh-keygen", "-q", "-Y", "sign", "-n", "git", "-f", key],
            input=payload,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    repo = open_repository(box.path)
    oid = commit_paths(
        repo, {b"a.md": b"A2\n"}, "s\n\nlong\n", ADA, BEN, parent=repo.head().commit, sign=sign
    )
    box.git("config", "gpg.ssh.allowedSignersFile", str(signers))
    assert b'Good "git" signature for ben@example.org' in box.attempt("verify-commit", oid).stderr
    commit = repo.store.commit(oid)
    assert [name for name, _ in commit.signatures] == ["gpgsig"]
    assert commit.signatures[0][1].startswith(b"-----BEGIN SSH SIGNATURE-----\n")
    checked = subprocess.run(
        [
            "ssh-keygen",
            "-Y",
            "verify",
            "-n",
            "git",
            "-f",
            signers,
            "-I",
            "ben@example.org",
            "-s",
            _file(tmp_path, commit.signatures[0][1]),
        ],
        input=commit.payload_without_sig,
        capture_output=True,
        check=False,
    )
    assert checked.returncode == 0
    sound(box)


def _file(folder: Path, data: bytes) -> Path:
    path = folder / "signature"
    path.write_bytes(data + b"\n")
    return path


def test_a_foreign_lock_is_named_and_left(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    head = box.commit("one", {"a.md": "A\n"})
    for name in ("index.lock", "HEAD.lock", "refs/heads/main.lock"):
        lock = box.path / ".git" / name
        with lock.open("w"):
            with pytest.raises(LockedError, match=f"process {os.getpid()} ") as caught:
                write_and_commit(box, {"a.md": b"A2\n"})
            assert str(lock) in caught.value.message
            assert caught.value.code == "locked"
        assert lock.exists()
        lock.unlink()
    assert box.head() == head


def test_our_own_stale_lock_is_removed(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"a.md": "A\n"})
    own = box.path / ".git/synapse/own-0123"
    own.parent.mkdir(exist_ok=True)
    own.write_bytes(b"half an index")
    os.link(own, box.path / ".git/index.lock")
    write_and_commit(box, {"a.md": b"A2\n"})
    assert not list((box.path / ".git").rglob("*.lock"))
    assert not list((box.path / ".git/synapse").iterdir())
    guarded = Guarded(box.path / ".git/index", box.path / ".git/synapse")
    check_lock(guarded)
    sound(box)


def _writer(path: str, number: int, done: "multiprocessing.Queue[int]") -> None:
    made = 0
    for round_ in range(12):
        repo = open_repository(Path(path))
        name = f"facts/{number}-{round_}.md".encode()
        try:
            commit_paths(repo, {name: name}, "c", ADA, BEN, parent=repo.head().commit)
            made += 1
        except SynError as error:
            assert error.code in {"ref-moved", "locked", "index-moved"}, error  # noqa: PT017 - in a child process
    done.put(made)


def test_writers_beside_each_other_lose_nothing(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"a.md": "A\n"})
    context = multiprocessing.get_context("fork")
    done: multiprocessing.Queue[int] = context.Queue()
    writers = [context.Process(target=_writer, args=(str(box.path), n, done)) for n in range(3)]
    for writer in writers:
        writer.start()
    made = sum(done.get(timeout=60) for _ in writers)
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0]
    assert int(box.git("rev-list", "--count", "HEAD")) == made + 1
    assert len(box.git("ls-tree", "-r", "--name-only", "HEAD").splitlines()) == made + 1
    assert not list((box.path / ".git").rglob("*.lock"))
    sound(box)


def test_a_damaged_object_is_not_built_upon(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    head = box.commit("one", {"a.md": "A\n"})
    oid = blob_id(b"new\n")
    path = box.path / ".git/objects" / oid[:2] / oid[2:]
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"garbage")
    with pytest.raises(ObjectMismatchError):
        write_and_commit(box, {"a.md": b"new\n"})
    assert box.head() == head
    assert box.git("diff", "--cached") == ""


def test_kept_bytes_are_found_and_survive_gc(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"a.md": "A\n"})
    repo = open_repository(box.path)
    kept = [f"old version {n}\n".encode() for n in range(20)]
    keep_blobs(repo, kept[:10])
    keep_blobs(repo, kept[5:])
    keep_blobs(repo, [])
    box.git("gc", "-q", "--prune=now")
    repo = open_repository(box.path)
    assert [kept_blob(repo, sha256(data)) for data in kept] == kept
    assert kept_blob(repo, sha256(b"other")) is None
    assert kept_blob(repo, "not a digest") is None
    forget_blobs(repo, [sha256(kept[3])])
    assert kept_blob(repo, sha256(kept[3])) is None
    assert kept_blob(repo, sha256(kept[4])) == kept[4]
    sound(box)
    assert box.git("status", "--porcelain") == ""
    assert box.git("log", "--all", "--format=%s") == "one"
    forget_blobs(repo, [sha256(data) for data in kept])
    sound(box)


def test_many_objects_become_one_sound_pack(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"a.md": "A\n"})
    big = bytes(range(256)) * 800
    files: dict[str, bytes | None] = {
        f"facts/{n % 9}/{n}.md": b"%d\n" % n * (n % 50) for n in range(200)
    }
    write_and_commit(box, files | {"big.md": big, "empty.md": b""})
    sound(box)
    assert box.git("status", "--porcelain") == ""
    (pack,) = (box.path / ".git/objects/pack").glob("*.pack")
    assert box.git("verify-pack", str(pack)) == ""
    assert (box.path / "big.md").read_bytes() == box.git_bytes("cat-file", "blob", "HEAD:big.md")
    before = len(list((box.path / ".git/objects/pack").iterdir()))
    write_and_commit(box, {**files, "one-more.md": b"x"})
    assert len(list((box.path / ".git/objects/pack").iterdir())) == before
    repo = open_repository(box.path)
    new = NewObjects()
    assert [new.add("blob", data) for data in (b"A\n", big)] == [blob_id(b"A\n"), blob_id(big)]
    new.write(repo)
    sound(box)


@pytest.mark.parametrize("count", [MOST_LOOSE, MOST_LOOSE + 1])
def test_loose_objects_of_others_are_made_durable(
    tmp_path: Path, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few by an fsync each, many by one pack that holds them as well."""
    box = GitBox.new(tmp_path / "repo")
    bodies = [b"body %d\n" % number for number in range(count)]
    for number, body in enumerate(bodies):
        box.write(f"{number}.md", body)
    box.git("add", "-A")
    box.git("commit", "-q", "-m", "loose")
    synced: list[int] = []
    real = os.fsync

    def fsync(file: int) -> None:
        synced.append(file)
        real(file)

    monkeypatch.setattr(os, "fsync", fsync)
    new = NewObjects()
    for body in bodies:
        new.add("blob", body)
    new.write(open_repository(box.path))
    packs = list((box.path / ".git/objects/pack").glob("*.pack"))
    assert (len(synced) >= count, len(packs)) == (count == MOST_LOOSE, count > MOST_LOOSE)
    sound(box)


_path = st.lists(st.sampled_from([b"a", b"b", b"a.md", b"\xff", b"z z"]), min_size=1, max_size=3)
_changes = st.dictionaries(
    _path.map(b"/".join), st.none() | st.sampled_from([b"", b"1\n", b"2\n"]), min_size=1, max_size=4
)


@settings(
    deadline=None, max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(_changes, min_size=1, max_size=4))
def test_any_changes(
    tmp_path_factory: pytest.TempPathFactory, rounds: list[dict[bytes, bytes | None]]
) -> None:
    box = GitBox.new(tmp_path_factory.mktemp("any") / "repo")
    box.commit("one", {"keep.md": "K\n"})
    repo = open_repository(box.path)
    model: dict[bytes, bytes] = {b"keep.md": b"K\n"}
    for changes in rounds:
        head = repo.head().commit
        try:
            commit_paths(repo, changes, "c", ADA, BEN, parent=head)
        except RefusedError as error:
            assert error.code in {"path-refused", "path-conflict"}  # noqa: PT017 - either is right
            assert repo.head().commit == head
            continue
        for path, data in changes.items():
            model.pop(path, None)
            if data is not None:
                model[path] = data
        listed = box.git_bytes("ls-tree", "-r", "-z", "HEAD").split(b"\0")[:-1]
        assert {line.split(b"\t", 1)[1]: line.split()[2].decode() for line in listed} == {
            path: blob_id(data) for path, data in model.items()
        }
        assert box.git("diff", "--cached") == ""
    sound(box)
