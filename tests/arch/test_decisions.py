"""The index of the decisions is the one their files give, and every file has the same shape."""

import re
from pathlib import Path

import frontmatter
import pytest

from fixtures.adr_index import ADR, index

SECTIONS = ["Context", "Options", "Decision", "Consequences", "Security", "Compatibility"]
FILES = sorted(ADR.glob("[0-9][0-9][0-9][0-9]-*.md"))


def test_the_index_is_up_to_date() -> None:
    """`python fixtures/adr_index.py` writes it."""
    assert (ADR / "README.md").read_text(encoding="utf-8") == index()


def test_numbers_are_used_once() -> None:
    numbers = [path.name[:4] for path in FILES]
    assert len(set(numbers)) == len(numbers)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_decision_has_its_front_matter_and_sections(path: Path) -> None:
    found = frontmatter.loads(path.read_text(encoding="utf-8"))
    assert found["id"] == f"adr-{path.name[:4]}"
    assert {"title", "status", "date"} <= set(found.keys())
    assert re.findall(r"^## (.+)$", found.content, re.MULTILINE) == SECTIONS
