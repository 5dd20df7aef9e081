"""`syn watch` in a process of its own: what it tells, what it survives, how it ends."""

import json
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from syn.errors import CannotError
from syn.services.doors import watching
from syn.services.doors.watching import Pace, Watcher
from tests.support.workspaces import Place, git, make_workspace

pytest.importorskip("watchfiles")
PATIENCE = 90.0


class Watch:
    """A running watch; its lines are read by a thread."""

    def __init__(self, place: Place, *words: str) -> None:
        command = ["watch", "--json", "--debounce", "0.1", *words]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "syn", *command],
            cwd=place.root,
            env=place.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def until(self, kind: str) -> Any:
        """The next event of a kind; others are passed over."""
        end = monotonic() + PATIENCE
        seen = []
        while monotonic() < end:
            try:
                event = json.loads(self._lines.get(timeout=0.2))
            except queue.Empty:
                continue
            seen.append(event)
            if event["event"] == kind:
                return event
        pytest.fail(f"no {kind}, got {seen}")

    def stop(self) -> tuple[int, str]:
        """Interrupt it as Ctrl-C does; its status and what it said on stderr."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        status = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        assert self.process.stderr is not None
        assert self.process.stdout is not None
        with self.process.stderr as stderr, self.process.stdout:
            return status, stderr.read().decode()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


@pytest.fixture
def watch(place: Place) -> Iterator[Watch]:
    found = Watch(place, "--scrub-budget", "0")
    yield found
    found.stop()


def test_the_index_follows_the_files_and_what_is_wrong_is_told_once(
    place: Place, watch: Watch
) -> None:
    assert watch.until("watching")["branch"] == "main"
    fact = place.root / "facts/limit.md"
    before = fact.read_bytes()
    watch.until("reindexed")
    fact.write_text("---\nid: limit\n---\nThree people.\n")
    assert watch.until("reindexed")["read"] == 1
    fact.write_text("---\nid: limit\nid: limit\n---\n")
    broken = watch.until("unreadable")
    assert (broken["path"], broken["line"], broken["code"]) == (
        "facts/limit.md",
        3,
        "duplicate-key",
    )
    fact.write_bytes(before)
    assert watch.until("readable")["path"] == "facts/limit.md"
    (place.root / "facts/new.md").write_text("new\n")
    assert watch.until("new")["path"] == "facts/new.md"
    (place.root / "facts/plain.md").unlink()
    assert watch.until("reindexed")["removed"] == 1


def test_it_survives_a_broken_configuration_an_overwritten_index_and_another_branch(
    place: Place, watch: Watch
) -> None:
    watch.until("reindexed")
    config = place.root / "synapse.toml"
    before = config.read_text()
    config.write_text("format = [\n")
    error = watch.until("error")
    assert error["code"]
    assert error["remedy"] is not None
    config.write_text(before)
    (place.root / ".synapse/index.db").write_bytes(b"not a database")
    (place.root / "facts/limit.md").write_text("---\nid: limit\n---\nOther.\n")
    assert watch.until("reindexed")["mode"] == "full"
    git(place, "checkout", "-q", "facts/limit.md")
    watch.until("reindexed")
    git(place, "checkout", "-q", "-b", "other")
    assert watch.until("branch")["to"] == "other"
    git(place, "rm", "-q", "facts/plain.md")
    git(place, "commit", "-q", "-m", "gone")
    watch.until("reindexed")
    git(place, "checkout", "-q", "main")
    assert watch.until("branch")["to"] == "main"


def test_quiet_times_are_used_to_patrol(place: Place) -> None:
    (place.root / "facts/limit.md").write_text("---\nid: limit\nid: x\n---\n")
    watch = Watch(place, "--quiet", "0.3", "--scrub-budget", "5")
    try:
        assert watch.until("scrubbed")["checked"] > 4
        assert watch.until("fault")["path"] == "facts/limit.md"
    finally:
        status, said = watch.stop()
    assert status == 130
    assert "interrupted" in said
    assert "Traceback" not in said


def test_where_there_is_no_workspace_it_ends_at_once(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "syn", "watch"],
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 3
    assert b"syn init" in done.stderr


def test_an_error_is_told_once_and_tried_again(place: Place) -> None:
    failing = [True]

    def opened() -> Any:
        if failing[0]:
            raise CannotError("locked", "somebody has it", "wait")
        return place.open()

    watcher = Watcher(opened, Pace(scrub=0))
    kinds = [event.kind for event in watcher.start(place.open())]
    assert kinds == ["watching", "reindexed"]
    assert [event.detail["code"] for event in watcher.changed([])] == ["locked"]
    assert [event.kind for event in watcher.tick()] == []
    failing[0] = False
    (place.root / "facts/limit.md").write_text("---\nid: limit\n---\nOther.\n")
    assert [event.kind for event in watcher.tick()] == ["reindexed"]


def test_without_the_extra_it_says_what_to_install(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(CannotError) as caught:
        next(watching.batches(place.open(), 0.1, 0.1))
    assert caught.value.code == "no-watchfiles"
    assert "synapse-memory[watch]" in caught.value.remedy
