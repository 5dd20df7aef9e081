"""Every attack of `cases.toml`: the same verdict, codes and status in JSON, in text and quietly."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.attacks.scene import ACTIONS, Base, Scene
from tests.support.cli import Ran
from tests.support.inside import inside

DATA = tomllib.loads((Path(__file__).parent / "cases.toml").read_text("utf-8"))
CASES: list[dict[str, Any]] = DATA["case"]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return Base(tmp_path_factory.mktemp("published"))


def _codes(ran: Ran) -> set[str]:
    predicate = ran.json["predicate"]
    listed = [f["code"] for i in predicate["invariants"] for f in i["findings"]]
    return {*listed, *(f["code"] for f in predicate["local"]["findings"])}


@pytest.mark.parametrize("case", CASES, ids=[f"{c['n']:02}-{c['title']}" for c in CASES])
def test_attack(case: dict[str, Any], base: Base, tmp_path: Path) -> None:
    scene = Scene(base, tmp_path)
    for name in case["do"]:
        ACTIONS[name](scene)
    words = ["verify", *scene.asked(DATA["asks"][case.get("ask", "plain")])]
    expected = case["expect"]
    ran = inside(scene.owner, *words, "--json")
    assert ran.status == expected["status"], (ran.out, ran.err)
    text = inside(scene.owner, *words)
    assert text.status == ran.status
    if "error" in expected:
        assert ran.json["error"]["code"] == expected["error"]
        assert text.err.startswith("syn: ")
        return
    predicate = ran.json["predicate"]
    assert predicate["verdict"] == expected["verdict"], ran.out
    assert predicate["witness_status"] == expected.get("witness", predicate["witness_status"])
    assert predicate["level"] == expected.get("level", predicate["level"]), predicate[
        "level_reason"
    ]
    wanted = set(expected["codes"])
    assert wanted <= _codes(ran), _codes(ran)
    if not wanted:
        severities = [f["severity"] for i in predicate["invariants"] for f in i["findings"]]
        assert "failure" not in severities
    assert text.out.rstrip().splitlines()[-1].startswith(expected["verdict"].upper())
    assert all(code in text.out for code in wanted)
    assert not (tmp_path / "was-run").exists()


def test_every_action_is_used() -> None:
    assert {name for case in CASES for name in case["do"]} == set(ACTIONS)
