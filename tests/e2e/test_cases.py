"""Every public fault case, through the command line: the right answer, or the decided one.

What differs from a case's own `expect` is decided in ADR 0035.
"""

from pathlib import Path

import pytest

from tests.support import answers_git, answers_index, answers_memory, answers_text
from tests.support.cases import Case, load_cases
from tests.support.world import ANSWERS, World

TABLES = (answers_text, answers_git, answers_index, answers_memory)
CASES = load_cases("YFEPCGSATLM")


def test_every_case_has_its_answer() -> None:
    if not CASES:
        pytest.skip("needs the folder shared/cases beside the project, which is absent here")
    assert {case.id.split("-")[0] for case in CASES} == set(ANSWERS)
    assert all(table.__doc__ for table in TABLES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_answer(case: Case, tmp_path: Path) -> None:
    ANSWERS[case.id.split("-")[0]](World.build(case, tmp_path))
