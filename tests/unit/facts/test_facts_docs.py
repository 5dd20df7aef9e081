"""The pages about facts and payloads say what the code does."""

import hashlib
import re

import pytest

from syn.facts import links
from syn.facts.builder import NODE_LIMIT
from syn.facts.diagnose import DEPTH_LIMIT
from syn.facts.front_matter import FRONT_LIMIT
from syn.facts.parse import parse
from syn.facts.reserved import RESERVED
from syn.facts.scalars import resolve
from syn.facts.text import FILE_LIMIT
from syn.model.config import Config
from syn.model.fact import Fact
from syn.model.payload import Lexical
from tests.support.shared import ROOT

PAGE = (ROOT / "docs" / "formats" / "fact.md").read_text(encoding="utf-8")
PAYLOAD = (ROOT / "docs" / "formats" / "payload.md").read_text(encoding="utf-8")
CODES = re.compile(r'^\s*(?:return \(?|\()?"([a-z]+(?:-[a-z0-9]+)+)",?', re.MULTILINE)
INLINE_CODES = re.compile(
    r'(?:problem|warning|_warn|_problem|_stop|_refuse|_problem\(path)\([^"\n]*"([a-z]+(?:-[a-z0-9]+)+)"'
)


def examples() -> dict[str, str]:
    return dict(re.findall(r"<!-- example: (\w+) -->\n```\n(.*?)```", PAYLOAD, re.DOTALL))


def test_the_worked_example_of_the_payload_holds_with_hashlib_alone() -> None:
    found = examples()
    source = hashlib.sha256(found["file"].encode()).hexdigest()
    text = found["json"].rstrip("\n")
    payload = hashlib.sha256(b"synapse/payload/1\n" + text.encode()).hexdigest()
    assert found["digests"] == f"source  sha256:{source}\npayload sha256:{payload}\n"
    fact = parse("a.md", found["file"].encode(), Config("i", "n"))
    assert isinstance(fact, Fact)
    assert (fact.source_digest, fact.payload_digest) == (f"sha256:{source}", f"sha256:{payload}")


def test_the_example_of_a_fact_is_one() -> None:
    text = re.search(r"```\n(---\n.*?)```", PAGE, re.DOTALL)
    assert text is not None
    fact = parse("facts/x.md", text[1].encode(), Config("i", "n"))
    assert isinstance(fact, Fact)
    assert fact.warnings == ()
    assert (fact.id, fact.subject, fact.field, fact.value) == (
        "payments-owner",
        "payments-api",
        "owner",
        "team-a",
    )
    assert [link.target for link in fact.links] == ["meeting 2026-02-27"]


def test_every_code_is_on_the_page_and_every_code_on_the_page_exists() -> None:
    source = "\n".join(
        path.read_text(encoding="utf-8") for path in sorted((ROOT / "syn" / "facts").glob("*.py"))
    )
    used = set(CODES.findall(source)) | set(INLINE_CODES.findall(source))
    used -= {"block-scalar", "block-list", "block-mapping"}
    named = set(re.findall(r"`([a-z]+(?:-[a-z0-9]+)+)`", PAGE))
    assert used - named == set()
    assert all(f'"{name}"' in source for name in named)


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (FILE_LIMIT, "4 MiB"),
        (FRONT_LIMIT, "256 KiB"),
        (DEPTH_LIMIT, "16 collections"),
        (NODE_LIMIT, "32,768 nodes"),
        (links.SIZE_BUDGET, "131,072 characters"),
        (links.LINE_BUDGET, "8,000 lines"),
        (links.BRACKET_BUDGET, "5,000 opening brackets"),
        (links.NESTING_BUDGET, "40 brackets"),
    ],
)
def test_the_limits_are_those_of_the_page(number: int, words: str) -> None:
    digits, unit = words.split(" ", 1)
    value = int(digits.replace(",", "")) * {"MiB": 1024**2, "KiB": 1024}.get(unit, 1)
    assert number == value
    assert words in PAGE


def test_the_reserved_keys_are_those_of_the_page() -> None:
    table = PAGE.partition("## Reserved keys")[2].partition("## Instants")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(rows))) == set(RESERVED)


def test_the_scalar_table_is_the_one_that_is_used() -> None:
    rows = re.findall(r"^\| (null|bool|int|float) \| (.*) \|$", PAGE, re.MULTILINE)
    assert [kind for kind, _ in rows] == ["null", "bool", "int", "float"]
    for kind, cell in rows:
        for spelling in re.findall(r"`([^`]*)`", cell):
            written = spelling.replace("\\|", "|")
            if kind in ("null", "bool"):
                assert resolve(written) == Lexical(kind, written)
            else:
                pattern = re.compile(written)
                for text in ("1", "-07", "0o7", "0xF", "1.", ".5", "1e3", "-.inf", ".nan", "1.10"):
                    if pattern.fullmatch(text):
                        value = resolve(text)
                        assert isinstance(value, Lexical)
                        assert value.type == kind or text in ("1", "-07")
