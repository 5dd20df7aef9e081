"""Check words."""

import pytest

from syn.canon.digest import tagged_json
from syn.index.words import Cell, cell_of, check_word
from tests.support.indexes import rows_of

CELL = Cell(
    path="facts/ä.md",
    id="a-1",
    payload_digest="sha256:" + "1" * 64,
    body_digest="sha256:" + "2" * 64,
    valid_from="2026-01-01",
    valid_from_key="2026-01-01T00:00:00.000000000Z",
    valid_to=None,
    valid_to_key=None,
    status='live "now"',
    source_digest="sha256:" + "3" * 64,
)


def test_a_word_is_the_tagged_digest_of_the_covered_columns() -> None:
    assert check_word(CELL, "external", "[]") == tagged_json(
        "word/1",
        {
            "path": CELL.path,
            "id": CELL.id,
            "payload": CELL.payload_digest,
            "body": CELL.body_digest,
            "valid_from": CELL.valid_from,
            "valid_from_key": CELL.valid_from_key,
            "valid_to": None,
            "valid_to_key": None,
            "status": CELL.status,
            "taint": "external",
            "quarantine": "[]",
        },
    )


@pytest.mark.parametrize("column", [name for name in Cell._fields if name != "source_digest"])
def test_every_covered_column_changes_the_word(column: str) -> None:
    changed = CELL._replace(**{column: "other"})
    assert check_word(changed, "", "[]") != check_word(CELL, "", "[]")


def test_null_is_not_the_empty_text() -> None:
    assert check_word(CELL._replace(status=None), "", "[]") != check_word(
        CELL._replace(status=""), "", "[]"
    )


def test_taint_and_quarantine_change_the_word() -> None:
    words = {
        check_word(CELL, taint, quarantine)
        for taint in ("", "external")
        for quarantine in ("[]", '["sha256:x"]')
    }
    assert len(words) == 4


def test_a_reformatted_file_keeps_its_word() -> None:
    one, other = (
        rows_of({"facts/a.md": text})[0].fact
        for text in ("---\nid: a\ntitle: T\n---\nB\n", '---\ntitle: "T"\nid: a\n---\nB\n')
    )
    assert one is not None
    assert other is not None
    assert one.source_digest != other.source_digest
    assert check_word(cell_of(one), "", "[]") == check_word(cell_of(other), "", "[]")
