"""One file to its rows."""

import pickle

from syn.facts.parse import parse
from syn.index.lines import read_list
from syn.index.project import project_file
from syn.model.fact import Unreadable
from syn.model.problem import Problem
from tests.support.indexes import CONFIG, rows_of

TEXT = """---
id: 007
title: Straße ÄÖ
tags: [b, a, b]
valid_from: 2026-01-01
n: 1.10
big: 18446744073709551615
nested:
  k/e~y: 1e5
  empty: []
  none: {}
  many: ["007", {deep: ~}]
up: "[[Parent]]"
---
See [[todo|the list]] and [x](New%20name.md#h).
"""


def test_every_leaf_of_the_front_matter_is_a_row_as_it_is_written() -> None:
    (rows,) = rows_of({"facts/a.md": TEXT})
    assert [(row.pointer, row.type, row.value) for row in rows.attrs] == [
        ("/big", "int", "18446744073709551615"),
        ("/id", "int", "007"),
        ("/n", "float", "1.10"),
        ("/nested/empty", "list", ""),
        ("/nested/k~1e~0y", "float", "1e5"),
        ("/nested/many/0", "text", "007"),
        ("/nested/many/1/deep", "null", "~"),
        ("/nested/none", "map", ""),
        ("/tags/0", "text", "b"),
        ("/tags/1", "text", "a"),
        ("/tags/2", "text", "b"),
        ("/title", "text", "Straße ÄÖ"),
        ("/up", "text", "[[Parent]]"),
        ("/valid_from", "text", "2026-01-01"),
    ]


def test_the_fact_row_lifts_the_reserved_keys() -> None:
    (rows,) = rows_of({"facts/a.md": TEXT})
    fact = rows.fact
    assert fact is not None
    assert (fact.id, fact.explicit_id, fact.title_key) == ("007", 1, "strasse äö")
    assert (fact.valid_from, fact.valid_from_key) == (
        "2026-01-01",
        "2026-01-01T00:00:00.000000000Z",
    )
    assert read_list(fact.tags) == ("b", "a")
    assert [row.tag for row in rows.tags] == ["a", "b"]
    assert fact.valid_to is None


def test_links_keep_what_is_written_and_their_order() -> None:
    (rows,) = rows_of({"facts/a.md": TEXT})
    assert [(r.seq, r.line, r.syntax, r.target, r.text, r.heading) for r in rows.links] == [
        (1, 13, "frontmatter", "Parent", "", ""),
        (2, 15, "wiki", "todo", "the list", ""),
        (3, 15, "markdown", "New name.md", "x", "h"),
    ]


def test_an_unreadable_file_has_its_problems_and_nothing_else() -> None:
    parsed = parse("facts/a.md", b"---\na: 1\na: 2\n---\n", CONFIG)
    assert isinstance(parsed, Unreadable)
    rows = project_file(parsed)
    assert rows.fact is None
    assert rows.source_digest == parsed.source_digest
    assert [(row.origin, row.severity, row.code) for row in rows.problems] == [
        ("file", "problem", problem.code) for problem in parsed.problems
    ]


def test_warnings_of_a_fact_are_rows_too() -> None:
    (rows,) = rows_of({"facts/a.md": "---\nup: [[Parent]]\n---\n"})
    assert rows.fact is not None
    assert {row.severity for row in rows.problems} == {"warning"}


def test_rows_survive_a_worker_process() -> None:
    (rows,) = rows_of({"facts/a.md": TEXT})
    again = pickle.loads(pickle.dumps(rows))
    assert again == rows
    assert type(again.attrs[0]) is type(rows.attrs[0])


def test_a_file_whose_bytes_are_gone_is_unreadable_without_a_digest() -> None:
    problem = Problem("facts/a.md", 0, "missing-object", "gone", "fetch it")
    rows = project_file(Unreadable("facts/a.md", "", (problem,)))
    assert (rows.source_digest, len(rows.problems)) == ("", 1)
