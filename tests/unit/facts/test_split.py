"""Where front matter starts and ends, and what only looks like it."""

import pytest

from syn.facts.collector import Collector
from syn.facts.split import Parts, split
from syn.facts.text import conflict_markers, decode


def parts_of(text: str) -> Parts | list[tuple[int, str]]:
    collector = Collector("a.md")
    parts = split(text, collector)
    if collector.problems:
        return [(problem.line, problem.code) for problem in collector.problems]
    assert parts is not None
    return parts


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("---\na: 1\n---\nB\n", Parts("a: 1\n", "B\n", 4)),
        ("---  \na: 1\n---\t\nB", Parts("a: 1\n", "B", 4)),
        ("---\r\na: 1\r\n---\r\n\r\nB\r\n", Parts("a: 1\r\n", "\r\nB\r\n", 4)),
        ("---\n---\n", Parts("", "", 3)),
        ("---\n---", Parts("", "", 2)),
        ("---\na: 1\n---", Parts("a: 1\n", "", 3)),
        ("---\na: 1\n---\n---\nB\n", Parts("a: 1\n", "---\nB\n", 4)),
        ("---\na: |\n  ---\n----\n---\nB", Parts("a: |\n  ---\n----\n", "B", 6)),
        ("", Parts(None, "", 1)),
        ("B\n", Parts(None, "B\n", 1)),
        ("\nB\n---\na: 1\n---\n", Parts(None, "\nB\n---\na: 1\n---\n", 1)),
        ("----\na: 1\n----\n", Parts(None, "----\na: 1\n----\n", 1)),
        ("--- text\n---\n", Parts(None, "--- text\n---\n", 1)),
        ("***\n---\n", Parts(None, "***\n---\n", 1)),
        ("\n---\n\nText\n\n---\n", Parts(None, "\n---\n\nText\n\n---\n", 1)),
        ("\n---\n# H\n\na: b\n---\n", Parts(None, "\n---\n# H\n\na: b\n---\n", 1)),
        ("\n---\na: b\n", Parts(None, "\n---\na: b\n", 1)),
        ("<!-- c -->\ntext\n---\n", Parts(None, "<!-- c -->\ntext\n---\n", 1)),
        ("{\n}\n", Parts(None, "{\n}\n", 1)),
        ('{"a": 1}\n', Parts(None, '{"a": 1}\n', 1)),
        ("a\rb\n", Parts(None, "a\rb\n", 1)),
    ],
)
def test_the_split(text: str, parts: Parts) -> None:
    assert parts_of(text) == parts


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("---\na: 1\n", (1, "unclosed-front-matter")),
        ("---\n", (1, "unclosed-front-matter")),
        ("---", (1, "unclosed-front-matter")),
        ("---\na: 1\n...\nB\n", (3, "unclosed-front-matter")),
        ("---\na: 1\n-----\nB\n", (3, "unclosed-front-matter")),
        ("---\na: 1\n ---\nB\n", (3, "unclosed-front-matter")),
        ("---\na: 1\n\u2014\nB\n", (3, "unclosed-front-matter")),
        ("---\na: 1\n...\nB\n---\n", (3, "dots-delimiter")),
        ("+++\na = 1\n+++\n", (1, "other-front-matter")),
        (";;;\n{}\n;;;\n", (1, "other-front-matter")),
        ("---toml\na = 1\n---\n", (1, "other-front-matter")),
        ('{\n  "a": 1\n}\n', (1, "other-front-matter")),
        ("\n---\na: 1\n---\n", (2, "late-front-matter")),
        (" ---\na: 1\n---\n", (1, "late-front-matter")),
        ("\ufeff---\na: 1\n---\n", (1, "late-front-matter")),
        ("\u200b---\n# c\na: 1\n---\n", (1, "late-front-matter")),
        ("<!-- c\n -->\n---\na: 1\n---\n", (3, "late-front-matter")),
        ("--- # c\na: 1\n---\n", (1, "late-front-matter")),
        ("\n\r\n---\r\na: 1\r\n---\r\n", (3, "late-front-matter")),
        ("---\ra: 1\r---\rB\r", (1, "cr-line-ends")),
        ("text\rmore\r", (1, "cr-line-ends")),
        ("---\ra: 1\r---\rB\r\n", (1, "cr-line-ends")),
    ],
)
def test_what_only_looks_like_front_matter(text: str, problem: tuple[int, str]) -> None:
    assert parts_of(text) == [problem]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a\xe9\n", (1, "not-utf8")),
        (b"a\n\xed\xa0\x80\n", (2, "not-utf8")),
        (b"a\n\xc0\x80\n", (2, "not-utf8")),
        (b"\xff\xfea\0", (1, "wide-encoding")),
        (b"\xfe\xff\0a", (1, "wide-encoding")),
        (b"\xff\xfe\0\0a\0\0\0", (1, "wide-encoding")),
        (b"a\0b\0\n\0", (1, "wide-encoding")),
        (b"\0a\0b\0\n", (1, "wide-encoding")),
        (b"a\nb\0c\n", (2, "nul-character")),
        (b"\0", (1, "nul-character")),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", (1, "lfs-pointer")),
        (b"x" * (4 * 1024 * 1024 + 1), (1, "file-too-large")),
    ],
)
def test_bytes_that_are_no_text(data: bytes, problem: tuple[int, str]) -> None:
    collector = Collector("a.md")
    assert decode(data, collector) is None
    assert [(found.line, found.code) for found in collector.problems] == [problem]


def test_the_offset_of_the_first_bad_byte_is_named() -> None:
    collector = Collector("a.md")
    decode(b"abc\n\xff", collector)
    assert "0xff at offset 4" in collector.problems[0].message


def test_one_mark_is_left_out_and_a_second_is_text() -> None:
    assert decode(b"\xef\xbb\xbfa", Collector("")) == "a"
    assert decode(b"\xef\xbb\xbf\xef\xbb\xbfa", Collector("")) == "\ufeffa"
    assert decode(b"", Collector("")) == ""
    assert decode(b"x" * (4 * 1024 * 1024), Collector("")) is not None


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> x\n", 2),
        ("<<<<<<< HEAD\r\nb\r\n=======\r\nc\r\n>>>>>>> x\r\n", 1),
        ("<<<<<<< a\nb\n||||||| base\nc\n", 1),
        ("<<<<<<< a\n>>>>>>> b\n", 1),
        ("a\n=======\nc\n>>>>>>> x\n", 2),
        ("<<<<<<<\n=======\n", 1),
    ],
)
def test_conflict_markers(text: str, line: int) -> None:
    collector = Collector("a.md")
    conflict_markers(text, collector)
    assert [(p.line, p.code) for p in collector.problems] == [(line, "conflict-markers")]


@pytest.mark.parametrize(
    "text",
    [
        "Title\n=======\n",
        ">>>>>>> quoted\n",
        "<<<<<<< alone\n",
        "    <<<<<<< HEAD\n    =======\n    >>>>>>> x\n",
        "<<<<<<<<<<\n==========\n>>>>>>>>>>\n",
        "Title\n=======\n\n>>>>>>>\n",
        "x <<<<<<< a\n=======\n",
    ],
)
def test_what_is_no_conflict(text: str) -> None:
    collector = Collector("a.md")
    conflict_markers(text, collector)
    assert collector.problems == []
