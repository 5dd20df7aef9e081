import pytest

from syn.facts.edit import EditError, set_fields
from syn.facts.parse import parse
from syn.facts.render import FieldValue, render
from syn.model.config import Config
from syn.model.fact import Fact
from syn.model.payload import Lexical, Mapping

CONFIG = Config("i", "n")


def fields_of(data: bytes) -> dict[str, FieldValue]:
    fact = parse("a.md", data, CONFIG)
    assert isinstance(fact, Fact), fact
    return dict(fact.fields.items)


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ("a: 11:45\nb: x\n", {"b": "w"}, "a: 11:45\nb: w\n"),
        ("a: 1\n", {"b": "two words"}, "a: 1\nb: two words\n"),
        ("a: 1\nb: 2\nc: 3\n", {"b": None}, "a: 1\nc: 3\n"),
        ("a: 1\n", {"z": None}, "a: 1\n"),
        ("a: x # why\n", {"a": "w"}, "a: w # why\n"),
        ("a: 'x'\n", {"a": "it's"}, "a: 'it''s'\n"),
        ('a: "x"\n', {"a": "y"}, 'a: "y"\n'),
        ("a: 'x'\n", {"a": "two\nlines"}, 'a: "two\\nlines"\n'),
        ("a:\nb: 1\n", {"a": "v"}, "a: v\nb: 1\n"),
        ("a: # why\nb: 1\n", {"a": "v"}, "a: v # why\nb: 1\n"),
        ("a:\n  # why\nb: 1\n", {"a": "v"}, "a: v\n  # why\nb: 1\n"),
        ("a: |\n  x\n  y\n\nb: 1\n", {"a": "v"}, "a: v\n\nb: 1\n"),
        ("a: >- # why\n  x\nb: 1\n", {"a": "v"}, "a: v # why\nb: 1\n"),
        ("a: |\n  x\n# about b\nb: 1\n", {"a": None}, "# about b\nb: 1\n"),
        ("a: [x, y] # why\nb: 1\n", {"a": ("x", "z")}, "a: [x, z] # why\nb: 1\n"),
        ("a: [x,\n  y]\nb: 1\n", {"a": ("z",)}, "a: [z]\nb: 1\n"),
        ("a: [x]\n", {"a": ()}, "a: []\n"),
        ("a:\n  - x # one\n  - y\n", {"a": ("x", "y", "z")}, "a:\n  - x # one\n  - y\n  - z\n"),
        ("a:\n- x\n- y # two\nb: 1\n", {"a": ("z", "y")}, "a:\n- z\n- y # two\nb: 1\n"),
        ("a:\n- x\n- y\nb: 1\n", {"a": ("w", "x", "y")}, "a:\n- w\n- x\n- y\nb: 1\n"),
        ("a:\n- x\n# on y\n- y\n", {"a": ("x", "m", "y")}, "a:\n- x\n- m\n# on y\n- y\n"),
        ("a: # why\n  - x # x\nb: 1\n", {"a": "v"}, "a: v # why\nb: 1\n"),
        ("a: # why\n  - x\nb: 1\n", {"a": ()}, "a: [] # why\nb: 1\n"),
        ("a:\n  -\n    x\nb: 1\n", {"a": ("w",)}, "a:\n  - w\nb: 1\n"),
        ("a:\n  k: 1\n  l: 2 # l\nb: 1\n", {"a": Mapping((("k", "v"),))}, "a:\n  k: v\nb: 1\n"),
        (
            "s:\n  kind: web # k\n  url: 'u'\n# b\nb: 1\n",
            {"s": Mapping((("url", "v"), ("kind", "web"), ("agent", "ann")))},
            "s:\n  kind: web # k\n  url: 'v'\n  agent: ann\n# b\nb: 1\n",
        ),
        (
            "s:\n    k:\n    - x # x\n    - z\n    l: |\n      t\n    m: 1\n",
            {"s": Mapping((("k", ("x", "w")), ("l", "t\n")))},
            "s:\n    k:\n    - x # x\n    - w\n    l: |\n      t\n",
        ),
        (
            "s:\n  a: 1\nb: 1\n",
            {"s": Mapping((("c", Mapping((("d", "e"),))),))},
            "s:\n  c:\n    d: e\nb: 1\n",
        ),
        ("s: # why\n  a: 1\nb: 1\n", {"s": Mapping()}, "s: {} # why\nb: 1\n"),
        ("s:\n  a: 1\nb: 1\n", {"s": ("x",)}, "s:\n  - x\nb: 1\n"),
        ("s:\n- x\nb: 1\n", {"s": Mapping((("a", "x"),))}, "s:\n  a: x\nb: 1\n"),
        ("a: {k: 1}\n", {"a": Mapping((("k", "no"),))}, 'a: {k: "no"}\n'),
        ("  a: 1\n  b: 2\n", {"b": "v", "c": ("x",)}, "  a: 1\n  b: v\n  c:\n    - x\n"),
        ("? a\n: x\nb: 1\n", {"a": "w"}, "? a\n: w\nb: 1\n"),
        ("? a\n: x\nb: 1\n", {"a": None}, "b: 1\n"),
        ("'a' : x\n", {"a": "w"}, "'a' : w\n"),
        ("a: x\n\n# end\n", {"b": "w"}, "a: x\n\n# end\nb: w\n"),
        ("a: |+\n  x\n\n", {"b": "w"}, "a: |+\n  x\n\nb: w\n"),
        ("# only\n", {"a": "x"}, "# only\na: x\n"),
        ("", {"a": "x"}, "a: x\n"),
        ("a: [[x]]\nb: 1\n", {"b": Lexical("int", "2")}, "a: [[x]]\nb: 2\n"),
        ("a: [[x]]\n", {"a": "[[y]]"}, 'a: "[[y]]"\n'),
        ("a: 1\n", {"a": "1"}, 'a: "1"\n'),
        ("a: ~\n", {"a": Lexical("null", "null")}, "a: null\n"),
        ("a: one\u2028two\nb: 1\n", {"b": "\u2028"}, 'a: one\u2028two\nb: "\\u2028"\n'),
    ],
)
def test_only_the_named_lines_change(
    before: str, changes: dict[str, FieldValue | None], after: str
) -> None:
    result = set_fields(f"---\n{before}---\nBody\n".encode(), changes)
    assert result.decode() == f"---\n{after}---\nBody\n"


def test_a_change_of_nothing_gives_the_same_bytes() -> None:
    data = b'\xef\xbb\xbf---  \r\na:   "x"\t# c\r\nb: [ 1,2 ]\n---\t\r\nBody\r\nmore\n'
    assert set_fields(data, {"a": "x", "gone": None}, "Body\nmore\n") == data
    assert set_fields(data, {}) == data


def test_the_order_of_keys_is_no_change() -> None:
    data = b"---\na:\n  k: v\n  l: w\n---\n"
    assert set_fields(data, {"a": Mapping((("l", "w"), ("k", "v")))}) == data


def test_line_ends_and_the_mark_stay() -> None:
    data = b"\xef\xbb\xbf---\r\na: x\r\n---\r\nBody\r\n"
    result = set_fields(data, {"a": "w", "b": ("z",)}, "New\nbody\n")
    assert result == b"\xef\xbb\xbf---\r\na: w\r\nb:\r\n  - z\r\n---\r\nNew\r\nbody\r\n"


def test_front_matter_is_made_where_there_is_none() -> None:
    assert set_fields(b"Body\n", {"a": "x"}) == b"---\na: x\n---\nBody\n"
    assert set_fields(b"", {"a": "x"}, "B") == b"---\na: x\n---\nB"
    assert set_fields(b"Body\n", {}, "Other\n") == b"Other\n"


def test_a_body_that_looks_like_front_matter_stays_body() -> None:
    result = set_fields(b"Body\n", {}, "---\na: x\n---\n")
    assert result == b"---\n---\n---\na: x\n---\n"
    fact = parse("a.md", result, CONFIG)
    assert isinstance(fact, Fact)
    assert fact.body == "---\na: x\n---\n"


def test_a_closing_line_at_the_end_of_the_file_gets_its_line_end() -> None:
    assert set_fields(b"---\na: x\n---", {}, "B\n") == b"---\na: x\n---\nB\n"
    assert set_fields(b"---\na: x\n---", {"a": "w"}) == b"---\na: w\n---"


@pytest.mark.parametrize(
    ("data", "changes", "line"),
    [
        (b"---\na: 1\na: 2\n---\n", {"b": "x"}, 3),
        (b"---\na: 1\n", {"b": "x"}, 1),
        (b"---\n{a: 1}\n---\n", {"b": "x"}, 2),
        (b"\xff\xfe", {"b": "x"}, 1),
        (b"---\na: 1\n---\n", {"b": Lexical("int", "one")}, 2),
        (b"---\na: 1\n---\n", {"b": "\x00"}, 3),
        (b"---\n? a\n:\n  - x\n---\n", {"a": Mapping((("k", "v"),))}, 2),
    ],
)
def test_what_cannot_be_edited_safely_is_refused(
    data: bytes, changes: dict[str, FieldValue | None], line: int
) -> None:
    with pytest.raises(EditError, match=rf"^facts/a\.md:{line}: ") as caught:
        set_fields(data, changes, path="facts/a.md")
    assert caught.value.code == "cannot-edit"


def test_a_new_fact_is_rendered() -> None:
    data = render(
        [
            ("id", "f-1"),
            ("title", "Learn C# in issue #12"),
            ("valid_from", "2026-04-15"),
            ("tags", ("no", "a b")),
            ("source", Mapping((("kind", "web"), ("url", "https://example.org")))),
            ("empty", ()),
            ("nested", (("a", ("b",)), Mapping((("k", Lexical("null", "")),)))),
            ("version", Lexical("float", "1.10")),
            ("on", "x"),
        ],
        "Body\n",
    )
    assert data.decode().splitlines() == [
        "---",
        "id: f-1",
        'title: "Learn C# in issue #12"',
        'valid_from: "2026-04-15"',
        "tags:",
        '  - "no"',
        "  - a b",
        "source:",
        "  kind: web",
        '  url: "https://example.org"',
        "empty: []",
        "nested:",
        "  - [a, [b]]",
        "  - {k: }",
        "version: 1.10",
        '"on": x',
        "---",
        "Body",
    ]
    assert fields_of(data)["title"] == "Learn C# in issue #12"
