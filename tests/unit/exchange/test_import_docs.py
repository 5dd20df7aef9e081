"""docs/import.md names every format, every warning and every form of an export."""

import re
from pathlib import Path
from typing import get_args

from syn.cli.commands.export import Kind as ExportKind
from syn.cli.commands.import_ import Kind
from syn.exchange.formats import FORMATS
from syn.services.exchange.exporting import SCHEMA, ExportForm
from syn.services.exchange.importing import WARNINGS

TEXT = (Path(__file__).parents[3] / "docs" / "import.md").read_text("utf-8")


def test_the_tables_name_every_format() -> None:
    rows = re.findall(r"^\| `([a-z0-9-]+)` \|", TEXT, re.MULTILINE)
    assert rows == [*FORMATS, *get_args(ExportForm)]
    assert SCHEMA in TEXT


def test_the_commands_offer_every_format() -> None:
    assert [kind.value for kind in Kind] == list(FORMATS)
    assert [kind.value for kind in ExportKind] == list(get_args(ExportForm))


def test_every_warning_is_named() -> None:
    listed = re.search(r"Warnings\n\((.*?)\)", TEXT, re.DOTALL)
    assert listed is not None
    assert set(re.findall(r"`([a-z-]+)`", listed[1])) == WARNINGS
