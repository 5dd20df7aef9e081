"""What an earlier run spares a later one changes no answer: not over damage either."""

from pathlib import Path

import pytest

from tests.fault.faults import class_of, files_of
from tests.fault.published import publish
from tests.fault.test_unreadable import damaged, flipped, gone
from tests.support.inside import inside
from tests.support.workspaces import Place

QUESTIONS = (("verify", "--json"), ("verify", "--deep", "--json"))


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = publish(tmp_path_factory.mktemp("spared")).owner
    for question in QUESTIONS:
        assert inside(place, *question, "--incremental").status == 0
    return place


def _one_of_each(place: Place) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in files_of(place.root):
        file = place.root / path
        if file.stat().st_size:
            found.setdefault(class_of(path), file)
    return found


@pytest.mark.parametrize("damage", [gone, flipped], ids=["gone", "flipped"])
def test_an_incremental_run_over_damage_says_what_a_whole_one_says(
    place: Place, damage: object
) -> None:
    for what, file in _one_of_each(place).items():
        with damaged(file, damage):  # type: ignore[arg-type]
            for question in QUESTIONS:
                whole = inside(place, *question)
                spared = inside(place, *question, "--incremental")
                assert spared.status == whole.status, (what, file, spared.err)
                assert "internal error" not in spared.err
