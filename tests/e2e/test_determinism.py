"""The manifest and the comparable report are the same bytes wherever and however they are made."""

import itertools
import shutil
import subprocess
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

from syn.index.manifest import manifest_digest
from syn.report.document import comparable, to_json
from syn.services.proving.collect import pass_over
from syn.services.proving.verifying import Request, verify
from syn.services.recall.opening import reindex
from tests.support.cli import syn
from tests.support.workspaces import Place, make_workspace

SURROUNDINGS = [
    {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC"},
    {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "Asia/Kathmandu"},
    {"PYTHONHASHSEED": "77", "LANG": "tr_TR.UTF-8", "TZ": "America/St_Johns"},
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return make_workspace(tmp_path_factory.mktemp("determinism"))


def test_the_manifest_does_not_depend_on_the_surroundings(place: Place) -> None:
    printed = {syn(place, "manifest", env=env).out for env in SURROUNDINGS}
    assert len(printed) == 1
    assert syn(place, "manifest", "--ref", "HEAD").out in printed


def test_the_report_does_not_depend_on_the_surroundings(place: Place) -> None:
    reports = [syn(place, "verify", "--deep", "--json", env=env).json for env in SURROUNDINGS]
    assert len({comparable(report) for report in reports}) == 1


def test_a_clone_in_another_folder_gives_the_same_report(place: Place, tmp_path: Path) -> None:
    other = Place(tmp_path / "elsewhere" / "clone", place.env)
    other.root.parent.mkdir()
    subprocess.run(["git", "clone", "-q", place.root, other.root], check=True, env=place.env)
    ours = to_json(verify(place.open(), Request(deep=True)))
    theirs = to_json(verify(other.open("2030-01-01T00:00:00Z"), Request(deep=True)))
    assert comparable(ours) == comparable(theirs)
    committed = to_json(verify(other.open(), Request(ref="HEAD", deep=True)))
    assert comparable(ours) == comparable(committed)


def test_the_umask_changes_nothing(place: Place, tmp_path: Path) -> None:
    copy = Place(tmp_path / "ws", place.env)
    shutil.copytree(place.root, copy.root)
    for file in copy.root.glob("facts/*.md"):
        file.chmod(0o400)
    assert syn(place, "manifest").out == syn(copy, "manifest").out


def test_a_pool_of_processes_gives_the_same_manifest(tmp_path: Path) -> None:
    facts = {f"facts/n{n:03}.md": f"---\nid: n{n}\n---\n[[n{n - 1}]]\n" for n in range(200)}
    place = make_workspace(tmp_path, facts)
    with pass_over(place.open(), "") as alone:
        expected = manifest_digest(alone.projection)
    with ProcessPoolExecutor(2) as pool, pass_over(place.open(), "", pool) as shared:
        assert manifest_digest(shared.projection) == expected


def test_incremental_and_full_builds_verify_alike(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    reindex(place.open())
    for step in itertools.chain("ab"):
        (place.root / f"facts/{step}.md").write_text(f"---\nid: {step}\n---\n[[limit]]\n")
        syn(place, "adopt", "--yes")
        assert syn(place, "verify", "--rebuild", "-q").out.startswith("PASS")
    incremental = verify(place.open(), Request(rebuild=True))
    (place.root / ".synapse/index.db").unlink()
    reindex(place.open(), full=True)
    full = verify(place.open(), Request(rebuild=True))
    assert comparable(to_json(incremental)) == comparable(to_json(full))
