"""Every row of the table of exit statuses, through a real process, in every output mode."""

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
