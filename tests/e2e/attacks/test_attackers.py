"""The table of docs/threat-model.md is what a run says: every title, and the cells of some rows."""

from pathlib import Path

import pytest

from tests.e2e.attacks.attackers import EDITS, MOVES, Edit, answers, row
from tests.e2e.attacks.scene import ACTIONS, Base
from tests.support.shared import ROOT

PAGE = (ROOT / "docs/threat-model.md").read_text(encoding="utf-8")
SHOWN = PAGE.partition("<!-- threats: begin -->")[2].partition("<!-- threats: end -->")[0]
SOME = EDITS[3::4]


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return Base(tmp_path_factory.mktemp("published"))


def test_every_edit_is_in_the_table() -> None:
    lines = [line for line in SHOWN.splitlines() if line.startswith("| ")]
    shown = [line.split(" | ")[0].removeprefix("| ") for line in lines]
    titles = [title for title in shown if title not in ("edit", "---")]
    assert titles == [edit.title for edit in EDITS]
    assert {name for edit in EDITS for name in edit.do} <= {*MOVES, *ACTIONS}


@pytest.mark.parametrize("edit", SOME, ids=lambda edit: edit.title)
def test_a_row_is_what_verify_says(base: Base, edit: Edit, tmp_path: Path) -> None:
    assert row(edit, answers(base, edit, tmp_path)) in SHOWN.splitlines(), "run make threats"
