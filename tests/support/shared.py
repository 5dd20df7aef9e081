"""Where the public test material lies: beside the project. Tests that need it skip without it."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def shared_path(name: str) -> Path:
    """The folder `../shared/<name>`; skips the calling test, saying so, where it is absent."""
    path = ROOT.parent / "shared" / name
    if not path.exists():
        pytest.skip(f"needs the folder shared/{name} beside the project, which is absent here")
    return path
