"""Two real collections: other readers agree, nothing is called wrong, the prefilter is exact."""

import subprocess
from pathlib import Path

import frontmatter
import pytest
import yaml

from syn.facts import front_matter, plain
from syn.facts.collector import Collector
from syn.facts.edit import set_fields
from syn.facts.front_values import Watch
from syn.facts.links import may_hold_links, parse_links
from syn.facts.markdown import build_parser
from syn.facts.parse import parse
from syn.facts.split import split
from syn.model.config import Config
from syn.model.fact import Fact
from syn.model.payload import Lexical, Mapping, Value
from tests.support.shared import shared_path

CONFIG = Config("i", "n", link_order="text|target")
LOADER = yaml.CBaseLoader if yaml.__with_libyaml__ else yaml.BaseLoader
COLLECTIONS = {"dendron-vault": 1012, "endoflife-products": 464}


@pytest.fixture(scope="module", params=sorted(COLLECTIONS))
def facts(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> dict[Path, tuple[bytes, Fact]]:
    bundle = shared_path("corpora") / f"{request.param}.bundle"
    clone = tmp_path_factory.mktemp("corpus") / request.param
    subprocess.run(["git", "clone", "-q", str(bundle), str(clone)], check=True)
    found = {}
    for path in sorted(clone.rglob("*.md")):
        data = path.read_bytes()
        fact = parse(path.relative_to(clone).as_posix(), data, CONFIG)
        assert isinstance(fact, Fact), fact
        found[path] = data, fact
    assert len(found) == COLLECTIONS[request.param]
    return found


def test_yaml_reads_the_same_texts(facts: dict[Path, tuple[bytes, Fact]]) -> None:
    for data, fact in facts.values():
        parts = split(data.decode(), Collector(""))
        assert parts is not None
        front = parts.front or ""
        assert yaml.load(front, Loader=LOADER) == untyped(fact.fields), fact.path


def test_the_reader_of_plain_lines_reads_the_same(facts: dict[Path, tuple[bytes, Fact]]) -> None:
    watch = Watch(frozenset({"tags", "identifiers"}), frozenset({"id", "title"}))
    plainly = 0
    for data, fact in facts.values():
        parts = split(data.decode(), Collector(""))
        found = plain.read(parts.front, watch) if parts and parts.front else None
        if parts is None or parts.front is None or found is None:
            continue
        strict = front_matter.read(parts.front, watch, Collector(""), scanner="libyaml")
        assert strict == found, fact.path
        plainly += 1
    assert plainly > len(facts) / 2


def test_python_frontmatter_splits_at_the_same_place(
    facts: dict[Path, tuple[bytes, Fact]],
) -> None:
    for data, fact in facts.values():
        if len(data) > 20_000:
            continue  # its regular expression and its pure loader are slow on the largest ones
        post = frontmatter.loads(data.decode())
        assert post.content == fact.body.strip(), fact.path
        assert len(post.metadata) == len(fact.fields.items)


def test_nothing_is_called_wrong(facts: dict[Path, tuple[bytes, Fact]]) -> None:
    assert [fact.warnings for _, fact in facts.values() if fact.warnings] == []
    ids = [fact.id for _, fact in facts.values()]
    assert len(set(ids)) == len(ids)


def test_the_prefilter_is_exact(facts: dict[Path, tuple[bytes, Fact]]) -> None:
    whole = build_parser(shortcuts=False)
    parsed = 0
    for _, fact in facts.values():
        expected = parse_links(fact.body, fact.body_line, "text|target", whole)
        assert expected is not None
        body = tuple(link for link in fact.links if link.syntax in ("wiki", "embed", "markdown"))
        assert body == expected, fact.path
        parsed += may_hold_links(fact.body)
    assert parsed < len(facts) * 0.6


def test_an_edit_of_one_key_changes_one_line(facts: dict[Path, tuple[bytes, Fact]]) -> None:
    for data, fact in list(facts.values())[::20]:
        assert set_fields(data, dict(fact.fields.items), fact.body) == data
        result = set_fields(data, {"title": "Another title: no"})
        before, after = data.split(b"\n"), result.split(b"\n")
        start = next(i for i, line in enumerate(after) if line != before[i])
        assert after[start].startswith(b"title:"), fact.path
        # a title over several lines becomes one line
        tail = len(after) - start - 1
        assert before[len(before) - tail :] == after[start + 1 :], fact.path
        keys = [line for line in before[start : len(before) - tail] if line[:1].isalpha()]
        assert len(keys) == 1, fact.path


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
