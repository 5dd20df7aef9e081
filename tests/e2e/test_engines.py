"""Every engine gives the same bytes; one that is gone, or breaks, is told and concludes nothing."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import syn
from tests.support.cluster import Started, started
from tests.support.shared import ROOT
from tests.support.workspaces import Place, git, make_workspace

FACTS = 700
"""Eleven tasks, so that one worker of three is in the middle of its work when it is killed."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    facts = {
        f"facts/n{number:03}.md": f"---\nid: n{number}\ntags: [t{number % 7}]\n---\n"
        f"See [[n{number * 7 % FACTS}]] and [[plain]].\n"
        for number in range(FACTS)
    }
    place = make_workspace(tmp_path_factory.mktemp("engines"), facts, adopted=False)
    assert syn(place, "adopt", "--yes", "-m", "all").status == 0
    (place.root / "facts/broken.md").write_text("---\nid: [\n---\n")
    git(place, "add", "facts/broken.md")
    return place


@pytest.fixture(scope="module")
def cluster() -> Iterator[Started]:
    pytest.importorskip("distributed", reason="needs the extra synapse-memory[dask]")
    path = f"{ROOT}{os.pathsep}{Path(sys.executable).parent}"
    with started({"PATH": os.defpath, "PYTHONPATH": path}) as running:
        yield running


def _index(place: Place, engine: str) -> bytes:
    """The bytes of an index that an engine built."""
    done = syn(place, "reindex", "--full", "--engine", engine)
    assert done.status == 0, done.err
    return (place.root / ".synapse/index.db").read_bytes()


def _report(place: Place, engine: str) -> str:
    """What a verification over an engine says, but for when."""
    ran = syn(place, "verify", "--engine", engine, "--json")
    assert ran.status == 1, ran.err  # one fact cannot be read
    report = ran.json
    del report["predicate"]["ts"]
    return str(report)


def test_a_pool_and_a_cluster_give_the_bytes_of_one_process(place: Place, cluster: Started) -> None:
    index, report = _index(place, "here"), _report(place, "here")
    for engine in ("processes:2", cluster.address):
        assert _index(place, engine) == index
        assert _report(place, engine) == report


def test_a_worker_that_is_killed_half_way_changes_nothing(place: Place, cluster: Started) -> None:
    index = place.root / ".synapse/index.db"
    assert syn(place, "reindex", "--full").status == 0
    before = index.read_bytes()
    index.unlink()
    words = [str(place.root), cluster.address, str(cluster.workers[0])]
    ran = subprocess.run(
        [sys.executable, "-m", "tests.support.killing", *words],
        env={**place.env, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
        timeout=90,
    )
    facts, killed = map(int, ran.stdout.split())
    assert facts == FACTS
    assert 0 < killed < FACTS
    assert index.read_bytes() == before


def test_a_fleet_on_a_cluster(place: Place, cluster: Started) -> None:
    ran = syn(place, "fleet", "verify", ".", "--engine", cluster.address, "--json")
    assert ran.status == 1, ran.err
    assert ran.json["items"][0]["verdict"] == "fail"


def test_a_cluster_that_is_not_there(place: Place) -> None:
    ran = syn(place, "verify", "--engine", "dask://127.0.0.1:9", "--json")
    assert ran.status == 3
    assert ran.json["error"]["code"] == "engine-unreachable"
    assert "leave --engine out" in ran.json["error"]["remedy"]


def test_without_the_extra_it_says_what_to_install(place: Place, tmp_path: Path) -> None:
    (tmp_path / "distributed.py").write_text("raise ImportError('absent')\n")
    env = {"PYTHONPATH": str(tmp_path)}
    ran = syn(place, "verify", "--engine", "dask://127.0.0.1:9", "--json", env=env)
    assert ran.status == 3
    assert ran.json["error"]["code"] == "no-dask"
    assert "synapse-memory[dask]" in ran.json["error"]["remedy"]


@pytest.mark.parametrize("name", ["cloud", "processes:0", "dask://", "dask://host", "processes:x"])
def test_an_engine_that_does_not_exist(place: Place, name: str) -> None:
    ran = syn(place, "reindex", "--engine", name, "--json")
    assert ran.status == 2
    assert ran.json["error"]["code"] == "engine"
