"""Reports look as they looked; a wanted change is made by `make golden` and reviewed."""

import subprocess
import sys

import pytest

from tests.support import golden
from tests.support.shared import ROOT

FILES = dict(golden.report_files())


@pytest.mark.parametrize("name", FILES)
def test_a_report_looks_as_it_did(name: str) -> None:
    assert (golden.FOLDER / name).read_bytes() == FILES[name]


def test_there_is_no_golden_file_that_nothing_writes() -> None:
    assert {path.name for path in golden.FOLDER.iterdir()} == FILES.keys()


SCRIPT = """
import hashlib
from tests.support import golden
digest = hashlib.sha256()
for name, content in golden.report_files():
    digest.update(name.encode() + content)
print(digest.hexdigest())
"""


def test_reports_do_not_depend_on_the_machine() -> None:
    """Hash seed, locale, time zone, terminal and the wish for no colour change nothing."""
    seen = set()
    for seed, locale, zone, term in (
        ("1", "C", "UTC", "dumb"),
        ("2", "C.UTF-8", "Asia/Tehran", "xterm"),
    ):
        environment = {
            "PYTHONHASHSEED": seed,
            "LC_ALL": locale,
            "TZ": zone,
            "TERM": term,
            "COLUMNS": "33" if seed == "1" else "500",
        }
        if seed == "1":
            environment["NO_COLOR"] = "1"
        else:
            environment["FORCE_COLOR"] = "1"
        words = [sys.executable, "-c", SCRIPT]
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, check=True, cwd=ROOT
        )
        seen.add(done.stdout)
    assert len(seen) == 1
