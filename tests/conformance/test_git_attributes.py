"""Attribute files and patterns: `git check-attr` is the judge."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from syn.errors import SynError
from syn.git.convert import AttributeValue
from syn.git.repository import open_repository
from syn.git.rules import attributes_of, parse_rules
from syn.git.worktree import worktree_snapshot
from tests.support.gitbox import GitBox

NAMES = ("text", "eol", "ident", "filter", "diff", "own")
PATHS = (
    b"a.md",
    b"facts/a.md",
    b"facts/deep/b.md",
    b"facts/deep/er/c.MD",
    b"x/facts/a.md",
    b"[a].md",
    b"a b.md",
    b"-x",
    b"a\\b.md",
    "é/ü.md".encode(),
    b"facts",
    b"a/b/c/d/e",
    b"*.md",
    b"a]b",
    b"!x",
    b"#x",
    b"\xff.md",
    b"0",
    b"_",
)
PATTERNS = (
    "*",
    "*.md",
    "a.md",
    "/a.md",
    "facts/*.md",
    "facts/**",
    "**/a.md",
    "facts/**/b.md",
    "facts/**/er/*",
    "**",
    "***",
    "a**",
    "**a.md",
    "facts/**b.md",
    "**/",
    "facts/",
    "*/a.md",
    "?.md",
    "[ab].md",
    "[!a].md",
    "[^a-c]*",
    "[[:alpha:]]*",
    "[[:digit:]_]",
    "[]a]*",
    "[a-]*",
    "[z-a]",
    "[",
    "[a",
    "\\[a\\].md",
    "\\*.md",
    "a\\",
    "a\\\\b.md",
    '"a b.md"',
    '"\\303\\251/*"',
    "é/**",
    "!x",
    "\\!x",
    "\\#x",
    "#x",
    "[[:nope:]]",
    "[/]",
    "facts[/]a.md",
    "facts?a.md",
    "*.[mM][dD]",
    "[\\]]",
    "a[]]b",
    "/**/a.md",
    "/facts/*",
    "a/**/e",
    "a/*/e",
    "a/**/**/e",
    "a/b/**/c/d/e",
    "*/*",
    "/*/",
    "**/facts/**",
    "[!/]",
    "[[:punct:]]x",
    "[[:alpha:]-z]*",
    "[a-[:digit:]]",
    "",
)


def judged(box: GitBox, paths: Iterable[bytes]) -> dict[bytes, dict[str, AttributeValue]]:
    """`git check-attr` for these paths."""
    asked = b"\0".join(paths) + b"\0"
    fields = box.git_bytes("check-attr", "-z", "--stdin", *NAMES, stdin=asked).split(b"\0")[:-1]
    found: dict[bytes, dict[str, AttributeValue]] = {}
    plain: dict[bytes, AttributeValue] = {b"unspecified": None, b"set": True, b"unset": False}
    for path, name, value in zip(fields[0::3], fields[1::3], fields[2::3], strict=True):
        found.setdefault(path, {})[name.decode()] = plain.get(value, value.decode())
    return found


def ours(files: dict[bytes, bytes], path: bytes) -> dict[str, AttributeValue]:
    """The same from the text of rule files by folder."""
    above = [b"", *(path[: at + 1] for at in range(len(path)) if path[at : at + 1] == b"/")]
    frames = [
        parse_rules(files[folder], folder, macros=not folder)
        for folder in reversed(above)
        if folder in files
    ]
    found = attributes_of(path, frames)
    return {name: found.get(name) for name in NAMES}


@pytest.fixture(scope="module")
def rules_box(tmp_path_factory: pytest.TempPathFactory) -> GitBox:
    return GitBox.new(tmp_path_factory.mktemp("rules") / "repo")


def compare(box: GitBox, files: dict[bytes, bytes]) -> None:
    for folder, data in files.items():
        box.write(folder + b".gitattributes", data)
    try:
        for path, expected in judged(box, PATHS).items():
            assert ours(files, path) == expected, (files, path)
    finally:
        for folder in files:
            box.write(folder + b".gitattributes", b"")


def test_every_pattern(rules_box: GitBox) -> None:
    for number in range(0, len(PATTERNS), 5):
        several = PATTERNS[number : number + 5]
        # One attribute a pattern, so that one call of git judges several of them.
        lines = [f"{pattern} {name}" for pattern, name in zip(several, NAMES, strict=False)]
        compare(rules_box, {b"": "\n".join(lines).encode() + b"\n"})


def test_lines_of_every_form(rules_box: GitBox) -> None:
    compare(
        rules_box,
        {
            b"": b"\xef\xbb\xbf* text\n  *.md -text eol=lf\r\n\n# comment text\n*.md !eol\n"
            b"[attr]own text filter=lfs -ident\n[attr]nested own diff=x\nfacts/** own -diff\n"
            b"a.md nested\n*.MD binary\n*.md =bad -=x text=auto eol = lf\n"
            + b"a* ident"
            + b" x" * 1100
            + b"\n",
            b"facts/": b"*.md eol=crlf\n/a.md ident\ndeep/* filter=f\n[attr]late text\n*.md late\n",
            b"facts/deep/": b"*.md !filter text=auto\nb.md -ident ident\n",
        },
    )


_word = st.sampled_from(
    [
        "text",
        "-text",
        "!text",
        "eol=lf",
        "eol=crlf",
        "-eol",
        "ident",
        "-ident",
        "filter=x",
        "binary",
        "own",
    ]
)
_pattern = st.text("ab/*?[]!^-\\.", min_size=1, max_size=7)
_line = st.builds(
    lambda p, w: f"{p} {' '.join(w)}", _pattern, st.lists(_word, min_size=1, max_size=3)
)
_path = st.text("ab.-/", min_size=1, max_size=7).map(
    lambda t: "/".join(p for p in t.split("/") if p.strip(".")) or "a"
)


@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(_line, min_size=1, max_size=8), st.lists(_path, min_size=5, max_size=25, unique=True)
)
def test_any_rules(rules_box: GitBox, lines: list[str], paths: list[str]) -> None:
    data = ("[attr]own text=auto -filter\n" + "\n".join(lines) + "\n").encode()
    rules_box.write(".gitattributes", data)
    for path, expected in judged(rules_box, [p.encode() for p in paths]).items():
        assert ours({b"": data}, path) == expected, (data, path)


def test_where_rules_come_from(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit(
        "one",
        {
            "facts/a.md": "a\n",
            "facts/b.md": "b\n",
            "facts/.gitattributes": "*.md eol=crlf\n",
            "c.md": "c\n",
        },
    )
    for name in ("facts/a.md", "facts/b.md", "c.md"):
        box.write(name, "x\r\n")
    repo = open_repository(box.path)

    def read() -> dict[bytes, bytes]:
        snapshot = worktree_snapshot(repo, wanted=lambda path: path.endswith(b".md"))
        return {e.path: snapshot.read(e) for e in snapshot.entries() if e.path.endswith(b".md")}

    lf, crlf = b"x\n", b"x\r\n"
    assert read() == {b"c.md": crlf, b"facts/a.md": lf, b"facts/b.md": lf}
    box.write(".git/info/attributes", "facts/b.md -text\nc.md text\n")
    assert read() == {b"c.md": lf, b"facts/a.md": lf, b"facts/b.md": crlf}
    (box.path / ".git/info/attributes").unlink()
    # A rule file that is in the index alone counts; a link to one does not.
    (box.path / "facts/.gitattributes").unlink()
    assert read()[b"facts/a.md"] == lf
    box.git("rm", "-q", "--cached", "facts/.gitattributes")
    assert read()[b"facts/a.md"] == crlf
    (box.path / "rules").write_text("*.md text\n")
    (box.path / "facts/.gitattributes").symlink_to("../rules")
    assert read()[b"facts/a.md"] == crlf
    box.git("config", "core.attributesFile", str(box.path / "rules"))
    assert read()[b"facts/a.md"] == lf


def test_find_and_read_know_the_rules(tmp_path: Path) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"facts/a.md": "a\n", ".gitattributes": "*.md text\n"})
    box.write("facts/a.md", "b\r\n")
    snapshot = worktree_snapshot(open_repository(box.path))
    entry = snapshot.find(b"facts/a.md")
    assert entry is not None
    assert snapshot.read(entry) == b"b\n"
    assert snapshot.to_git(b"facts/new.md", b"n\r\n") == b"n\n"
    assert snapshot.read_disk(entry) == b"b\r\n"


@pytest.mark.parametrize("form", ["split", "sparse", "damaged"])
def test_rules_in_indexes_that_libgit2_cannot_read(tmp_path: Path, form: str) -> None:
    box = GitBox.new(tmp_path / "repo")
    box.commit("one", {"facts/a.md": "a\n", ".gitattributes": "*.md text\n", "other/x": "x"})
    if form == "split":
        box.git("update-index", "--split-index")
    if form == "sparse":
        box.git("sparse-checkout", "set", "--cone", "--sparse-index", "facts")
    if form == "damaged":
        oid = box.git("rev-parse", "HEAD:.gitattributes")
        path = box.path / ".git/objects" / oid[:2] / oid[2:]
        path.chmod(0o644)
        path.write_bytes(path.read_bytes()[:-4])
    box.write("facts/a.md", "a\r\n")
    snapshot = worktree_snapshot(open_repository(box.path))
    found = {e.path: e for e in snapshot.entries()}
    assert snapshot.read(found[b"facts/a.md"]) == b"a\n"
    if form == "damaged":
        (box.path / ".gitattributes").unlink()
        with pytest.raises(SynError) as caught:
            list(worktree_snapshot(open_repository(box.path)).entries())
        assert caught.value.code == "object-mismatch"
