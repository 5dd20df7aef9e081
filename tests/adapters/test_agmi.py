"""Nine edits at rest that nobody here wrote: each is caught, the last by a pinned witness."""

import importlib.util

import pytest

from tests.adapters.__main__ import PAGE, RESULT, Cell, cells, page, result_file


@pytest.fixture(scope="module")
def found() -> list[Cell]:
    if importlib.util.find_spec("agmi") is None:
        pytest.skip("needs agent-memory-integrity, which is not installed here")
    return cells()


def test_all_nine_are_caught_with_a_witness(found: list[Cell]) -> None:
    pinned = {cell.attack: cell.status for cell in found if "pinned" in cell.tool}
    assert len(pinned) == 9
    assert set(pinned.values()) == {"safe"}, pinned


def test_without_one_only_the_older_copy_passes(found: list[Cell]) -> None:
    alone = {cell.attack: cell.status for cell in found if "alone" in cell.tool}
    assert {a for a, status in alone.items() if status != "safe"} == {"snapshot_rollback"}


def test_the_page_and_the_file_are_of_this_run(found: list[Cell]) -> None:
    text = PAGE.read_text("utf-8")
    assert page(text, found) == text
    assert result_file(found) == RESULT.read_bytes()
