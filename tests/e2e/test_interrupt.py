"""Ctrl-C in the middle of long work: status 130, no process left, no half file."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from syn.services.sessions.images import record_items
from tests.bench.images import bodies
from tests.support.workspaces import Place, git, make_workspace

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/fd").exists(), reason="tells by /proc what a process is doing"
)
FACTS = 4000
_BODY = "word " * 120


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A workspace that takes seconds, beside small ones and an image."""
    folder = tmp_path_factory.mktemp("interrupt")
    place = make_workspace(folder, {"facts/a.md": "---\nid: a\n---\nx\n"})
    for number in range(FACTS):
        text = f"---\nid: n{number}\ntitle: Note {number}\n---\n{_BODY}[[n{number + 1}]]\n"
        (place.root / f"facts/n{number:04}.md").write_text(text)
    git(place, "add", "-A")
    record_items(place.root / "images/long", "bench", bodies(4000))
    (folder / "list.txt").write_text("ws\n" * 1 + "\n".join(f"w{n}" for n in range(40)))
    return place


def _children(pid: int) -> list[int]:
    try:
        return [int(c) for c in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _reads(pid: int, name: str) -> bool:
    """Whether a process has a file open whose path holds this."""
    try:
        return any(name in str(fd.readlink()) for fd in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def _pool(pid: int) -> bool:
    return len(_children(pid)) > 1


CASES: list[tuple[list[str], Callable[[int], bool]]] = [
    (["verify"], lambda pid: _reads(pid, "/facts")),
    (["verify", "--engine", "processes:2"], _pool),
    (["verify", "--incremental"], lambda pid: _reads(pid, "facts.new-")),
    (["reindex", "--full"], lambda pid: _reads(pid, "index.db.new-")),
    (["reindex", "--full", "--engine", "processes:2"], _pool),
    (["image", "verify", "images/long"], lambda pid: _reads(pid, "images/long")),
    (["fleet", "verify", "../list.txt", "--engine", "processes:2"], _pool),
]


@pytest.mark.parametrize(
    ("words", "busy"),
    CASES,
    ids=lambda v: "-".join(v) if v is not _pool and isinstance(v, list) else "",
)
def test_interrupted_work_leaves_nothing(
    place: Place, words: list[str], busy: Callable[[int], bool]
) -> None:
    before = _files(place)
    with subprocess.Popen(
        [sys.executable, "-m", "syn", *words],
        cwd=place.root,
        env=place.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        deadline = time.monotonic() + 60
        while not busy(process.pid):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, (out, err)
    assert "interrupted; nothing was concluded" in err
    assert "Traceback" not in err
    assert not _group_is_there(process.pid)
    assert _files(place) == before


def test_workers_end_when_their_owner_is_killed(place: Place) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "syn", "reindex", "--full", "--engine", "processes:2"],
        cwd=place.root,
        env=place.env,
        start_new_session=True,
    ) as process:
        while not _pool(process.pid):
            assert process.poll() is None
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while _group_is_there(process.pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _group_is_there(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def _files(place: Place) -> dict[str, bytes]:
    """What is in the workspace's own folders, and in git's for it."""
    found = {}
    for folder in (place.root / ".synapse", place.root / ".git/synapse"):
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                found[str(path)] = path.read_bytes()
    return found
