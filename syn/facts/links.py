"""Links of a body: wiki links, embeds and Markdown links to other facts (design 3.3).

The Markdown parser decides what is text, so code spans, fences, comments and HTML hold no links.
An exact prefilter leaves out the parser for bodies that cannot hold one (ADR 0006).
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias, cast
from urllib.parse import unquote

from syn.facts.pieces import may_define, pieces
from syn.model.fact import Link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from syn.model.fact import LinkSyntax

Order: TypeAlias = Literal["target|text", "text|target"]

SIZE_BUDGET = 128 * 1024
"""Characters of a body that is searched for links."""
LINE_BUDGET = 8_000
"""Lines of a body."""
BRACKET_BUDGET = 5_000
"""Opening brackets of a body."""
NESTING_BUDGET = 40
"""Brackets open at once in a paragraph, and levels of containers (a list counts two)."""

WIKI = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_WEB = re.compile(r"(?:https?|mailto|ftp|tel|data|file|javascript|vbscript):", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOT_PLAIN = ("`", "<", "\\", "\t", "    ", "~~~", "](")
"""What can make a wiki link something else, or be another link."""
_NOT_SIMPLE = ("<", "\\", "\t", "    ", "~~~", "``")
_SIMPLE = re.compile(
    r"`[^`\n]*`|\[\[([^\[\]\n]+)\]\]"
    r"|!?\[([^\[\]`\n&]*)\]\(([^\s()<>\\&`\[\]!\"'\x00-\x1f\x7f]*)\)|\]\("
)
"""A code span; what stands in a wiki link; text and address of a link or image; what may be one."""
_DEEP = re.compile(r"\n(?: {0,3}(?:[>*+-]|[0-9]{1,9}[.)])){8}")
"""Many containers on one line; a literal first makes the search ten times as fast as `^`."""
_DEEP_LINE = re.compile(r"\n(?!([-*])\1*[ \t]*$)[ >*+0-9.)-]{30}", re.MULTILINE)
_DEEP_TABS = re.compile(r"\n[ \t>*+0-9.)-]{7}")
"""A line in as many containers as the budget allows has a column for each, and a tab is four."""
_DELIMITER_ROW = re.compile(r"^[ >|:-]+\r?$", re.MULTILINE)
MAYBE_LINK = re.compile(r"\[\[|\]:|\]\((?!(?:https?://|#|mailto:))")
_LINK = re.compile(r"\[\[|\]\((?!(?:https?://|#|mailto:))")
"""What every link of a body without reference definitions needs."""
_OTHER_FILE = re.compile(r"\.(?!md\Z|mdx\Z)[A-Za-z][A-Za-z0-9]{0,3}\Z", re.IGNORECASE)
_ODD_BLANK = re.compile(
    "[\x0b\x0c\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]"
)
_LONE_CR = re.compile(r"\r(?!\n)")


def body_links(body: str, first_line: int, order: Order) -> tuple[Link, ...] | None:
    """The links of a body in source order; None when the body is over a budget.

    Args:
        body: exact text.
        first_line: line of the file on which the body starts, from 1.
        order: which half of `[[a|b]]` is the target.
    """
    if not may_hold_links(body):
        return ()
    if over_budget(body):
        return None
    if is_plain(body):
        return tuple(_plain_links(body, first_line, order))
    source = _LONE_CR.sub(" ", body).replace("\r\n", "\n")
    if may_define(source) or "\0" in source:
        return _parse(source, first_line, order, None)
    return _piecewise(source, first_line, order)


def _piecewise(source: str, first_line: int, order: Order) -> tuple[Link, ...] | None:
    """The links of each piece; the parser reads those that need it, alone (ADR 0038).

    A piece without `[[` and `](` has none, and one that nests deeply is parsed to be counted.
    """
    deep = _DEEP_TABS if "\t" in source else _DEEP_LINE
    lines = f"\n{source}"  # so that each line follows an LF
    shallow = deep.search(lines) is None
    found: list[Link] = []
    line, counted = first_line, 0
    for start, end in pieces(source, _is_closed):
        is_deep = not shallow and deep.search(lines, start, end + 1) is not None
        if _LINK.search(source, start, end) is None and not is_deep:
            continue
        piece = source[start:end]
        line += source.count("\n", counted, start)
        counted = start
        if not is_deep and _is_plain(piece):
            found += _plain_links(piece, line, order)
        elif not is_deep and (simple := _simple_links(piece, line, order)) is not None:
            found += simple
        elif (links := _parse(piece, line, order, None)) is None:
            return None
        else:
            found += links
    return tuple(found)


def _is_closed(lines: str) -> bool:
    """Whether the blocks of some lines, the last of them blank, end before a paragraph after them.

    The parser is asked by giving it one: it is then the last block, and begins where it stands.
    """
    from syn.facts.markdown import the_parser

    tokens: list[Token] = []
    parser = the_parser()
    parser.block.parse(f"{lines}x\n", parser, {}, tokens)
    if tokens[-1].type != "paragraph_close" or tokens[-1].level:
        return False
    return tokens[-2].map == [lines.count("\n"), lines.count("\n") + 1]


def may_hold_links(body: str) -> bool:
    """Whether a body has what every link needs: `[[`, `]:`, or `](` before no web address."""
    return MAYBE_LINK.search(body) is not None


def is_plain(body: str) -> bool:
    """Whether every `[[…]]` of a body is a link, since nothing in it could make one code.

    That takes no code span, fence, indented code, HTML, escape, table, Markdown link or
    reference definition, and no deep containers.
    """
    if "]:" in body or ("\r" in body and _LONE_CR.search(body)):
        return False
    return _is_plain(body)


def _is_plain(body: str) -> bool:
    return not any(map(body.__contains__, _NOT_PLAIN)) and _is_flat(body)


def _is_flat(body: str) -> bool:
    """Whether a body has neither a table nor many containers on one line."""
    if _DEEP.search(body) or _DEEP.match(f"\n{body[:200]}"):
        return False
    return "|" not in body or not _DELIMITER_ROW.search(body)


def _plain_links(body: str, first_line: int, order: Order) -> Iterator[Link]:
    line, counted = first_line, 0
    for found in WIKI.finditer(body):
        start = found.start()
        line += body.count("\n", counted, start)
        counted = start
        if (parts := split_wiki(found[1], order)) is not None:
            yield Link(line, "embed" if body[start - 1 : start] == "!" else "wiki", *parts)


def _simple_links(piece: str, first_line: int, order: Order) -> list[Link] | None:
    """The links of a piece whose code spans and Markdown links are simple; None when some are not.

    Spans are simple when their marks are single backticks, an even number on each line: then every
    span ends on its line, whatever block that is in. Links are, when text and address hold nothing
    that could be anything else. ADR 0038.
    """
    if any(map(piece.__contains__, _NOT_SIMPLE)) or not _is_flat(piece):
        return None
    if "`" in piece and any(line.count("`") % 2 for line in piece.split("\n")):
        return None
    links: list[Link] = []
    line, counted, at = first_line, 0, 0
    while (found := _SIMPLE.search(piece, at)) is not None:
        start, at = found.span()
        wiki, text, address = found.groups()
        if wiki is None and text is None:
            if found[0] == "](":
                return None
            continue
        line += piece.count("\n", counted, start)
        counted = start
        if wiki is None:
            parts, syntax = markdown_target(address, text), "markdown"
        elif wiki.count("`") % 2:
            at = start + 1
            continue
        else:
            parts = split_wiki(wiki, order)
            syntax = "embed" if piece[start - 1 : start] == "!" else "wiki"
        if parts is not None and found[0][0] != "!":
            links.append(Link(line, cast("LinkSyntax", syntax), *parts))
    return links


def parse_links(
    body: str, first_line: int, order: Order, parser: "MarkdownIt | None" = None
) -> tuple[Link, ...] | None:
    """As `body_links`, always through the Markdown parser: the module's own, or another."""
    return None if over_budget(body) else _parse(_LONE_CR.sub(" ", body), first_line, order, parser)


def _parse(
    source: str, first_line: int, order: Order, parser: "MarkdownIt | None"
) -> tuple[Link, ...] | None:
    # The parser costs as much to import as a whole `syn show`, and few bodies need it.
    from syn.facts.markdown import the_parser

    tokens = (parser or the_parser()).parse(source)
    if any(token.level >= NESTING_BUDGET for token in tokens):
        return None
    lines = source.split("\n") if _ODD_BLANK.search(source) else []
    return tuple(_walk(tokens, first_line, order, lines))


def over_budget(body: str) -> bool:
    """Whether a body is too long, or has too many or too deeply nested brackets."""
    if len(body) > SIZE_BUDGET or body.count("\n") > LINE_BUDGET:
        return True
    count = body.count("[")
    return count > BRACKET_BUDGET or (count > NESTING_BUDGET and _nests_deeply(body))


def _nests_deeply(body: str) -> bool:
    # Without its innermost pairs a text nests one level less, and hardly any brackets are left.
    if _PAIR.sub("", body).count("[") < NESTING_BUDGET:
        return False
    depth = 0
    for found in _BRACKET.finditer(body):
        match found[0][0]:
            case "[":
                depth += 1
                if depth > NESTING_BUDGET:
                    return True
            case "]":
                depth = max(0, depth - 1)
            case _:
                depth = 0
    return False


_PAIR = re.compile(r"\[[^\[\]]*+\]")
_BRACKET = re.compile(r"[\[\]]|\n[ \t]*\r?\n")


def text_links(text: str, order: Order) -> Iterator[tuple[str, str, str]]:
    """Target, text and heading of each wiki link in a front-matter value."""
    for found in WIKI.finditer(text):
        if (parts := split_wiki(found[1], order)) is not None:
            yield parts


def split_wiki(content: str, order: Order) -> tuple[str, str, str] | None:
    """Target, text and heading of what stands between `[[` and `]]`; None when it leads nowhere.

    A link to a heading of the same file and a web address lead to no other fact.
    """
    left, bar, right = content.replace("\\|", "|").partition("|")
    target, text = (right, left) if bar and order == "text|target" else (left, right)
    target, _, heading = target.strip().partition("#")
    if not target.strip() or _WEB.match(target):
        return None
    return target.strip(), text.strip(), heading.strip()


def _walk(tokens: "list[Token]", first_line: int, order: Order, lines: list[str]) -> Iterator[Link]:
    for token in tokens:
        if token.type != "inline" or not token.children or token.map is None:
            continue
        line, counted = first_line + _first_line(token.map, token.content, lines), 0
        for index, child in enumerate(token.children):
            # a link without a place is an address in angle brackets
            if child.type not in ("wiki_link", "link_open") or "pos" not in child.meta:
                continue
            position = int(child.meta["pos"])
            line += token.content.count("\n", counted, position)
            counted = position
            if child.type == "wiki_link":
                parts, syntax = split_wiki(child.content, order), child.meta["syntax"]
            else:
                parts, syntax = _markdown_parts(token.children, index), "markdown"
            if parts is not None:
                yield Link(line, syntax, *parts)


def _first_line(span: list[int], content: str, lines: list[str]) -> int:
    """The line, from 0, of the first character of a block's content.

    The parser strips content of all of Unicode's white space, so also of lines that hold nothing
    but U+2028 or the like; `lines` is given where the body has any.
    """
    start = content.partition("\n")[0]
    return next((line for line in range(*span) if not lines or start in lines[line]), span[0])


def _markdown_parts(children: "list[Token]", index: int) -> tuple[str, str, str] | None:
    text = []
    for child in children[index + 1 :]:
        if child.type == "link_close":
            break
        text.append(child.content)
    return markdown_target(str(children[index].attrGet("href") or ""), "".join(text))


def markdown_target(address: str, text: str) -> tuple[str, str, str] | None:
    """Target, text and heading of a Markdown link; None when it leads to no other fact."""
    path, _, heading = address.partition("#")
    path = _decoded(path.partition("?")[0])
    if not path or _SCHEME.match(path) or path.startswith("//"):
        return None
    if _OTHER_FILE.search(path):
        return None
    return path, text, _decoded(heading)


def _decoded(text: str) -> str:
    """Percent-escapes resolved, or the text as written when they are not UTF-8."""
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text
