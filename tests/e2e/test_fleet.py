"""`syn fleet verify`: many workspaces, some of them broken in every way, and one status."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran, syn
from tests.support.workspaces import Place, make_workspace

MANY = 200


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = make_workspace(
        tmp_path_factory.mktemp("template"), {"facts/a.md": "---\nid: a\n---\nx\n"}
    )
    for hook in (place.root / ".git/hooks").glob("*"):
        hook.unlink()
    return place


@pytest.fixture
def fleet(template: Place, tmp_path: Path) -> Place:
    return Place(tmp_path, template.env)


def _copies(template: Place, folder: Path, count: int) -> list[Path]:
    made = [folder / f"w{number:03}" for number in range(count)]
    for path in made:
        shutil.copytree(template.root, path, symlinks=True)
    return made


def _edit(path: Path) -> None:
    (path / "facts/a.md").write_text("---\nid: a\n---\nchanged by nobody\n")


def _no_git(path: Path) -> None:
    shutil.rmtree(path / ".git")


def _broken_config(path: Path) -> None:
    (path / "synapse.toml").write_text("format = [\n")


def _broken_object(path: Path) -> None:
    for name in (path / ".git/objects").glob("??/*"):
        name.chmod(0o644)
        name.write_bytes(b"nothing")


def _by_name(ran: Ran) -> dict[str, dict[str, Any]]:
    return {Path(item["path"]).name: item for item in ran.json["items"]}


def test_two_hundred_workspaces_and_a_few_broken_ones(template: Place, fleet: Place) -> None:
    made = _copies(template, fleet.root / "all", MANY)
    for path, damage in zip(
        made[10:], (_edit, _no_git, _broken_config, _broken_object), strict=False
    ):
        damage(path)
    ran = syn(fleet, "fleet", "verify", "all", "--json")
    assert ran.status == 1, ran.err
    assert (ran.json["total"], ran.json["status"]) == (MANY, 1)
    found = _by_name(ran)
    assert list(found) == sorted(found)
    assert found["w010"]["verdict"] == "fail"
    assert found["w010"]["codes"] == ["payload-changed"]
    assert found["w011"]["error"]["code"] == "not-a-repository"
    assert found["w012"]["error"]["code"] == "config"
    assert found["w013"]["verdict"] != "pass"
    counts = {name: ran.json[name] for name in ("pass", "fail", "incomplete", "below")}
    assert counts["pass"] == MANY - 4
    assert sum(counts.values()) == MANY
    sound = [item for name, item in found.items() if name not in ("w010", "w011", "w012", "w013")]
    assert {(item["verdict"], item["level"]) for item in sound} == {("pass", "L1")}
    assert len({item["inputs_hash"] for item in sound}) == 1


def test_a_list_names_what_is_not_there_too(template: Place, fleet: Place) -> None:
    _copies(template, fleet.root, 2)
    (fleet.root / "list.txt").write_text("# ours\nw000\n\nw001\nnowhere\n")
    ran = syn(fleet, "fleet", "verify", "list.txt")
    assert ran.status == 3
    assert "nowhere" in ran.out
    assert "not-a-repository" in ran.out
    assert "3 workspaces: 2 pass, 0 fail, 1 could not be checked" in ran.out


@pytest.mark.parametrize(
    ("words", "status"),
    [((), 0), (("--require", "L2"), 4), (("--profile", "strict"), 1), (("--engine", "here"), 0)],
)
def test_the_gravest_status_of_all(
    template: Place, fleet: Place, words: tuple[str, ...], status: int
) -> None:
    _copies(template, fleet.root, 2)
    ran = syn(fleet, "fleet", "verify", ".", *words)
    assert ran.status == status, ran.out
    if status == 4:
        assert "2 below L2" in ran.out


@pytest.mark.parametrize("text", ["", "# nothing yet\n\n"])
def test_a_list_of_nothing_is_no_fleet_that_passes(fleet: Place, text: str) -> None:
    (fleet.root / "list.txt").write_text(text)
    ran = syn(fleet, "fleet", "verify", "list.txt")
    assert (ran.status, ran.out) == (2, "")
    assert "list.txt: expected one workspace a line, got none" in ran.err


def test_a_folder_below_another_workspace_is_none_itself(template: Place, fleet: Place) -> None:
    (path,) = _copies(template, fleet.root, 1)
    (fleet.root / "list.txt").write_text(f"{path.name}/facts\n")
    ran = syn(fleet, "fleet", "verify", "list.txt", "--json")
    assert ran.status == 3
    assert ran.json["items"][0]["error"]["code"] == "no-workspace"


def test_a_key_that_lies_in_a_workspace_is_not_trusted_there(template: Place, fleet: Place) -> None:
    one, _ = _copies(template, fleet.root, 2)
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA9wnrnmGzFnHEUnMZnOsF2v3bOi1KjU9YsuFjHNRFhh a\n"
    (one / "key.pub").write_text(key)
    ran = syn(fleet, "fleet", "verify", ".", "--trust", str(one / "key.pub"), "--json")
    assert ran.status == 3
    found = _by_name(ran)
    assert found["w000"]["error"]["code"] == "trust-inside"
    assert found["w001"]["verdict"] == "pass"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("empty",), "fleet-empty"),
        (("nothing-here",), "fleet-list"),
        ((".", "--engine", "cloud"), "engine"),
    ],
)
def test_what_names_nothing_is_a_usage_error(
    template: Place, fleet: Place, words: tuple[str, ...], code: str
) -> None:
    _copies(template, fleet.root, 1)
    (fleet.root / "empty").mkdir()
    ran = syn(fleet, "fleet", "verify", *words, "--json")
    assert ran.status == 2
    assert ran.json["error"]["code"] == code
