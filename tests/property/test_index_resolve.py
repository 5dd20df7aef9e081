"""Resolving over the facts that can matter gives what resolving over all of them gives."""

import posixpath

from hypothesis import given, settings
from hypothesis import strategies as st

from syn.index.lines import text_list
from syn.index.resolve import Resolver, Wanted, fold
from syn.index.rows import FactKey

WORDS = st.sampled_from(["a", "b", "A", "é", "e\u0301", "x y", "v1.2", "a.md", "..", ".", ""])
NAMES = st.lists(WORDS, min_size=1, max_size=3).map("/".join)
PATHS = NAMES.map(lambda name: f"{posixpath.normpath('/' + name).strip('/') or 'top'}.md")
TARGETS = (
    NAMES
    | NAMES.map(lambda name: f"/{name}")
    | NAMES.map(lambda name: f"./{name}")
    | NAMES.map(lambda name: f"../{name}.md")
    | NAMES.map(lambda name: f"dendron://v/{name}")
    | NAMES.map(lambda name: name.replace(" ", "%20"))
)
SYNTAXES = st.sampled_from(["wiki", "markdown", "embed"])


@st.composite
def keys(draw: st.DrawFn) -> list[FactKey]:
    return [
        FactKey(
            path,
            draw(WORDS | st.just(path.removesuffix(".md"))),
            0,
            fold(draw(WORDS)),
            tuple(map(fold, draw(st.lists(WORDS, max_size=1)))),
            (),
            (),
        )
        for path in sorted(draw(st.sets(PATHS, max_size=6)))
    ]


@given(facts=keys(), links=st.lists(st.tuples(PATHS, SYNTAXES, TARGETS), min_size=1, max_size=4))
@settings(max_examples=200, deadline=None)
def test_a_wanted_subset_is_enough(facts: list[FactKey], links: list[tuple[str, str, str]]) -> None:
    wanted = Wanted((linking, target) for linking, _, target in links)
    few = [
        key
        for key in facts
        if wanted.covers(key.path, key.id, key.title_key, text_list(key.aliases))
    ]
    whole, part, back = Resolver(facts), Resolver(few), Resolver(facts[::-1])
    for link in links:
        assert part.resolve(*link) == whole.resolve(*link) == back.resolve(*link)
