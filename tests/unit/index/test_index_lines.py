"""Manifest lines of rows, also of rows that only a damaged database can hold."""

import pytest

from syn.canon import json as canon
from syn.index.lines import decode_line, decode_row, encode_row, manifest_columns, read_list
from syn.index.rows import ATTR, BY_NAME, FACT, LINK, TABLES, TAG, AttrRow, LinkRow, TagRow
from tests.support.indexes import rows_of


def test_a_line_is_canonical_json() -> None:
    line = encode_row(ATTR, AttrRow("ü.md", "/a", "text", 'say "hi"\n\u2028\x7f\x01'))
    assert line.endswith(b"\n")
    assert canon.decode(line[:-1]) == {
        "table": "attr",
        "path": "ü.md",
        "pointer": "/a",
        "type": "text",
        "value": 'say "hi"\n\u2028\x7f\x01',
    }


def test_a_fact_line_carries_the_digest_of_the_body_not_the_body() -> None:
    (rows,) = rows_of({"facts/a.md": "secret body\n"})
    assert rows.fact is not None
    line = encode_row(FACT, rows.fact)
    assert b"secret" not in line
    assert decode_line(line)["body_digest"] == rows.body_digest
    assert canon.encode(decode_line(line)) + b"\n" == line


def test_every_table_has_its_columns_in_the_manifest() -> None:
    for table in TABLES:
        assert set(table.key) <= set(table.columns)
        assert len(manifest_columns(table)) == len(table.columns)
        assert "table" not in manifest_columns(table)
    assert [table.name for table in TABLES] == sorted(BY_NAME)


@pytest.mark.parametrize("odd", [b"blob", 1.0, 1.5, float("inf"), "\udcff", 2**63 - 1, None, "1"])
def test_an_odd_value_never_looks_like_a_projected_one(odd: object) -> None:
    honest = encode_row(LINK, LinkRow("a.md", 1, 1, "wiki", "t", "", "", ""))
    row = ("a.md", odd, 1, "wiki", "t", "", "", "")
    assert encode_row(LINK, row) != honest  # type: ignore[arg-type]
    decode_row(encode_row(LINK, row))  # type: ignore[arg-type]


def test_odd_values_differ_from_the_text_that_describes_them() -> None:
    blob = encode_row(TAG, ("a.md", b"x"))  # type: ignore[arg-type]
    text = decode_row(blob)[1]
    assert isinstance(text, str)
    assert encode_row(TAG, TagRow("a.md", text[1:])) != blob


def test_a_cell_that_holds_no_list_gives_none() -> None:
    assert read_list('["a","b"]') == ("a", "b")
    for text in ("", "[", "{}", "null", '[1,"a"]'):
        assert read_list(text) in ((), ("a",))
