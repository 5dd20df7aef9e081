"""A commit killed while it holds git's locks: git is sound, and the next commit goes through."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.gitbox import GitBox
from tests.support.shared import ROOT

CHILD = """
import sys
from pathlib import Path
from syn.git.parse import Ident
from syn.git.repository import open_repository
from syn.git.write import commit_paths

root = Path(sys.argv[1])
who = Ident("Ada", "ada@example.org", 1_700_000_000)
(root / "facts/a.md").write_bytes(b"new\\n")
repo = open_repository(root)
commit_paths(repo, {b"facts/a.md": b"new\\n"}, "m", who, who, parent=repo.head().commit)
"""


def commit_in_child(box: GitBox, *before: str) -> int:
    """Run the commit in a process of its own; its exit status, negative for a signal."""
    command = [*before, sys.executable, "-c", CHILD, str(box.path)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False).returncode


@pytest.mark.parametrize("lock", ["index.lock", "refs/heads/main.lock"])
@pytest.mark.parametrize("call", ["link", "rename"])
def test_killed_at(tmp_path: Path, lock: str, call: str) -> None:
    strace = shutil.which("strace")
    if strace is None:
        pytest.skip("needs strace to kill a process at a system call")
    box = GitBox.new(tmp_path / "repo")
    old = box.commit("one", {"facts/a.md": "A\n", "other.txt": "o\n"})
    box.write("staged.txt", "s\n")
    box.git("add", "staged.txt")
    path = str(box.path / ".git" / lock)
    inject = f"inject={call}:signal=SIGKILL:when=1"
    trace = [
        strace,
        "-f",
        "-qq",
        "-o",
        "/dev/null",
        "-P",
        path,
        "-e",
        f"trace={call}",
        "-e",
        inject,
    ]
    assert commit_in_child(box, *trace) == -9
    checked = box.attempt("fsck", "--strict", "--no-dangling")
    assert (checked.returncode, checked.stderr) == (0, b"")
    # The signal comes before the call is carried out: at `rename` the lock is left behind.
    assert (box.path / ".git" / lock).exists() == (call == "rename")
    assert box.head() == old
    assert "D " not in box.git("status", "--porcelain")
    assert commit_in_child(box) == 0
    assert not list((box.path / ".git").rglob("*.lock"))
    assert box.git("show", "HEAD:facts/a.md") == "new"
    assert box.git("status", "--porcelain") == "A  staged.txt"
