"""A process that dies anywhere while it writes an image leaves the old one or the new one."""

import subprocess
import sys
from pathlib import Path

import pytest

from syn.images.pagein import Conditions, PageRefusedError
from syn.images.store import check_image, open_image, page_in
from tests.support.images import native_image, recall_files, write_files
from tests.support.shared import ROOT

DIE = """
import os, sys
from pathlib import Path
from syn.images.convert import upgrade
from syn.images.store import open_image
from syn.images.write import Decision, hide, quarantine

left = int(sys.argv[1])

def fatal(real):
    def call(*args, **kwargs):
        global left
        if left == 0:
            os._exit(9)
        left -= 1
        return real(*args, **kwargs)
    return call

for name in ("fsync", "rename", "replace", "open", "mkdir", "unlink", "fchmod"):
    setattr(os, name, fatal(getattr(os, name)))
what, folder = sys.argv[2], Path(sys.argv[3])
if what == "hide":
    hide(open_image(folder), Decision(2, "why", "x"))
elif what == "quarantine":
    quarantine(open_image(folder), Decision(0, "why", "x"))
else:
    upgrade(open_image(folder), folder.parent / "new")
"""


def dies(calls: int, what: str, folder: Path) -> bool:
    words = [sys.executable, "-c", DIE, str(calls), what, str(folder)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, check=False)
    assert done.returncode in (0, 9), done.stderr
    return done.returncode == 9


def served(folder: Path, position: int) -> bool:
    try:
        return bool(page_in(open_image(folder), position, Conditions()).body)
    except PageRefusedError:
        return False


@pytest.mark.parametrize("what", ["hide", "quarantine"])
@pytest.mark.parametrize("kind", ["recall", "native"])
def test_a_decision_is_taken_or_not(what: str, kind: str, tmp_path: Path) -> None:
    position = {"hide": 2, "quarantine": 0}[what]
    states = []
    for calls in range(0, 60, 2):
        folder = tmp_path / str(calls)
        if kind == "recall":
            write_files(folder, *recall_files())
        else:
            native_image(folder, signer=None)
        died = dies(calls, what, folder)
        assert check_image(folder).verdict == "clean", calls
        states.append(served(folder, position))
        if not died:
            break
    assert states[0], "nothing was written yet"
    assert not states[-1], "it went through"
    assert states == sorted(states, reverse=True)


def test_an_upgrade_stands_whole_or_not_at_all(tmp_path: Path) -> None:
    for calls in range(0, 60, 2):
        folder = tmp_path / str(calls)
        folder.mkdir()
        write_files(folder / "old", *recall_files())
        died = dies(calls, "upgrade", folder / "old")
        assert check_image(folder / "old").verdict == "clean"
        if (folder / "new").exists():
            assert check_image(folder / "new").verdict == "clean"
        if not died:
            assert (folder / "new").exists()
            return
    pytest.fail("it never went through")
