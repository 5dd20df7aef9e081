"""The Markdown parser, set up to find links: CommonMark with tables and wiki links (ADR 0006)."""

from functools import cache
from typing import TYPE_CHECKING

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.rules_inline import StateInline
from markdown_it.rules_inline import link as markdown_link

from syn.facts.links import MAYBE_LINK, NESTING_BUDGET, WIKI

if TYPE_CHECKING:
    from syn.model.fact import LinkSyntax

_MAX_NESTING = 2 * NESTING_BUDGET


def _wiki_rule(state: StateInline, silent: bool) -> bool:
    """`[[…]]` and `![[…]]`, before the rules for links and images."""
    embed = state.src.startswith("![[", state.pos)
    if not embed and not state.src.startswith("[[", state.pos):
        return False
    found = WIKI.match(state.src, state.pos + embed, state.posMax)
    # an odd backtick opens a code span, which binds tighter than brackets
    if found is None or found[1].count("`") % 2 or not found[1].strip():
        return False
    if not silent:
        token = state.push("wiki_link", "", 0)
        syntax: LinkSyntax = "embed" if embed else "wiki"
        token.content = found[1]
        token.meta = {"pos": state.pos, "syntax": syntax}
    state.pos = found.end()
    return True


def _link_rule(state: StateInline, silent: bool) -> bool:
    """The parser's own rule for links, which forgets where a link stands."""
    start, known = state.pos, len(state.tokens)
    if not markdown_link(state, silent):
        return False
    if not silent:
        opening = next(token for token in state.tokens[known:] if token.type == "link_open")
        opening.meta = {"pos": start}
    return True


def _inline_rule(state: StateCore) -> None:
    """Parse the inline content of blocks that can hold a link; the others have none to find."""
    references = bool(state.env.get("references"))
    for token in state.tokens:
        if token.type == "inline":
            token.children = []
            text = token.content
            if MAYBE_LINK.search(text) or (references and "]" in text):
                state.md.inline.parse(text, state.md, state.env, token.children)


class _LinkParser(MarkdownIt):
    """The parser, which keeps a destination as it is written instead of percent-encoding it."""

    def normalizeLink(self, url: str) -> str:  # type: ignore[explicit-override]  # noqa: N802
        """A destination without a change: it names a file, and `override` is Python 3.12."""
        return url


def build_parser(*, shortcuts: bool = True) -> MarkdownIt:
    """CommonMark with tables and wiki links.

    Args:
        shortcuts: leave out what never decides what is a link; the tests compare both ways.
    """
    parser = _LinkParser("commonmark", {"maxNesting": _MAX_NESTING}).enable("table")
    parser.inline.ruler.at("link", _link_rule)
    parser.inline.ruler.before("link", "wiki_link", _wiki_rule)
    if shortcuts:
        parser.core.ruler.at("inline", _inline_rule)
        parser.disable(["emphasis", "text_join"])
    return parser


@cache
def the_parser() -> MarkdownIt:
    """The parser that decides what a body links to; made once."""
    return build_parser()
