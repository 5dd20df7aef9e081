"""Every row of the table of exit statuses, through a real process, in every output mode."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.cli import syn
from tests.support.workspaces import Place, make_place, make_workspace


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return make_workspace(tmp_path_factory.mktemp("exits"))


MODES: list[tuple[str, ...]] = [(), ("--json",), ("--quiet",)]


@pytest.mark.parametrize("mode", MODES)
def test_pass_is_0(place: Place, mode: tuple[str, ...]) -> None:
    ran = syn(place, "verify", *mode)
    assert ran.status == 0
    assert "PASS (level L1)" in ran.out + ran.err


@pytest.mark.parametrize("mode", MODES)
def test_fail_is_1(tmp_path: Path, mode: tuple[str, ...]) -> None:
    place = make_workspace(tmp_path)
    (place.root / "facts/limit.md").write_text("---\nid: limit\n---\nOther.\n")
    ran = syn(place, "verify", *mode)
    assert ran.status == 1
    assert "FAIL" in ran.out + ran.err
    if mode == ("--json",):
        assert ran.json["predicate"]["verdict"] == "fail"


@pytest.mark.parametrize("mode", MODES)
def test_usage_is_2(place: Place, mode: tuple[str, ...]) -> None:
    ran = syn(place, "verify", "--ref", "no-such-ref", *mode)
    assert ran.status == 2
    assert "no-such-ref" in ran.err
    if mode == ("--json",):
        assert ran.json["error"]["code"] == "unknown-ref"


@pytest.mark.parametrize("mode", MODES)
def test_could_not_check_is_3(tmp_path: Path, mode: tuple[str, ...]) -> None:
    place = make_workspace(tmp_path)
    (place.root / "synapse.toml").write_text("format = 1\nsurprise = true\n")
    ran = syn(place, "verify", *mode)
    assert ran.status == 3
    assert "surprise" in ran.err or "id" in ran.err
    assert "PASS" not in ran.out + ran.err


@pytest.mark.parametrize("mode", MODES)
def test_below_the_required_level_is_4(place: Place, mode: tuple[str, ...]) -> None:
    ran = syn(place, "verify", "--require", "L3", *mode)
    assert ran.status == 4
    assert "BELOW L3" in ran.out + ran.err


def test_unknown_option_and_command_are_2(place: Place) -> None:
    assert syn(place, "verify", "--nope").status == 2
    ran = syn(place, "verfy")
    assert ran.status == 2
    assert "verify" in ran.err


def test_outside_a_workspace_is_2_with_the_remedy(tmp_path: Path) -> None:
    place = make_place(tmp_path)
    ran = syn(place, "verify")
    assert ran.status == 3
    assert "not-a-repository" in syn(place, "verify", "--json").out
    assert "syn init" in ran.err


def test_a_wrong_id_suggests_near_ones(place: Place) -> None:
    ran = syn(place, "show", "ownr-1")
    assert ran.status == 2
    assert "owner-1" in ran.err


def test_version_and_help(place: Place) -> None:
    assert syn(place, "--version").out.startswith("syn ")
    ran = syn(place, "--help")
    assert ran.status == 0
    assert "verify" in ran.out


@pytest.mark.parametrize("words", [("--since", ""), ("--ref=",), ("--require", "")])
def test_an_empty_decisive_option_is_2_not_a_check_left_out(
    place: Place, words: tuple[str, ...]
) -> None:
    ran = syn(place, "verify", "--json", *words)
    assert ran.status == 2
    assert ran.json["error"]["code"] == "empty-option"
    assert words[0].removesuffix("=") in ran.err


@pytest.mark.parametrize("mode", [(), ("--json",)])
def test_one_of_several_that_is_unknown_is_2_and_the_others_are_answered(
    place: Place, mode: tuple[str, ...]
) -> None:
    ran = syn(place, "get", "limit", "ownr-1", "owner-2", *mode)
    assert ran.status == 2
    if mode:
        assert [item["id"] for item in ran.json["items"]] == ["limit", "ownr-1", "owner-2"]
        assert ran.json["items"][1]["error"] == "unknown-fact"
        assert "owner-1" in ran.json["items"][1]["remedy"]
    else:
        assert [line.split()[0] for line in ran.out.splitlines()] == ["limit", "owner-2"]
        assert "no fact has the id ownr-1; did you mean owner-1" in ran.err
    assert syn(place, "get", "limit", "owner-2", *mode).status == 0


def test_one_of_several_that_is_withheld_is_1_unless_another_is_unknown(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    assert syn(place, "quarantine", "limit", "--reason", "forged").status == 0
    agent = ("--as", "agent", "get")
    ran = syn(place, *agent, "owner-2", "limit")
    assert ran.status == 1
    assert ran.out.split()[0] == "owner-2"
    assert "withheld: limit (facts/limit.md): it is quarantined" in ran.err
    assert syn(place, *agent, "owner-2", "limit", "nowhere", "--json").status == 2
    # A list is not about one fact, and is right without what this audience may not have.
    assert syn(place, "--as", "agent", "list").status == 0
    assert syn(place, "at", "HEAD", "--", "get", "limit", "nowhere").status == 2


def test_a_list_with_a_fact_that_does_not_check_is_1(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    assert syn(place, "reindex").status == 0
    with closing(sqlite3.connect(place.root / ".synapse/index.db")) as database, database:
        database.execute("UPDATE state SET word = 'x' WHERE id = 'limit'")
    for words in (("list",), ("search", "people"), ("list", "--full", "--json")):
        ran = syn(place, *words)
        assert ran.status == 1, words
        assert "the check word does not hold" in ran.out + ran.err
