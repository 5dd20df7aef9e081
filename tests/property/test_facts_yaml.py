"""The strict reader: the same with and without libyaml, and total over hostile text."""

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from syn.facts.collector import Collector
from syn.facts.front_matter import Scanner, read
from syn.facts.front_values import FrontMatter, Watch
from syn.model.payload import Lexical, Mapping, Value
from syn.model.problem import Problem

WATCHED = Watch(values=frozenset("a"), comments=frozenset("k"))
BLOCK = (
    *(
        "a",
        "b: ",
        "k: ",
        "- ",
        "- x\n",
        "\n",
        "\n",
        "\n  ",
        "\n    ",
        " ",
        "\t",
        "key:\n",
        "x: y\n",
    ),
    *(
        "'",
        '"',
        "''",
        '""',
        "|",
        "|-\n",
        ">\n",
        "|2\n",
        "|\n  ",
        "#",
        " #",
        "&x ",
        "*x",
        "!t ",
        "!!str ",
    ),
    *("%", "@", "`", "~", "null", "1", "1.0", "---", "...", "<<", ":", ": ", "=", "? "),
    *("\\", "\\x41", "\\ud800", "\\u00e9", "\\U00110000", "é", "\u2028", "\x85", "\ufeff", "\r\n"),
)
FLOW = (
    *(
        "[",
        "]",
        "{",
        "}",
        ",",
        ", ",
        ":",
        ": ",
        "a",
        "b",
        "x?",
        "-",
        "- ",
        " ",
        "\n",
        "\n ",
        "\n  ",
    ),
    *("k: ", "'", '"', "#", " #", "\t", "x:", "|", ">", "[[x]]", "[[a b]]", "{{ y }}", "1", "~"),
)
# a bare question mark inside brackets is the one place where the codes may differ (ADR 0003)
TEXTS = st.lists(st.sampled_from(BLOCK + FLOW), max_size=14).map("".join)
BLOCKS = st.lists(st.sampled_from(BLOCK), max_size=14).map("".join)
FLOWS = st.lists(st.sampled_from(FLOW), max_size=12).map(lambda parts: "k: [" + "".join(parts))


def outcome(
    text: str, scanner: Scanner | None = None
) -> tuple[FrontMatter | None, list[Problem], list[Problem]]:
    collector = Collector("a.md")
    front = read(text, WATCHED, collector, scanner=scanner)
    problems = sorted(set(collector.problems))
    return None if problems else front, problems, sorted(set(collector.warnings))


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML is installed without libyaml here")
@given(BLOCKS | FLOWS, st.sampled_from(("", "\n", "]\n", "}\n")))
@settings(max_examples=400, deadline=None)
def test_both_scanners_give_the_same(text: str, end: str) -> None:
    fast = outcome(text + end, "libyaml")
    slow = outcome(text + end, "python")
    assert fast[0] == slow[0]
    assert fast[1] == slow[1]
    assert fast[0] is None or fast[2] == slow[2]


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_every_problem_has_a_line_in_the_text_and_a_remedy(text: str) -> None:
    front, problems, warnings = outcome(text)
    for problem in problems + warnings:
        assert 2 <= problem.line <= 2 + text.count("\n")
        assert problem.message.isprintable()
        assert problem.remedy
    if front is not None:
        assert all(2 <= line <= 2 + text.count("\n") for _, line in front.key_lines)


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_what_is_read_is_what_plain_yaml_reads(text: str) -> None:
    """PyYAML's node tree, which knows nothing of our rules, has the same keys and texts."""
    front, _, warnings = outcome(text)
    special = any(char in text for char in "\x85\u2028\ufeff")
    if front is None or not front.fields.items or special:
        return
    if any(w.code == "unquoted-link" for w in warnings):
        return
    node = yaml.compose(text, Loader=yaml.CSafeLoader if yaml.__with_libyaml__ else yaml.SafeLoader)
    assert node is not None
    assert plain(node) == untyped(front.fields)


def plain(node: yaml.Node) -> object:
    match node:
        case yaml.ScalarNode(value=value):
            return value
        case yaml.SequenceNode(value=items):
            return [plain(item) for item in items]
        case yaml.MappingNode(value=pairs):
            return {key.value: plain(value) for key, value in pairs}
        case _:
            raise AssertionError(node)


def untyped(value: Value) -> object:
    match value:
        case str():
            return value
        case Lexical(text=text):
            return text
        case Mapping(items=items):
            return {key: untyped(inner) for key, inner in items}
        case _:
            return [untyped(inner) for inner in value]
