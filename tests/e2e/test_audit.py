"""`syn audit`: the ledger by itself, with its exit statuses."""

from pathlib import Path

import pytest

from tests.support.cli import syn
from tests.support.workspaces import Place, make_workspace


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


def test_whole_chains_pass(place: Place) -> None:
    ran = syn(place, "audit", "verify")
    assert ran.status == 0
    assert ran.out.endswith("PASS: 5 decisions chained\n")
    assert syn(place, "audit", "verify", "--ref", "HEAD", "--json").json["verdict"] == "pass"


def test_a_decision_cut_out_fails_and_is_named(place: Place) -> None:
    segment = next((place.root / ".synapse/ledger").glob("*/000001.jsonl"))
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(b"".join(lines[:2] + lines[3:]))
    ran = syn(place, "audit", "verify")
    assert ran.status == 1
    assert "000001.jsonl:3: failure: seq-gap" in ran.out
    assert ran.out.splitlines()[-1].startswith("FAIL")
    assert syn(place, "audit", "verify", "--json").status == 1


def test_a_torn_tail_is_incomplete(place: Place) -> None:
    segment = next((place.root / ".synapse/ledger").glob("*/000001.jsonl"))
    segment.write_bytes(segment.read_bytes() + b'{"action"')
    ran = syn(place, "audit", "verify")
    assert ran.status == 3
    assert "torn-tail" in ran.out


def test_replay_says_how_many_orders_agreed(place: Place) -> None:
    ran = syn(place, "audit", "replay")
    assert ran.status == 0
    assert ran.out.startswith("PASS: 5 decisions in 1 order")


def test_log_is_the_log(place: Place) -> None:
    assert syn(place, "audit", "log", "--json").json == syn(place, "log", "--json").json
