"""The references of both doors are what `make docs` writes from the definitions today."""

import re

import pytest

from fixtures.reference import DOCS, pages
from fixtures.reference_mcp import ERRORS
from syn.mcp.tools import list_tools
from tests.support.commands import walk
from tests.support.shared import ROOT

PAGES = pages()


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    assert (DOCS / name).read_text("utf-8") == PAGES[name], "run `make docs`"


def test_every_command_has_its_entry() -> None:
    headings = re.findall(r"^###? (syn .+)$", PAGES["cli.md"], re.MULTILINE)
    assert sorted(headings) == sorted(" ".join(words) for words, _ in walk() if len(words) > 1)


def test_every_tool_has_its_entry() -> None:
    headings = re.findall(r"^### (.+)$", PAGES["mcp.md"], re.MULTILINE)
    assert headings == [tool["name"] for tool in list_tools()]


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name: str) -> None:
    text = PAGES[name]
    anchors = {
        re.sub(r"[^a-z0-9 _-]", "", heading.lower()).replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    }
    for link in re.findall(r"\]\(([^)]+)\)", text):
        if link.startswith("#"):
            assert link[1:] in anchors, link
        else:
            assert (DOCS / link).exists(), link


def test_the_codes_of_errors_are_those_of_the_program() -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "syn").rglob("*.py"))
    for code, _ in ERRORS:
        assert f'"{code}"' in source, code


def test_every_variable_is_on_the_page() -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "syn").rglob("*.py"))
    names = set(re.findall(r"\b(?:SYNAPSE|SYN)_[A-Z_]*[A-Z]\b", source)) - {"SYNAPSE_LEVEL"}
    assert {name for name in names if f"`{name}`" not in PAGES["cli.md"]} == set()
