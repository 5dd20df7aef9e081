"""Where links lead."""

import pytest

from syn.index.project import fact_key
from syn.index.resolve import Resolver, fold
from tests.support.indexes import rows_of


def resolver(files: dict[str, str]) -> Resolver:
    return Resolver([fact_key(row.fact) for row in rows_of(files) if row.fact is not None])


def fact(**keys: str) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in keys.items())
    return f"---\n{lines}---\nBody\n"


WORLD = {
    "facts/a/todo.md": fact(id="t-1", title="Todo A"),
    "facts/b/todo.md": fact(id="t-2", title="Todo B"),
    "facts/b/x.md": fact(id="x-1", title="Note"),
    "facts/New name.md": fact(id="r-1", title="Old name", aliases="[Früher, t-2]"),
    "facts/straße.md": fact(id="s-1", title="Straße ÄÖ"),
    "facts/plain.md": "Body\n",
    "top.md": fact(id="facts/b/x", title="Top"),
    "facts/v1.2.md": fact(id="v", title="Version"),
}


@pytest.mark.parametrize(
    ("linking", "syntax", "target", "step", "path"),
    [
        ("top.md", "wiki", "t-1", "id", "facts/a/todo.md"),
        ("top.md", "wiki", "t-2", "id", "facts/b/todo.md"),
        ("top.md", "wiki", "facts/b/x", "id", "top.md"),
        ("top.md", "wiki", "facts/b/x.md", "path", "facts/b/x.md"),
        ("facts/a/todo.md", "wiki", "/facts/b/todo", "path", "facts/b/todo.md"),
        ("facts/b/x.md", "wiki", "todo", "relative", "facts/b/todo.md"),
        ("facts/b/x.md", "markdown", "../a/todo.md", "relative", "facts/a/todo.md"),
        ("facts/b/x.md", "wiki", "./todo", "relative", "facts/b/todo.md"),
        ("facts/b/x.md", "wiki", "a/todo", "suffix", "facts/a/todo.md"),
        ("top.md", "wiki", "v1.2", "suffix", "facts/v1.2.md"),
        ("top.md", "markdown", "facts/New%20name.md", "path", "facts/New name.md"),
        ("top.md", "wiki", "FRU\u0308HER", "alias", "facts/New name.md"),
        ("top.md", "wiki", "OLD NAME", "title", "facts/New name.md"),
        ("top.md", "wiki", "STRASSE äö", "title", "facts/straße.md"),
        ("top.md", "wiki", "dendron://any.vault/v1.2", "suffix", "facts/v1.2.md"),
        ("top.md", "wiki", "PLAIN", "title", "facts/plain.md"),
        ("facts/b/x.md", "wiki", "", "self", "facts/b/x.md"),
    ],
)
def test_the_first_step_that_finds_something_decides(
    linking: str, syntax: str, target: str, step: str, path: str
) -> None:
    found = resolver(WORLD).resolve(linking, syntax, target)
    assert (found.outcome, found.step, found.path) == ("resolved", step, path)


def test_a_stem_that_stands_twice_is_ambiguous_and_says_how_many() -> None:
    found = resolver(WORLD).resolve("top.md", "wiki", "todo")
    assert (found.outcome, found.step, found.path, found.candidates) == (
        "ambiguous",
        "suffix",
        None,
        2,
    )


def test_a_doubled_id_is_ambiguous() -> None:
    files = {"facts/a.md": fact(id="x"), "facts/b.md": fact(id="x")}
    found = resolver(files).resolve("facts/a.md", "wiki", "x")
    assert (found.outcome, found.step, found.candidates) == ("ambiguous", "id", 2)


@pytest.mark.parametrize(
    "target", ["new NAME", "nowhere", "../../../etc/passwd", "/", "..", ".", "//", "a/b/todo"]
)
def test_what_leads_nowhere_is_missing(target: str) -> None:
    found = resolver(WORLD).resolve("facts/b/x.md", "wiki", target)
    assert (found.outcome, found.path, found.candidates) == ("missing", None, 0)


def test_an_embedded_file_that_is_no_markdown_is_an_attachment() -> None:
    found = resolver(WORLD)
    assert found.resolve("top.md", "embed", "img/p.png").outcome == "attachment"
    assert found.resolve("top.md", "embed", "gone.md").outcome == "missing"
    assert found.resolve("top.md", "embed", "topic.links").outcome == "missing"
    assert found.resolve("top.md", "wiki", "img/p.png").outcome == "missing"


def test_the_order_of_facts_does_not_matter() -> None:
    keys = [fact_key(row.fact) for row in rows_of(WORLD) if row.fact is not None]
    forward, backward = Resolver(keys), Resolver(keys[::-1])
    for target in ("todo", "t-1", "old name", "x", "straße", "nowhere"):
        assert forward.resolve("top.md", "wiki", target) == backward.resolve(
            "top.md", "wiki", target
        )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Straße", "STRASSE"),
        ("ÄÖ", "äö"),
        ("e\u0301", "É"),
        ("\u017f", "S"),
        ("ΣΑΣ", "σας"),
        ("\u212a", "k"),
        ("\ufb01", "FI"),
    ],
)
def test_folding_goes_beyond_what_sqlite_folds(one: str, other: str) -> None:
    assert fold(one) == fold(other)


def test_folding_keeps_the_turkish_dot_apart() -> None:
    assert fold("I") == "i" != fold("İ")
