"""The same bytes whatever the hash seed, the locale, the time zone and the order of reading."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from syn.index.derive import World
from syn.index.manifest import manifest_lines
from syn.index.store import open_index
from syn.index.store.build import Builder
from tests.support.indexes import build, manifest, rows_of
from tests.support.shared import ROOT

FILES = {
    f"facts/{folder}{name}.md": f"---\nid: {name}{number}\ntitle: T {name}\nsupersedes: a{number}\n"
    f"tags: [z, y, x, {name}]\nvalid_from: 2026-01-0{number}\n---\nSee [[t {name}]] [[B]] [[İ]].\n"
    for number, folder in enumerate(("", "b/", "é/"), 1)
    for name in ("a", "B", "Z", "é", "İ", "\u0131")
}
PROGRAM = """
import sys
from tests.property.test_index_determinism import FILES
from tests.support.indexes import manifest
sys.stdout.buffer.write(manifest(FILES))
"""


@pytest.mark.parametrize(
    ("seed", "locale", "zone"),
    [("0", "C", "UTC"), ("1", "tr_TR.UTF-8", "Asia/Kathmandu"), ("77", "C.UTF-8", "America/Lima")],
)
def test_surroundings_change_nothing(seed: str, locale: str, zone: str) -> None:
    changed = {"PYTHONHASHSEED": seed, "LC_ALL": locale, "LANG": locale, "TZ": zone}
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        env=changed,
        capture_output=True,
        check=True,
    )
    assert found.stdout == manifest(FILES)


def test_the_order_in_which_changed_files_arrive_changes_nothing() -> None:
    rows = rows_of(FILES)
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder) / "i.db", {})
        with Builder(path, base=path) as builder:
            for row in [*rows[1::2], *rows[-2::-2]]:
                builder.add(row)
            builder.finish(World(), {"inputs_hash": "x"})
        with open_index(path) as index:
            assert b"".join(manifest_lines(index)) == manifest(FILES)
