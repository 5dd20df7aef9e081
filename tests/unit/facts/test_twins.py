import pytest
from hypothesis import given
from hypothesis import strategies as st

from syn.facts.twins import path_problems


def codes(*paths: bytes, kind: str = "file") -> dict[bytes, list[str]]:
    found = path_problems((path, kind) for path in paths)
    return {path: [problem.code for problem in problems] for path, problems in found.items()}


@pytest.mark.parametrize(
    "path",
    [
        b"facts/a.md",
        "facts/Café.md".encode(),
        b"facts/tab\tname.md",
        b"facts/-dash.md",
        b"facts/ lead.md",
        b'facts/quo"te.md',
        "facts/sep\u2028two.md".encode(),
        b"facts/console.md",
        b"facts/.hidden.md",
        b"facts/com10.md",
        b"facts/..a.md",
        b"facts/a..b.md",
    ],
)
def test_ordinary_and_odd_names_are_facts(path: bytes) -> None:
    assert codes(path) == {}


@pytest.mark.parametrize(
    ("path", "code"),
    [
        (b"facts/new\nline.md", "name-newline"),
        (b"facts/cr\r.md", "name-newline"),
        (b"facts/a\\b.md", "name-backslash"),
        (b"facts/a:b.md", "name-colon"),
        (b"../a.md", "name-escape"),
        (b"facts/../../a.md", "name-escape"),
        (b"facts//a.md", "name-escape"),
        (b"./a.md", "name-escape"),
        (b"facts/.GIT/a.md", "name-git"),
        (b"facts/\xe9t\xe9.md", "name-not-utf8"),
        (b"facts/NUL.md", "name-reserved"),
        (b"facts/aux/a.md", "name-reserved"),
        (b"facts/com1.tar.md", "name-reserved"),
        (b"facts/dir./a.md", "name-reserved"),
        (b"facts/dir /a.md", "name-reserved"),
    ],
)
def test_a_name_that_cannot_be_kept_everywhere(path: bytes, code: str) -> None:
    assert codes(path) == {path: [code]}


def test_links_and_nested_repositories() -> None:
    assert codes(b"facts/l.md", kind="symlink") == {b"facts/l.md": ["symlink"]}
    assert codes(b"nested", kind="gitlink") == {b"nested": ["gitlink"]}


def test_case_twins_are_found_on_both() -> None:
    found = codes(b"facts/Plan.md", b"facts/plan.md", b"facts/other.md")
    assert found == {b"facts/Plan.md": ["case-twin"], b"facts/plan.md": ["case-twin"]}


def test_folders_that_differ_in_case_make_twins_of_equal_names() -> None:
    assert set(codes(b"A/x.md", b"a/x.md", b"a/y.md")) == {b"A/x.md", b"a/x.md"}


def test_unicode_twins_name_the_other_one() -> None:
    composed, decomposed = "facts/Caf\u00e9.md".encode(), "facts/Cafe\u0301.md".encode()
    found = path_problems([(composed, "file"), (decomposed, "file")])
    assert [p.code for p in found[composed]] == ["unicode-twin"]
    assert "Cafe" in found[composed][0].message


@pytest.mark.parametrize(
    ("one", "other"), [("straße", "STRASSE"), ("ǅ", "ǆ"), ("İ", "i\u0307"), ("\u03c2", "\u03c3")]
)
def test_folding_covers_all_of_unicode(one: str, other: str) -> None:
    assert len(codes(one.encode(), other.encode())) == 2


def test_the_order_of_entries_does_not_matter() -> None:
    entries = [(b"b.md", "file"), (b"B.md", "file"), (b"a:b", "file")]
    assert path_problems(entries) == path_problems(reversed(entries))


_NAMES = st.lists(
    st.text(st.sampled_from("aAbk\u212a./ \\:\nnulcom"), min_size=1, max_size=6), unique=True
)


@given(_NAMES, st.sampled_from(["file", "symlink"]))
def test_names_are_judged_alike_one_by_one_and_all_at_once(names: list[str], kind: str) -> None:
    """A link beside them keeps the judgement of all at once from being taken."""
    entries = [(name.encode(), kind) for name in names]
    found = path_problems([*entries, (b"zz-link", "symlink")])
    found.pop(b"zz-link")
    assert path_problems(entries) == found
