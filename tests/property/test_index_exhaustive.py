"""Every bit, every row: damage to a workspace's index is found or changes nothing it says.

Here every row is removed, doubled, edited in every column and exchanged with its neighbour, and
a part of all bits is flipped, spread over the whole file; `make torture` flips the others.
"""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from syn.services.recall.opening import reindex
from syn.services.writing.quarantine import quarantine
from tests.support.escapes import IndexJudge, Tally, flips, row_changes
from tests.support.workspaces import make_workspace

STRIDE = 797
"""Prime, so that every bit of a byte and every place of a page has its turn."""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> tuple[IndexJudge, Path]:
    folder = tmp_path_factory.mktemp("exhaustive")
    place = make_workspace(folder)
    quarantine(place.open(), "limit", "doubtful")
    time.sleep(0.12)
    reindex(place.open(), full=True)
    scratch = folder / "damaged.db"
    return IndexJudge(place, scratch), scratch


def test_the_healthy_index_is_equal(judge: tuple[IndexJudge, Path]) -> None:
    held, _ = judge
    assert held.judge(held.healthy) == "equal"


def test_every_row_counts(judge: tuple[IndexJudge, Path]) -> None:
    held, scratch = judge
    tally = Tally()
    scratch.write_bytes(held.healthy)
    for what, statements in list(row_changes(scratch)):
        scratch.write_bytes(held.healthy)
        try:
            with closing(sqlite3.connect(scratch, isolation_level=None)) as database:
                for statement in statements:
                    database.execute(statement)
        except sqlite3.IntegrityError:
            continue  # the schema itself refuses it
        tally.add(what, held.judge_file())
    print(f"rows: {tally.text()}")  # noqa: T201 - the count is part of the result
    assert tally.escaped == []
    assert tally.counts["found"] > 400


def test_a_flipped_bit_is_found_or_of_no_consequence(judge: tuple[IndexJudge, Path]) -> None:
    held, _ = judge
    tally = Tally()
    for what, data in flips(held.healthy, STRIDE):
        tally.add(what, held.judge(data))
    print(f"bits: {tally.text()} (every {STRIDE}th)")  # noqa: T201 - the count is part of the result
    assert tally.escaped == []
    assert tally.counts["found"] > 100
