"""The prefilter is exact: with and without it, the same links at the same lines."""

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from syn.facts.links import body_links, is_plain, parse_links
from syn.facts.markdown import build_parser
from syn.facts.pieces import pieces

PIECES = (
    *("[[a]]", "[[b|c]]", "![[d]]", "[[", "]]", "[", "]", "](", ")", "[e](f.md)", "[g](http://h)"),
    *("[i](https://j 'k')", "[l](#m)", "[n](<o p>)", "![q](r.md)", "[s][t]", "[t]: u.md\n", "]:"),
    *("[t]", "[v](mailto:w)", "](HTTP://x)", "](\nhttp://y)", "](<http://z>)", "(", "http://"),
    *("`", "``", "```\n", "~~~\n", "    ", "\t", "> ", "- ", "1. ", "# ", "|", "|-|-|\n", "\\|"),
    *(
        "\\",
        "\\[",
        "<",
        ">",
        "<!--",
        "-->",
        "<div>\n",
        "</div>",
        "<a href='",
        "<http://k>",
        "&#91;",
    ),
    *(
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " ",
        "*",
        "**",
        "_",
        "text",
        "é",
        "!",
        "===\n",
        "---\n",
        "'",
    ),
)
PLAIN_PIECES = (
    *(
        "[[a]]",
        "[[b|c]]",
        "![[d]]",
        "!",
        "[[",
        "]]",
        "[",
        "]",
        "(",
        ")",
        "[[ ]]",
        "[[#h]]",
        "a|b\n",
    ),
    *(
        "\n",
        "\n",
        "\n\n",
        "\r\n",
        " ",
        "   ",
        "> ",
        ">",
        "- ",
        "* ",
        "1. ",
        "2) ",
        "#",
        "# ",
        "---\n",
    ),
    *(
        "===\n",
        "|",
        "|-|-|\n",
        "-|-\n",
        ":-\n",
        "*",
        "_",
        "text",
        "&amp;",
        "~~",
        "\u2028",
        "é",
        "'",
    ),
)
MARKS = (
    *("`", "`", "[[a]]", "[[b|c]]", "![[d]]", "[e](f.md)", "![g](h.md)", "[i](http://j)", "[", "]"),
    *("[[", "]]", "](", "(", ")", "!", "text ", "\n", "\n", "\n\n", "- ", "1. ", "> ", "# ", "|"),
    *("[k](l#m)", "[n](<o>)", "[p](q 'r')", "``", "[s](javascript:x)", "[t](u%20v)", "[[`w`|x]]"),
    *("[y]()", "[z](//a)", "[b c](d.png)", "&amp;", "[e](f&g)", "[h][i]", "\u2028", "===\n", "`a`"),
    *(
        "`[[b]]`",
        "`[c](d)`",
        "[`e`](f)",
        "\x0c",
        "\xa0",
        "|-|-|\n",
        "---\n",
        "a ![l](m)",
        "[[n`o]]",
    ),
)
"""Code spans, wiki links, Markdown links and images, whole and in parts."""
LINES = (
    *("[[a]]", "text [b](c.md) `code`", "![[d|e]] <b>", "", "", "", " ", "\t", "text", "# H [[h]]"),
    *(
        "```",
        "````",
        "``` x",
        "``` `",
        "~~~",
        "~~~~ `",
        "  ```",
        "   ~~~",
        "    ```",
        "\t```",
        "- ```",
    ),
    *("<!--", "-->", "<!-- x -->", " <!--", "<!-->", "<?", "?>", "<!X", ">", "<![CDATA[", "]]>"),
    *("<pre>", "</pre>", "<script", "<style>x", "</TEXTAREA>", "<textarea>", "  <pre", "- <!--"),
    *("<div>", "</div>", "<x>", "<a b='c'>", "  <div>", "- <div>", "> <div>", "> <!--", "> ```"),
    *("- item [[i]]", "  more [[j]]", "-", "- ", "* [[k]](l.md)", "1. one", "   two", "  - in"),
    *("    - deep [[m]]", "\t- tab [[n]]", "    code [[o]]", "> quote [[p]]", "> - [[q]]", ">"),
    *("a | b", "--|--", "[[r]] | `", "===", "---", "- - -", "***", "[t] u", "x]: y", "[[v]]: `w`"),
    *("[[s", "t]]", "[u](", "v.md)", "`", "[w][x]", "\u2028", "\x0c", "a\rb [[y]]", "\\[[z]]"),
    *("<http://a> [[b]]", "10) [[c]] `", "+ [[d]]\t", "- [ ] [[e]] `", "- \\", "<!-- [[f]] -->"),
)
"""Lines that open, close, continue or only look like blocks, with links in and beside them."""
BLOCKS = st.lists(st.sampled_from(LINES), max_size=30)
BODIES = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)


@cache
def whole_parser() -> MarkdownIt:
    return build_parser(shortcuts=False)


@given(BODIES, st.sampled_from(("target|text", "text|target")))
@settings(max_examples=500, deadline=None)
def test_the_shortcuts_change_no_link(body: str, order: str) -> None:
    chosen = "text|target" if order == "text|target" else "target|text"
    expected = parse_links(body, 1, chosen, whole_parser())  # type: ignore[arg-type]
    assert body_links(body, 1, chosen) == expected  # type: ignore[arg-type]


@given(BLOCKS, st.sampled_from(("\n", "\n", "\r\n")))
@settings(max_examples=500, deadline=None)
def test_pieces_hold_the_links_of_the_whole(lines: list[str], end: str) -> None:
    body = end.join(lines)
    assert body_links(body, 3, "target|text") == parse_links(body, 3, "target|text", whole_parser())


@given(st.lists(st.sampled_from(MARKS), max_size=14).map("".join))
@settings(max_examples=500, deadline=None)
def test_simple_marks_need_no_parser(body: str) -> None:
    assert body_links(body, 1, "target|text") == parse_links(body, 1, "target|text", whole_parser())


@given(BLOCKS)
@settings(max_examples=200, deadline=None)
def test_pieces_are_the_body(lines: list[str]) -> None:
    body = "\n".join(lines).replace("\r", "")
    found = list(pieces(body, lambda _: True))
    assert "".join(body[start:end] for start, end in found) == body
    assert all(start < end for start, end in found)


@given(st.lists(st.sampled_from(PLAIN_PIECES), max_size=24).map("".join))
@settings(max_examples=300, deadline=None)
def test_plain_bodies_need_no_parser(body: str) -> None:
    if is_plain(body):
        assert body_links(body, 1, "target|text") == parse_links(
            body, 1, "target|text", whole_parser()
        )


@given(BODIES)
@settings(max_examples=100, deadline=None)
def test_a_link_stands_on_its_line(body: str) -> None:
    lines = body.split("\n")
    for link in body_links(body, 1, "target|text") or ():
        assert 1 <= link.line <= len(lines)
        if link.syntax in ("wiki", "embed"):
            assert "[[" in lines[link.line - 1]
