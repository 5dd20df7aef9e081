"""Links of a body: which brackets are one, where they stand, what they lead to."""

import time

import pytest

from syn.facts import links
from syn.facts.links import body_links, split_wiki
from syn.model.fact import Link


def found(body: str, order: links.Order = "target|text") -> list[tuple[int, str, str]]:
    result = body_links(body, 1, order)
    assert result is not None
    return [(link.line, link.syntax, link.target) for link in result]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[[a]]", [(1, "wiki", "a")]),
        (
            "x\ny [[a b]]\n[[c/d.md]] [e](f.md)\n",
            [(2, "wiki", "a b"), (3, "wiki", "c/d.md"), (3, "markdown", "f.md")],
        ),
        ("![[a]] [[b]]", [(1, "embed", "a"), (1, "wiki", "b")]),
        (
            "# [[a]]\n\n- x [[b]]\n  - [[c]]\n\n> q\n> [[d]]\n",
            [(1, "wiki", "a"), (3, "wiki", "b"), (4, "wiki", "c"), (7, "wiki", "d")],
        ),
        ("a\n[[b]]\n===\n", [(2, "wiki", "b")]),
        ("|h|i|\n|-|-|\n|[[a\\|t]]|x|\n|y|[[b]]|\n", [(3, "wiki", "a"), (4, "wiki", "b")]),
        ("| [[a|t]] |\n|-|-|\n", []),
        ("*[[a]]* **x [[b]]**", [(1, "wiki", "a"), (1, "wiki", "b")]),
        ("[[[a]]]", [(1, "wiki", "a")]),
        ("[t](a.md 'title')", [(1, "markdown", "a.md")]),
        ("[t](<a b.md>)", [(1, "markdown", "a b.md")]),
        ("[t](a%20b.md#h)", [(1, "markdown", "a b.md")]),
        ("[t](a%ffb.md)", [(1, "markdown", "a%ffb.md")]),
        ("[t](100%.md)", [(1, "markdown", "100%.md")]),
        ("[t](../a/b)", [(1, "markdown", "../a/b")]),
        ("[t](/a)", [(1, "markdown", "/a")]),
        ("[t](a.md?plain=1)", [(1, "markdown", "a.md")]),
        ("[t](notes.2026.topic)", [(1, "markdown", "notes.2026.topic")]),
        (
            "[r]: a.md\n\nx [t][r]\n[r][]\n[r]\n",
            [(3, "markdown", "a.md"), (4, "markdown", "a.md"), (5, "markdown", "a.md")],
        ),
        ("[![i](p.png)](a.md)", [(1, "markdown", "a.md")]),
        ("`[[a`]] [[b]]", [(1, "wiki", "b")]),
        ("[[a`]] b`", []),
        ("[[`code`|a]]", [(1, "wiki", "`code`")]),
    ],
)
def test_links_are_found(body: str, expected: list[tuple[int, str, str]]) -> None:
    assert found(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "`[[a]]`",
        "``x ` [[a]]``",
        "```\n[[a]]\n```\n",
        "~~~\n[[a]]\n",
        "    [[a]]\n",
        "<!-- [[a]] -->",
        "x <!-- [[a]]\n[[b]] --> y",
        "<div>\n[[a]]\n</div>\n",
        "<a title='[[a]]'>",
        "\\[[a]]",
        "[\\[a]]",
        "[[a\nb]]",
        "[[]] [[ ]] [[a",
        "[[#heading]] [t](#heading)",
        "[[https://example.org]] [[mailto:a@example.org|t]]",
        "[t](https://example.org/a.md) <https://example.org>",
        "[t](//example.org/a.md) [t](mailto:a@example.org) [t](tel:1)",
        "![t](a.md)",
        "[t](image.png) [t](doc.PDF) [t](x.html#h)",
        "[r]: a.md\n",
        "[t]() [t](<>)",
        "[text] (a.md)",
    ],
)
def test_what_is_no_link_to_a_fact(body: str) -> None:
    assert found(body) == []


def test_target_text_and_heading() -> None:
    result = body_links("[[a#h i|t]] [x *y*](b.md#c%20d)", 7, "target|text")
    assert result == (
        Link(7, "wiki", "a", "t", "h i"),
        Link(7, "markdown", "b.md", "x *y*", "c d"),
    )


@pytest.mark.parametrize(
    ("content", "order", "parts"),
    [
        ("a", "target|text", ("a", "", "")),
        (" a | b ", "target|text", ("a", "b", "")),
        ("t|a#h", "text|target", ("a", "t", "h")),
        ("a#h#i", "text|target", ("a", "", "h#i")),
        ("a\\|b", "target|text", ("a", "b", "")),
        ("a|b|c", "target|text", ("a", "b|c", "")),
        ("#h", "target|text", None),
        ("|a", "target|text", None),
        ("https://e.org", "target|text", None),
        ("dendron://v/a", "target|text", ("dendron://v/a", "", "")),
    ],
)
def test_the_two_halves_of_a_wiki_link(
    content: str, order: links.Order, parts: tuple[str, str, str] | None
) -> None:
    assert split_wiki(content, order) == parts


def test_lines_count_only_lf_and_crlf() -> None:
    assert found("a\r\nb\r\n\r\n[[c]]\r\n") == [(4, "wiki", "c")]
    assert found("\u2028\n`x` [[a]]\n\n> \x85\n> [[b]] `x`\n") == [
        (2, "wiki", "a"),
        (5, "wiki", "b"),
    ]
    assert found("a\rb\u2028c\x0cd\x85e\n[[f]]\n") == [(2, "wiki", "f")]


@pytest.mark.parametrize(
    "body",
    [
        "[[a]]\n" + "word " * 30_000,
        "[[a]]\n" + "[x] " * 5_001,
        "[[a]]\n" + "x\n" * 8_001,
        "[" * 41 + "[[a]]",
        "> " * 100 + "[[a]]",
        "- " * 100 + "[[a]]",
        "".join("  " * depth + "- x\n" for depth in range(60)) + "\n[[a]]\n",
    ],
)
def test_a_body_over_a_budget_holds_no_links(body: str) -> None:
    assert body_links(body, 1, "target|text") is None


def test_nesting_under_the_budget_is_read_to_the_bottom() -> None:
    assert found("> " * 38 + "[[a]]") == [(1, "wiki", "a")]
    assert found("[" * 30 + "[[a]]" + "]" * 30) == [(1, "wiki", "a")]
    assert found("[x] " * 4_998 + "[[a]]")[-1][2] == "a"


@pytest.mark.parametrize(
    "piece",
    [
        *("[[a]] x\n\n", "[a](b ]\n\n", "[a][b] ", "![[a\n\n", "[a](<b ]", "`[\n", "[a]: b\n"),
        *("> [a]\n", "- a\n  - [[b]]\n", "|[[a]]", "<a []", "&a[]", "*[[a]] **", "\\[[a]]"),
        *("<!-- [[ ]]", "word ", "word\n", "- x\n", "1. x\n", "_a", "`", "<", "    x\n", "> "),
    ],
)
def test_hostile_bodies_take_bounded_time(piece: str) -> None:
    body = "\n".join((piece * 140_000)[: links.SIZE_BUDGET - 16].split("\n")[:7_990])
    body = "[".join(body.split("[")[: links.BRACKET_BUDGET - 1]) + "\n\n[[z]]"
    start = time.process_time()
    assert len(body) <= links.SIZE_BUDGET
    body_links(body, 1, "target|text")
    assert time.process_time() - start < 3
