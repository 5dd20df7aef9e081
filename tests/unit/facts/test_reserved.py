"""Reserved keys: shapes, defaults, ids, dates and references."""

import pytest

from syn.facts.parse import parse
from syn.model.config import Config, FactKeys
from syn.model.fact import Fact, Link, Source, Unreadable

CONFIG = Config("i", "n", relations=("up", "see"))


def fact_of(front: str, body: str = "Body\n", path: str = "facts/a b.md") -> Fact:
    fact = parse(path, f"---\n{front}---\n{body}".encode(), CONFIG)
    assert isinstance(fact, Fact), fact
    return fact


def problems_of(front: str) -> list[tuple[int, str]]:
    parsed = parse("facts/a.md", f"---\n{front}---\n".encode(), CONFIG)
    assert isinstance(parsed, Unreadable), parsed
    return [(problem.line, problem.code) for problem in parsed.problems]


def warnings_of(front: str) -> list[tuple[int, str]]:
    return [(warning.line, warning.code) for warning in fact_of(front).warnings]


@pytest.mark.parametrize(
    ("written", "fact_id"),
    [("7", "7"), ("007", "007"), ("'7'", "7"), ("1.10", "1.10"), ("true", "true"), ("a b", "a b")],
)
def test_an_id_is_its_written_text(written: str, fact_id: str) -> None:
    fact = fact_of(f"id: {written}\n")
    assert (fact.id, fact.explicit_id) == (fact_id, True)


def test_without_an_id_the_path_is_it() -> None:
    fact = fact_of("title: x\n")
    assert (fact.id, fact.explicit_id) == ("facts/a b", False)
    assert fact_of("", path="x.markdown").id == "x.markdown"


@pytest.mark.parametrize(
    "written",
    [
        *("", "~", "null", "''", "' '", "' a'", '"a\\n"', '"a\\tb"', "[a]", "{a: b}"),
        *('"a\\u200b"', '"a\\u200d"', '"a\\u202e"', '"a\\u00ad"', '"a\\ufeff"', '"a\\u2060b"'),
        *('"a\\u00a0b"', '"a\\u3000b"', '"a\\u2028b"', '"a\\u3164"', '"a\\ufe0f"', '"a\\u180e"'),
    ],
)
def test_an_id_that_is_none(written: str) -> None:
    assert problems_of(f"title: x\nid: {written}\n") == [(3, "bad-id")]


@pytest.mark.parametrize(
    "fact_id", ["é", "e\u0301", "日本", "می\u06cc", "a/b", "a#b", "\U0001f600"]
)
def test_visible_ids_of_every_script(fact_id: str) -> None:
    assert fact_of(f"id: '{fact_id}'\n").id == fact_id


@pytest.mark.parametrize(
    ("front", "body", "title"),
    [
        ("title: T\n", "# H\n", "T"),
        ("title: 1.10\n", "# H\n", "1.10"),
        ("title: ''\n", "# H\n", "H"),
        ("", "\n\n# H *x* `y`  \n", "H *x* `y`"),
        ("", "   ## H ##\n", "H"),
        ("", "# C#\r\n", "C#"),
        ("", "#\nx\n", "a b"),
        ("", "#no\n", "a b"),
        ("", "    # code\n", "a b"),
        ("", "text\n# H\n", "a b"),
        ("", "####### H\n", "a b"),
        ("", "", "a b"),
        ("", "# ##\n", "a b"),
    ],
)
def test_the_title(front: str, body: str, title: str) -> None:
    assert fact_of(front, body).title == title


def test_shapes_that_are_not_understood_are_warnings() -> None:
    front = "title: [a]\ntype: {a: b}\nstatus: [x]\ntags: [a, [b]]\naliases: {a: b}\nsource: [a]\n"
    assert warnings_of(front) == [(line, "unexpected-shape") for line in range(2, 8)]
    assert fact_of(front).tags == ("a",)
    assert warnings_of("title: ~\n") == [(2, "null-title")]
    assert warnings_of("type: ~\ntags:\nsubject: null\nvalid_to: ~\n") == []


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ("[a, 'b c', 7, ~, a]", ("a", "b c", "7")),
        ("a b", ("a", "b")),
        ("a b, c", ("a b", "c")),
        ("['#a', '#']", ("a",)),
        ("7", ("7",)),
        ("''", ()),
        ("\n- a\n- b", ("a", "b")),
    ],
)
def test_tags(written: str, tags: tuple[str, ...]) -> None:
    assert fact_of(f"tags: {written}\n").tags == tags


def test_the_statement_and_its_interval() -> None:
    fact = fact_of(
        "subject: api\nfield: owner\nvalue: no\nvalid_from: 2026-01-01\n"
        "valid_to: '2026-02-01T00:00:00+01:00'\nstatus: open\ntype: note\naliases: A, B\n"
    )
    assert (fact.subject, fact.field, fact.value) == ("api", "owner", "no")
    assert fact.valid_from is not None
    assert fact.valid_to is not None
    assert fact.valid_to.key == "2026-01-31T23:00:00.000000000Z"
    assert fact.valid_to.text == "2026-02-01T00:00:00+01:00"
    assert (fact.status, fact.type, fact.aliases) == ("open", "note", ("A, B",))


@pytest.mark.parametrize(
    "written", ["soon", "2026", "2026-02-30", "2026-01-01T00:00:00", "[2026-01-01]", "{a: b}", "''"]
)
def test_dates_that_are_none(written: str) -> None:
    assert problems_of(f"id: x\nvalid_to: {written}\n") == [(3, "invalid-date")]


def test_every_problem_of_the_reserved_keys_is_told() -> None:
    front = "valid_from: x\nid: [a]\nvalid_to: y\nsupersedes: {a: b}\na: 1\na: 2\n"
    assert problems_of(front) == [
        (2, "invalid-date"),
        (3, "bad-id"),
        (4, "invalid-date"),
        (5, "bad-reference"),
        (7, "duplicate-key"),
    ]


@pytest.mark.parametrize(
    ("written", "ids"),
    [
        ("a", ("a",)),
        ("7", ("7",)),
        ("[a, 007, a, ~]", ("a", "007")),
        ("'[[a]]'", ("a",)),
        ("['[[a|text]]', '[[b#h]]']", ("a", "b")),
        ("[[a]]", ("a",)),
        ("", ()),
        ("[]", ()),
    ],
)
def test_references(written: str, ids: tuple[str, ...]) -> None:
    assert fact_of(f"supersedes: {written}\n").supersedes == ids
    assert fact_of(f"superseded_by: {written}\n").superseded_by == ids


@pytest.mark.parametrize("written", ["[[a, b], c]", "[{a: b}]", "{a: b}"])
def test_references_that_are_none(written: str) -> None:
    assert problems_of(f"superseded_by: {written}\n") == [(2, "bad-reference")]


@pytest.mark.parametrize(
    ("written", "source", "external"),
    [
        ("{kind: person, agent: ann, session: 7}", Source("person", "ann", "7"), False),
        ("{url: 'https://e.org'}", Source(url="https://e.org"), True),
        ("https://e.org/a?b#c", Source(url="https://e.org/a?b#c"), True),
        ("web", Source("web"), True),
        ("a book", Source("a book"), False),
        ("", Source(), False),
        ("{kind: [a]}", Source(), False),
    ],
)
def test_the_source(written: str, source: Source, external: bool) -> None:
    fact = fact_of(f"source: {written}\n")
    assert fact.source == source
    assert fact.source.external is external


def test_other_key_names() -> None:
    keys = FactKeys((("id", "uid"), ("title", "name"), ("valid_from", "created")))
    config = Config("i", "n", keys=keys)
    front = b"---\nuid: u\nid: i\nname: N\ncreated: 2026-01-01\nvalid_from: soon\n---\n"
    fact = parse("a.md", front, config)
    assert isinstance(fact, Fact)
    assert (fact.id, fact.title) == ("u", "N")
    assert fact.valid_from is not None
    bad = parse("a.md", front.replace(b"2026-01-01", b"today"), config)
    assert isinstance(bad, Unreadable)
    assert bad.problems[0].message.startswith("created: ")


@pytest.mark.parametrize(
    ("front", "line"),
    [
        ("title: Learn C# in issue #12\n", 2),
        ("status: #12\n", 2),
        ("id: x\nstatus: open # why\n", 3),
        ("title: one\n  two #12\n", 3),
        ("tags:\n  - a\n  - #b\n", 4),
        ("tags: [a,\n  b #c\n  ]\n", 3),
        ("source:\n  kind: web #x\n", 3),
        ("valid_from: 2026-01-01\t# x\n", 2),
    ],
)
def test_a_comment_that_cuts_a_reserved_value(front: str, line: int) -> None:
    assert warnings_of(front) == [(line, "comment-cuts-value")]


@pytest.mark.parametrize(
    "front",
    [
        "title: 'a' # b\n",
        "title: C#\n",
        "other: a # b\n",
        "tags: # mine\n  - a\n",
        "title: |  # b\n  a\n",
        "title: a\n# b\n",
        "tags: [a, b] # c\n",
    ],
)
def test_comments_that_cut_nothing(front: str) -> None:
    assert warnings_of(front) == []


@pytest.mark.parametrize(
    "front",
    [
        '"e\\u0301": 1\n"\\u00e9": 2\n',
        'owner: 1\n"owner\\u200b": 2\n',
        'x: 1\n"\\uff49d": 2\n',
        'x: 1\n"title\\u00a0": 2\n',
    ],
)
def test_keys_that_look_the_same(front: str) -> None:
    fact = fact_of(front)
    assert [(w.line, w.code) for w in fact.warnings] == [(3, "similar-keys")]
    assert fact.warnings[0].message.isascii()


@pytest.mark.parametrize("front", ["é: 1\nè: 2\n", "É: 1\né: 2\n", "owner: 1\nOwner: 2\n"])
def test_keys_that_differ(front: str) -> None:
    assert warnings_of(front) == []


def test_direction_controls_are_told() -> None:
    assert warnings_of('x: 1\ntitle: "\u202eevil\u202c"\n') == [(3, "bidi-control")]
    assert warnings_of("title: \u0645\u06cc\u200c\u062e\u0648 \U0001f468\u200d\U0001f469\n") == []


def test_links_of_the_front_matter() -> None:
    fact = fact_of(
        "up: Parent note\nsee:\n  - '[[A|text]]'\n  - b/c.md\n  - ~\n"
        "note: see [[D#h]] and [[E]]\nup2: [[F]]\ndeep: {k: ['[[G]]']}\n",
        "[[H]]\n",
    )
    assert fact.links == (
        Link(2, "relation", "Parent note", relation="up"),
        Link(4, "relation", "A", "text", relation="see"),
        Link(5, "relation", "b/c.md", relation="see"),
        Link(7, "frontmatter", "D", heading="h", relation="note"),
        Link(7, "frontmatter", "E", relation="note"),
        Link(8, "frontmatter", "F", relation="up2"),
        Link(9, "frontmatter", "G", relation="deep"),
        Link(11, "wiki", "H"),
    )


def test_an_unquoted_relation_is_one_link() -> None:
    fact = fact_of("up: [[A, b]]\nsee:\n  - [[B]]\n  - [[C|d]]\n")
    assert [(link.line, link.target, link.text) for link in fact.links] == [
        (2, "A, b", ""),
        (4, "B", ""),
        (5, "C", "d"),
    ]


def test_lines_of_keys() -> None:
    fact = fact_of("# c\nid: x\n\na: |\n  b\nz: 1\n")
    assert fact.key_lines == (("id", 3), ("a", 5), ("z", 7))
    assert (fact.line_of("z"), fact.line_of("gone")) == (7, 1)
    assert fact.body_line == 9
