"""Beside git's own housekeeping: a lock that is held for an instant, a folder that goes away."""

import contextlib
import threading
import time
from pathlib import Path

import pygit2

from syn.git.parse import object_id
from syn.git.repository import open_repository
from syn.git.write import write_object
from syn.services.writing.changes import Add, NewFact
from syn.services.writing.writes import Terms, write
from tests.fault.together import run, settle
from tests.support.workspaces import make_workspace


def test_a_lock_that_git_holds_for_an_instant_is_waited_for(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    lock = place.root / ".git/refs/heads/main.lock"
    lock.write_bytes(b"")
    release = threading.Timer(0.3, lock.unlink)
    release.start()
    write(place.open(), [Add(NewFact(title="Beside"))], Terms(), lambda _: None)
    release.join()
    assert (place.root / "facts/beside.md").exists()


def test_folders_that_go_away_while_objects_are_written(tmp_path: Path) -> None:
    pygit2.init_repository(str(tmp_path / "r"))
    repository = open_repository(tmp_path / "r")
    objects = repository.store.folders[0]
    written = threading.Event()

    def tidy_up() -> None:
        """As git gc does: a folder without objects is taken away."""
        while not written.is_set():
            for folder in objects.iterdir():
                if len(folder.name) == 2:
                    with contextlib.suppress(OSError):
                        folder.rmdir()

    tidying = threading.Thread(target=tidy_up)
    tidying.start()
    try:
        for number in range(150):
            data = b"%d" % number
            assert write_object(repository, "blob", data) == object_id("blob", data)
    finally:
        written.set()
        tidying.join()


def test_everything_at_once_for_a_moment() -> None:
    started = time.monotonic()
    place, seen = run(3.0)
    settle(place, seen)
    assert seen.counts
    assert time.monotonic() - started < 120
