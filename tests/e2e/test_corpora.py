"""Real Markdown with real history: everything is read, recorded and proven through the CLI."""

import subprocess
from pathlib import Path

import pytest

from tests.support.cli import syn
from tests.support.shared import shared_path
from tests.support.workspaces import Place, make_place

CORPORA = {
    "dendron-vault": ("vault/**/*.md", 1012),
    "endoflife-products": ("products/**/*.md", 464),
}


def cloned(name: str, folder: Path) -> Place:
    bundle = shared_path("corpora") / f"{name}.bundle"
    place = make_place(folder)
    subprocess.run(["git", "clone", "-q", bundle, place.root], check=True, env=place.env)
    return place


@pytest.mark.parametrize("name", CORPORA)
def test_a_real_collection_is_recorded_and_verifies(name: str, tmp_path: Path) -> None:
    include, facts = CORPORA[name]
    place = cloned(name, tmp_path)
    before = subprocess.run(
        ["git", "status", "--porcelain"], cwd=place.root, capture_output=True, check=True
    ).stdout
    assert syn(place, "init", "--include", include).status == 0
    assert syn(place, "adopt", "--yes", "-m", "x").status == 0
    status = syn(place, "status", "--json").json
    assert status["facts"] == facts
    assert status["files"] == facts + status["new"] + status["unreadable"] + status["excluded"]
    assert status["edits"] == []
    ran = syn(place, "verify", "--deep", "--rebuild", "--json")
    assert ran.status == 0, ran.err
    assert all(i["findings"] == [] for i in ran.json["predicate"]["invariants"])
    after = subprocess.run(
        ["git", "status", "--porcelain", "--untracked-files=no"],
        cwd=place.root, capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert before == after == b""


def test_the_real_pair_of_one_id_is_found_in_history(tmp_path: Path) -> None:
    place = cloned("dendron-vault", tmp_path)
    syn(place, "init", "--include", "vault/**/*.md")
    ran = syn(place, "verify", "--ref", "7293e8075c", "--json")
    assert ran.status == 1
    content = next(i for i in ran.json["predicate"]["invariants"] if i["id"] == "INV-2")
    doubled = [f for f in content["findings"] if f["code"] == "duplicate-id"]
    assert len(doubled) == 2
