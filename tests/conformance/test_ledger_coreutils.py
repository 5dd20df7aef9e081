"""Entry hashes of the worked example, by the commands that docs/formats/ledger.md shows."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.examples import examples

pytestmark = pytest.mark.skipif(
    shutil.which("sha256sum") is None or shutil.which("sed") is None,
    reason="needs coreutils and sed",
)


def run(script: str, folder: Path) -> str:
    """What a shell prints for the script, in the folder of a segment."""
    done = subprocess.run(
        ["sh", "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    return "sha256:" + done.stdout.split()[0]


def test_the_shown_commands_print_the_entry_hashes(tmp_path: Path) -> None:
    shown = examples("ledger.md")
    hashes = shown["hashes"].splitlines()
    plain, signed = shown["coreutils"].splitlines()
    segment = tmp_path / "000001.jsonl"
    segment.write_text(shown["alice"], encoding="utf-8")
    for number, expected in enumerate(hashes[:-1], start=1):
        assert run(plain.replace("Np", f"{number}p"), tmp_path) == expected
    segment.write_text(shown["bob"], encoding="utf-8")
    assert run(signed, tmp_path) == hashes[-1]
