"""The strict YAML subset: what is read, what is refused, and with which line."""

import pytest

from syn.facts.collector import Collector
from syn.facts.front_matter import read
from syn.facts.front_values import FrontMatter, Watch
from syn.model.payload import Lexical, Mapping, Value

NULL = Lexical("null", "")


def front(text: str) -> tuple[FrontMatter, Collector]:
    collector = Collector("a.md")
    return read(text, Watch(), collector), collector


def value_of(text: str) -> Value | None:
    result, collector = front(text)
    assert not collector.problems
    return result.fields.get("k")


def problems_of(text: str) -> list[tuple[int, str]]:
    _, collector = front(text)
    assert all(problem.remedy for problem in collector.problems)
    return [(problem.line, problem.code) for problem in sorted(set(collector.problems))]


@pytest.mark.parametrize(
    "word",
    [
        *("no", "NO", "yes", "on", "off", "y", "none", "nil", "NaN", "inf", "nUll", "TRUe"),
        *("12:30", "190:20:30", "2026-01-05", "2026-13-45", "2026-01-05T10:00:00Z", "0000-00-00"),
        *("1_000", "0b101", "0o8", "0xg", "1e", "1.2.3", "+", "-.", ".", "1,000", "0x", "e5"),
        *("1\u0663", "Infinity", ".Nan", "+.nan", "x#y", "a:b", "http://e.org/a?b#c"),
    ],
)
def test_text_stays_text(word: str) -> None:
    assert value_of(f"k: {word}\n") == word


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        *((text, "int") for text in ("0", "7", "007", "-1", "+12", "0o17", "0xBEEF", "9" * 4400)),
        *((text, "float") for text in ("1.10", "1e3", ".5", "5.", "-0.0", "1.0e+5", "4210e3")),
        *((text, "float") for text in (".inf", "-.INF", "+.Inf", ".nan", ".NaN", ".NAN")),
        *((text, "bool") for text in ("true", "True", "TRUE", "false", "False", "FALSE")),
        *((text, "null") for text in ("~", "null", "Null", "NULL", "")),
    ],
)
def test_the_core_schema_keeps_the_written_text(written: str, kind: str) -> None:
    value = value_of(f"k: {written}\n")
    assert isinstance(value, Lexical)
    assert (value.type, value.text) == (kind, written)
    assert value_of(f"k: '{written}'\n") == written


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('k: "a\\tb\\u00e9\\U0001F600\\x41\\/"\n', "a\tbé\U0001f600A/"),
        ("k: 'it''s'\n", "it's"),
        ("k: |\n  a\n\n  b\n", "a\n\nb\n"),
        ("k: >-\n  a\n  b\n", "a b"),
        ("k: |  # why\n  a\n", "a\n"),
        ("k: a\n  b\n", "a b"),
        ("k: a\tb\n", "a\tb"),
        ("k:\ta\n", "a"),
        ("k: [a, 1,\n  b]\n", ("a", Lexical("int", "1"), "b")),
        ("k: [what?, [why]]\n", ("what?", ("why",))),
        ("k: {a: 1, b: }\n", Mapping((("a", Lexical("int", "1")), ("b", NULL)))),
        ("k:\n- a\n- - b\n-\n", ("a", ("b",), NULL)),
        ("k: []\n", ()),
        ("? k\n: a\n", "a"),
        ("k: one\u2028two\x85three\ufefffour\n", "one\u2028two\x85three\ufefffour"),
        ('k: "\\u2028\\N\\uE000" # \u2028\n', "\u2028\x85\ue000"),
        ("k: \ue000\u2028\n", "\ue000\u2028"),
        ("k: '---'\n", "---"),
        ("k: a\r\nz: b\r\n", "a"),
        ("k: |\r\n  a\r\n  b\r\n", "a\nb\n"),
        ("k: '{{ x }}'\n", "{{ x }}"),
    ],
)
def test_values(text: str, value: Value) -> None:
    assert value_of(text) == value


def test_keys_are_text_as_written() -> None:
    result, collector = front('no: 1\n1: 2\n~x: 3\n"": 4\n"<<": 5\n2026-01-05: 6\ntrue: 7\n')
    assert not collector.problems
    assert list(result.fields) == ["no", "1", "~x", "", "<<", "2026-01-05", "true"]
    assert result.key_lines[2] == ("~x", 4)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("k: 1\nk: 2\n", [(3, "duplicate-key")]),
        ("1: a\n'1': b\n", [(3, "duplicate-key")]),
        ("k:\n  a: 1\n  b: 2\n  a: 3\n", [(5, "duplicate-key")]),
        ("k: {a: 1, a: 2}\nk: 3\n", [(2, "duplicate-key"), (3, "duplicate-key")]),
        ("k: &a 1\n", [(2, "anchor")]),
        ("k: [&a 1, *a]\n", [(2, "alias"), (2, "anchor")]),
        ("&a k: 1\n*a : 2\n", [(2, "anchor"), (3, "alias")]),
        ("k: !t 1\n", [(2, "tag")]),
        ("k: ! 1\n", [(2, "tag")]),
        ("k: !!map {a: 1}\n", [(2, "tag")]),
        ("<<: {a: 1}\n", [(2, "merge-key")]),
        ("k:\n  <<:\n    a: 1\n", [(3, "merge-key")]),
        ("? [a]\n: 1\n", [(2, "collection-key")]),
        ("k: {{ x }}\n", [(2, "collection-key")]),
        ("{{ x }}: 1\n", [(2, "collection-key")]),
        ("?\n: 1\n", [(2, "empty-key")]),
        (": 1\n", [(2, "yaml-syntax")]),
        ("- a\n", [(2, "not-a-mapping")]),
        ("text\n", [(2, "not-a-mapping")]),
        ("# why\n\n~\n", [(4, "not-a-mapping")]),
        ("--- {a: 1}\n", [(2, "several-documents")]),
        ("a: 1\n--- b\n", [(3, "several-documents")]),
        ("%YAML 1.2\na: 1\n", [(2, "directive")]),
        ("a: 1\n\tb: 2\n", [(3, "tab-indentation")]),
        ("a:\n  -\tb\n", [(3, "tab-indentation")]),
        ("a: |\n\tb\n", [(3, "tab-indentation")]),
        ("a: @x\n", [(2, "unquoted-start")]),
        ("- `x`\n", [(2, "unquoted-start")]),
        ("a: b: c\n", [(2, "yaml-syntax")]),
        ("a: 1\nb:\u00a02\nc: 3\n", [(3, "yaml-syntax")]),
        ("a: 'x\nb: 1\n", [(2, "yaml-syntax")]),
        ("a: [x\nb: 1\n", [(3, "yaml-syntax")]),
        ("a: [[x]] and more\n", [(2, "yaml-syntax")]),
        ("a: |#c\n  x\n", [(2, "yaml-syntax")]),
        ('a: "C:\\Users"\n', [(2, "unknown-escape")]),
        ('a: "\\ud83d\\ude00"\n', [(2, "lone-surrogate")]),
        ('a: "x\n  \\udc00"\n', [(3, "lone-surrogate")]),
        ('a: "\\0"\n', [(2, "control-character")]),
        ('a: "\\x7f"\n', [(2, "control-character")]),
        ("a: x\x07y\n", [(2, "control-character")]),
        ("a: 1\nb: x\ry\n", [(3, "control-character")]),
        ("a: 1\n<<<<<<< ours\nb: 2\n", [(3, "conflict-markers")]),
        ("a: 1\n=======\nb: 2\n", [(3, "conflict-markers")]),
        ("a: 1\na: 2\nb: 'x\n", [(3, "duplicate-key"), (4, "yaml-syntax")]),
        ("a: " + "[" * 20 + "]" * 20 + "\n", [(2, "too-deep")]),
        ("a: " + "[" * 2000 + "\n", [(2, "too-deep")]),
        ("a: x\n" * 2 + "b" * 300_000 + ": 1\n", [(2, "front-matter-too-large")]),
        ("a: [" + "x," * 33_000 + "]\n", [(2, "too-many-nodes")]),
        ("a:\n" + "- x\n" * 33_000, [(32_768, "too-many-nodes")]),
        ("a: [" + "[]," * 33_000 + "]\n", [(2, "too-many-nodes")]),
    ],
)
def test_what_is_refused(text: str, problems: list[tuple[int, str]]) -> None:
    assert problems_of(text) == problems


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a: 1\nb:\u00a02\nc: 3\n", "look-alike blank"),
        ("a: b: c\n", "colon"),
        ("a: @b\n", "@b"),
        ("a: 'b\n", "'b"),
        ("a:\n\tb: 1\n", "tab"),
        ('a: "\\q"\n', "escape"),
    ],
)
def test_the_message_says_what_is_seen_on_the_line(text: str, word: str) -> None:
    _, collector = front(text)
    assert word in collector.problems[0].message


def test_sixteen_levels_are_read() -> None:
    value = value_of("k: " + "[" * 15 + "]" * 15 + "\n")
    for _ in range(14):
        assert isinstance(value, tuple)
        (value,) = value
    assert value == ()


def test_a_duplicate_names_both_lines() -> None:
    _, collector = front("a: 1\nb: 2\na: 3\n")
    assert "line 2" in collector.problems[0].message


@pytest.mark.parametrize("text", ["", "\n", "  \n\r\n"])
def test_nothing_is_an_empty_mapping(text: str) -> None:
    result, collector = front(text)
    assert result.fields == Mapping()
    assert not collector.warnings


def test_comments_alone_are_quoted_in_a_warning() -> None:
    result, collector = front("\n# First part\n\n#second\n")
    assert result.fields == Mapping()
    assert [(w.line, w.code) for w in collector.warnings] == [(3, "empty-front-matter")]
    assert "# First part" in collector.warnings[0].message


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("[[Some note]]", "[[Some note]]"),
        ("[[a|b]]", "[[a|b]]"),
        ("[[Smith, John]]", "[[Smith, John]]"),
        ("[[a: b]]", "[[a: b]]"),
        ("[[a#b c]]", "[[a#b c]]"),
        ("[[2026]]", "[[2026]]"),
        ("[[What is it?]]", "[[What is it?]]"),
        ("[[[a]], [[b]]]", ("[[a]]", "[[b]]")),
    ],
)
def test_an_unquoted_link_is_its_text(written: str, value: Value) -> None:
    result, collector = front(f"k: {written}\n")
    assert not collector.problems
    assert result.fields.get("k") == value
    assert {w.code for w in collector.warnings} == {"unquoted-link"}
    assert value == written if isinstance(value, str) else True


@pytest.mark.parametrize(
    "written", ["[[1, 2]]", "[[1, 2], [3, 4]]", "[[a], [b]]", "[ [a] ]", '[["a"]]', "[[]]", "[a]"]
)
def test_a_list_in_a_list_stays_one(written: str) -> None:
    result, collector = front(f"k: {written}\n")
    assert isinstance(result.fields.get("k"), tuple)
    assert not collector.warnings


def test_messages_hold_short_printable_quotes() -> None:
    _, collector = front("k: &" + "a" * 500 + " 1\n\x85@: 'x\n")
    for problem in collector.problems:
        assert len(problem.message) < 200
        assert problem.message.isprintable()
