"""Wherever somebody stands, it is this program that starts, and not what lies there."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.workspaces import Place, make_workspace

PROGRAM = Path(sys.executable).parent / "syn"
NAMES = ("syn", "mcp", "typer", "pygit2", "rich", "json", "yaml")

SPAWN = """
import sys
given = " ".join(sys.orig_argv)
if "multiprocessing-fork" not in given and "resource_tracker" not in given:
    import multiprocessing
    multiprocessing.set_start_method("spawn")
"""


@pytest.fixture
def trap(tmp_path: Path) -> Place:
    """A workspace whose folder holds modules with our names; each leaves a mark when it runs."""
    place = make_workspace(tmp_path)
    mark = f"open({str(tmp_path / 'mark')!r}, 'a').write(__name__)\n"
    for name in NAMES:
        folder = place.root / name
        folder.mkdir()
        for file in ("__init__.py", "__main__.py"):
            (folder / file).write_text(mark)
    return place


@pytest.mark.skipif(not PROGRAM.exists(), reason="needs syn installed beside the interpreter")
@pytest.mark.parametrize(
    ("words", "env"),
    [
        (["status"], {}),
        (["status"], {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}),
        (["mcp"], {}),
    ],
    ids=["as it is", "in a locale without UTF-8", "over stdio"],
)
def test_nothing_that_lies_here_is_run(
    trap: Place, tmp_path: Path, words: list[str], env: dict[str, str]
) -> None:
    done = subprocess.run(
        [str(PROGRAM), *words],
        cwd=trap.root,
        env={**trap.env, **env},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert not (tmp_path / "mark").exists()
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not PROGRAM.exists(), reason="needs syn installed beside the interpreter")
def test_nothing_that_lies_here_is_run_by_a_worker(trap: Place, tmp_path: Path) -> None:
    """Where workers are started anew, as on macOS, each of them looks for its modules too."""
    (trap.root / "multiprocessing.py").write_text(f"open({str(tmp_path / 'mark')!r}, 'w')\n")
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(SPAWN)
    done = subprocess.run(
        [str(PROGRAM), "reindex", "--full", "--engine", "processes:2"],
        cwd=trap.root,
        env={**trap.env, "PYTHONPATH": str(site)},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert not (tmp_path / "mark").exists()
    assert done.returncode == 0, done.stderr
