"""The fast line encoders give the canonical JSON of the same object, for any text."""

from hypothesis import given, settings
from hypothesis import strategies as st

from syn.canon import json as canon
from syn.canon.digest import sha256
from syn.index.lines import (
    body_digest,
    decode_texts,
    encode_row,
    encode_rows,
    encode_texts,
    manifest_columns,
    read_list,
    text_list,
)
from syn.index.rows import ATTR, FACT, LINK, STATE, TABLES, TAG, TARGET, Table

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NUMBER = st.integers(0, 2**53 - 1)
UNQUOTED = {
    (ATTR.name, "type"): st.sampled_from(["text", "int", "float", "bool", "null", "map", "list"]),
    (LINK.name, "syntax"): st.sampled_from(["wiki", "embed", "markdown", "frontmatter"]),
    (TARGET.name, "outcome"): st.sampled_from(["resolved", "ambiguous", "missing", "attachment"]),
    (TARGET.name, "step"): st.sampled_from(["", "self", "id", "path", "suffix", "title"]),
    (STATE.name, "state"): st.sampled_from(["recorded", "unrecorded", "doubled"]),
    (STATE.name, "word"): st.just(sha256(b"")),
}
"""Columns that hold our own words: the fast encoders do not quote them."""


def rows(table: Table) -> st.SearchStrategy[tuple[str | int | None, ...]]:
    kinds = {"TEXT NOT NULL": TEXT, "TEXT": st.none() | TEXT, "INTEGER NOT NULL": NUMBER}
    return st.tuples(
        *(
            UNQUOTED.get((table.name, name), kinds[kind])
            for name, kind in zip(table.columns, table.types, strict=True)
        )
    )


@given(data=st.data(), table=st.sampled_from(TABLES))
@settings(max_examples=150, deadline=None)
def test_a_line_is_the_canonical_json_of_its_object(data: st.DataObject, table: Table) -> None:
    row = data.draw(rows(table))
    value = dict(zip(manifest_columns(table), row, strict=True))
    if table is FACT:
        value["body_digest"] = body_digest(row[-1])
    expected = canon.encode({**value, "table": table.name}) + b"\n"
    assert encode_row(table, row) == expected
    assert encode_rows(table, [row]) == expected


@given(data=st.data(), table=st.sampled_from([ATTR, LINK, TAG, STATE, TARGET]))
@settings(max_examples=60, deadline=None)
def test_several_rows_of_one_file_are_their_lines(data: st.DataObject, table: Table) -> None:
    found = [("a.md", *row[1:]) for row in data.draw(st.lists(rows(table), min_size=1, max_size=4))]
    assert encode_rows(table, found) == b"".join(encode_row(table, row) for row in found)


@given(st.lists(TEXT, max_size=4))
def test_a_list_column_is_canonical_json_and_comes_back(items: list[str]) -> None:
    assert text_list(items).encode() == canon.encode(items)
    assert read_list(text_list(items)) == tuple(items)


@given(st.lists(st.none() | TEXT, max_size=4))
def test_spooled_texts_come_back(texts: list[str | None]) -> None:
    line = encode_texts(texts)
    assert line.count(b"\n") == 1
    assert decode_texts(line) == texts
