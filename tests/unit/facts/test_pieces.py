"""Pieces of a body: where it is cut, and where something may reach over a blank line."""

import time

import pytest

from syn.facts import links
from syn.facts.links import body_links, parse_links
from syn.facts.pieces import may_define, pieces

CODE = "`x` [[a]]\n"


def cut(body: str) -> list[str]:
    return [body[start:end] for start, end in pieces(body, links._is_closed)]


@pytest.mark.parametrize(
    "parts",
    [
        [],
        ["a\n"],
        ["a\n\n", "b\n"],
        ["- a\n\n  b\n \t\n", "c"],
        ["- a\n\n", "- b\n\n", "> c\n\n", "> d\n"],
        ["```\na\n\nb\n```\n\n", "c\n"],
        ["~~~~\na\n\n~~~\n\n~~~~~ \n\n", "c\n"],
        ["``` `a`\n\n", "b\n"],
        ["- ```\n  a\n\n", "b\n"],
        ["> ```\n\n", "b\n"],
        ["  ```\na\n\nb\n  ```\n\n", "c\n"],
        ["<!--\n\nb\n-->\n\n", "c\n"],
        ["<!-- a -->\n\n", "c\n"],
        ["<PRE>\n\nb\n</pre> x\n\n", "c\n"],
        ["<?\n\nb ?>\n\n", "<!X\n\nb>\n\n", "<![CDATA[\n\nb]]>\n\n", "c"],
        ["<div>\n```\n\n", "b\n\n", "c\n"],
        ["<div>\n\n", "b\n\n", "</div>\n\n", "c\n"],
        ["    ```\n\n", "b\n"],
        ["- a\n  ```\n  b\n  ```\n\n", "c\n\n", "d\n"],
        ["- ```\n  a\n  ```\n\n", "c\n\n", "```\nd\n\ne\n```\n\n", "f\n"],
    ],
)
def test_a_body_is_cut_where_nothing_is_open(parts: list[str]) -> None:
    assert cut("".join(parts)) == parts


@pytest.mark.parametrize(
    "body",
    [
        "- a\n\n ```\n\nb\n\nc\n",
        "```\na\n\nb\n\nc\n",
    ],
)
def test_what_may_be_open_is_not_cut(body: str) -> None:
    assert cut(body) == [body]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[a]: b", True),
        ("> - 1. [a\nb]: c", True),
        ("x\n\n [\\]]: c", True),
        ("[[a]]: b", False),
        ("x [a]: b", False),
        ("*[a]: b", False),
        ("[a] : b", False),
    ],
)
def test_a_definition_is_first_on_its_line(body: str, expected: bool) -> None:
    assert may_define(body) is expected


@pytest.mark.parametrize("deep", ["> " * 45, "- " * 25, "\t" * 3 + "- " * 25])
def test_a_piece_without_links_that_nests_too_deeply_counts(deep: str) -> None:
    body = f"{CODE}\n{deep}x\n\n{CODE}"
    whole = parse_links(body, 1, "target|text")
    assert body_links(body, 1, "target|text") == whole
    levels = "\n".join("  " * depth + "- a" for depth in range(25))
    assert body_links(f"{CODE}\n{levels}\n\n{CODE}", 1, "target|text") is None


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("`[[a]]` [[b]]", [("wiki", "b")]),
        ("[t](a.md) ![u](b.md) ![[c]]", [("markdown", "a.md"), ("embed", "c")]),
        ("[t](a.md) `x", [("markdown", "a.md")]),
        ("`x [[a]]\n[[b]] y`", []),
        ("[[a `b]] c` [[d]]", [("wiki", "d")]),
        ("[x [t](a.md) y](b.md)", [("markdown", "a.md")]),
        ("[t](https://b) [[c]]", [("wiki", "c")]),
    ],
)
def test_simple_marks(body: str, expected: list[tuple[str, str]]) -> None:
    found = body_links(body, 1, "target|text") or ()
    assert [(link.syntax, link.target) for link in found] == expected
    assert found == parse_links(body, 1, "target|text")


def test_a_long_rule_is_not_taken_for_nesting() -> None:
    body = f"{CODE}\n{'-' * 200}\n\n{CODE}"
    assert [link.line for link in body_links(body, 1, "target|text") or ()] == [1, 5]


@pytest.mark.parametrize(
    "piece",
    [
        "  ```\n",
        "<div>\n",
        "  <!-- -->\n",
        "[\n",
        "- \n\n",
        "\\[ \n \n",
        "~~~\n\n<a\n\n",
        "`[\n",
        "[a](\n",
    ],
)
def test_time_is_linear_in_hostile_bodies(piece: str) -> None:
    count = min(links.LINE_BUDGET - 10, 4_000) // piece.count("\n")
    body = piece * count + "\n\n[[z]] `x`"
    start = time.process_time()
    list(pieces(body, lambda _: True))
    may_define(f"{body}]:")
    body_links(f"{body[:4000]}\n\n[[z]]", 1, "target|text")
    assert time.process_time() - start < 2
