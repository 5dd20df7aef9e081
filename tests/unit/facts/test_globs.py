import time

import pytest

from syn.facts.globs import FactGlobs, compile_globs, escape
from syn.model.config import Config


def matches(glob: str, path: str) -> bool:
    return compile_globs((glob,)).match(path) is not None


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("facts/**/*.md", "facts/a.md"),
        ("facts/**/*.md", "facts/a/b/c.md"),
        ("**/*.md", "a.md"),
        ("**/*.md", "x/y/z.md"),
        ("*.md", "a.md"),
        ("**", "a/b"),
        ("docs/**", "docs/a/b.md"),
        ("docs/", "docs/a/b.md"),
        ("docs", "docs/a/b.md"),
        ("docs/a.md", "docs/a.md"),
        ("a?c.md", "abc.md"),
        ("[ab].md", "b.md"),
        ("[!ab].md", "c.md"),
        ("[a-c].md", "b.md"),
        ("**/drafts/**", "drafts/a.md"),
        ("**/drafts/**", "x/drafts/y/a.md"),
        ("a/**/b/**/c.md", "a/b/c.md"),
        ("a/**/b/**/c.md", "a/x/b/b/y/c.md"),
        ("*a*b*.md", "xaxbx.md"),
        ("**/**/*.md", "a.md"),
        ("[[]x].md", "[x].md"),
        ("*.md", "line\nend.md"),
        ("é*.md", "éa.md"),
    ],
)
def test_a_glob_matches(glob: str, path: str) -> None:
    assert matches(glob, path)


@pytest.mark.parametrize(
    ("glob", "path"),
    [
        ("facts/**/*.md", "facts/a.txt"),
        ("facts/**/*.md", "other/facts/a.md"),
        ("facts/**/*.md", "facts.md"),
        ("facts/**/*.md", "factsx/a.md"),
        ("*.md", "a/b.md"),
        ("*.md", "a.MD"),
        ("*.md", "a.md.bak"),
        ("docs/**", "docs"),
        ("docs/", "docs2/a.md"),
        ("docs", "docs.md"),
        ("a?c.md", "a/c.md"),
        ("[!ab].md", "a.md"),
        ("a[!b]c.md", "a/c.md"),
        ("**/drafts/**", "drafts.md"),
        ("a/**/b/**/c.md", "a/x/c.md"),
        ("", "a.md"),
    ],
)
def test_a_glob_does_not_match(glob: str, path: str) -> None:
    assert not matches(glob, path)


def test_exclude_wins_and_own_files_are_never_facts() -> None:
    globs = FactGlobs(Config("i", "n", include=("**/*.md",), exclude=("drafts", "**/x*.md")))
    assert globs.match("a/b.md") == "fact"
    assert globs.match("drafts/b.md") == "excluded"
    assert globs.match("a/xb.md") == "excluded"
    assert globs.match("a/b.txt") == "other"
    assert globs.match(".synapse/receipts/a.md") == "other"
    assert FactGlobs(Config("i", "n", include=())).match("a.md") == "other"


@pytest.mark.parametrize("path", ["a*b.md", "[x]/q?.md", "**/a.md", "plain.md", "a[!b].md"])
def test_an_escaped_path_matches_itself_alone(path: str) -> None:
    assert matches(escape(path), path)
    assert not matches(escape(path), path.replace("*", "z").replace("?", "z") + "x")


def test_matching_stays_linear_under_hostile_globs() -> None:
    start = time.perf_counter()
    assert not matches("*a" * 30 + "b", "a" * 250)
    assert not matches("/".join(["**", "a"] * 20) + "/b", "a/" * 1000 + "c")
    assert time.perf_counter() - start < 1
