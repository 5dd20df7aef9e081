"""What is handed out: the same bytes twice, nothing but the package, and it runs by itself."""

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from fixtures.dist import build
from tests.support.workspaces import FACTS, make_place

EPOCH = "1780000000"
CLEAN = os.environ.get("SYNAPSE_SUPPLY") == "1"  # noqa: TID251 - how much the person asked for


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return build(tmp_path_factory.mktemp("dist"), EPOCH)


def test_a_second_build_gives_the_same_bytes(built: list[Path], tmp_path: Path) -> None:
    again = build(tmp_path, EPOCH)
    assert [path.name for path in again] == [path.name for path in built]
    for one, other in zip(built, again, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name


def test_the_wheel_holds_the_package_and_nothing_else(built: list[Path]) -> None:
    (wheel,) = (path for path in built if path.suffix == ".whl")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (entry,) = (name for name in names if name.endswith("entry_points.txt"))
        assert "syn = syn.cli.main:run" in archive.read(entry).decode()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"syn"}
    for wanted in ("syn/report/templates/report.html", "/licenses/LICENSE", "syn/__main__.py"):
        assert any(name.endswith(wanted) for name in names), wanted
    assert not any(name.endswith((".pyc", ".so")) for name in names)


def test_the_sdist_says_nothing_of_who_built_it(built: list[Path]) -> None:
    (sdist,) = (path for path in built if path.name.endswith(".tar.gz"))
    with tarfile.open(sdist) as archive:
        members = archive.getmembers()
    assert {int(member.mtime) for member in members} == {int(EPOCH)}
    assert {(member.uid, member.gid, member.uname) for member in members} == {(0, 0, "")}
    assert any(member.name.endswith("/pyproject.toml") for member in members)


@pytest.mark.skipif(not CLEAN, reason="installs from the index: make supply")
def test_the_wheel_runs_in_a_clean_environment(built: list[Path], tmp_path: Path) -> None:
    (wheel,) = (path for path in built if path.suffix == ".whl")
    folder = tmp_path / "venv"
    venv.create(folder, with_pip=True)
    python, syn = folder / "bin/python", folder / "bin/syn"
    subprocess.run([python, "-m", "pip", "install", "-q", str(wheel)], check=True)
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format=freeze"], check=True, capture_output=True, text=True
    ).stdout
    assert not {"pytest", "hypothesis", "ruff", "mypy", "mcp"} & {
        line.partition("==")[0].lower() for line in listed.splitlines()
    }
    place = make_place(tmp_path / "place")
    for path, content in FACTS.items():
        file = place.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content, encoding="utf-8")
    for words in (
        ("init", "--name", "clean"),
        ("adopt", "--yes"),
        ("show", "limit", "--json"),
        ("verify", "--deep", "--require", "L1"),
    ):
        ran = subprocess.run(
            [syn, *words], cwd=place.root, env=place.env, capture_output=True, check=False
        )
        assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
    (place.root / "facts/limit.md").write_text("---\nid: limit\n---\nThree.\n")
    ran = subprocess.run(
        [syn, "verify"], cwd=place.root, env=place.env, capture_output=True, check=False
    )
    assert ran.returncode == 1
    # The server's library is not there: one message, no traceback.
    served = subprocess.run(
        [syn, "mcp", "serve"], cwd=place.root, env=place.env, capture_output=True, check=False
    )
    assert served.returncode in (2, 3), served.stderr
    assert b"Traceback" not in served.stderr
    assert sys.version_info[:2] >= (3, 11)
