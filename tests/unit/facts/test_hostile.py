"""Files made to cost time or memory: a problem or a warning each, quickly."""

import time
import tracemalloc
from collections.abc import Iterator

import pytest

from syn.facts.parse import parse
from syn.model.config import Config
from syn.model.fact import Fact, Unreadable

CONFIG = Config("i", "n")
FRONT = 256 * 1024 - 64

FRONTS = {
    "alias bomb": "a0: &a0 x\n"
    + "".join(f"a{i}: &a{i} [*a{i - 1},*a{i - 1}]\n" for i in range(1, 99)),
    "wide aliases": "a: [&a b," + "*a," * 60_000 + "]\n",
    "deep lists": "a: " + "[" * 100 + "]" * 100 + "\n",
    "deep open lists": "a: " + "[" * 100_000 + "\n",
    "deep mappings": "{" * 100_000 + "\n",
    "deep dashes": "- " * 100_000 + "\n",
    "deep questions": "? " * 100_000 + "\n",
    "many duplicates": "a: b\n" * 40_000,
    "many nodes": "a: [" + "x," * 100_000 + "]\n",
    "open quote": "a: '" + "x\n" * 100_000,
    "only comments": "# c\n" * 60_000,
    "long tag": "a: !" + "x" * 200_000 + "\n",
    "not a date": "valid_from: " + "2" * 200_000 + "\n",
    "invisible id": "id: " + "\u200b" * 60_000 + "\n",
    "stand-ins": "a: b: \u2028" + "".join(map(chr, range(0xE000, 0xF8FF))) * 10 + "\n",
    "many links": "".join(f"k{i}: [[x]]\n" for i in range(8_000)),
}
FILES = {
    "large body": b"x" * 50_000_000,
    "large front matter": b"---\n" + b"a: b\n" * 200_000 + b"---\n",
    "unclosed": b"---\n" + b"x\n" * 1_900_000,
    "nul": b"text\0" * 800_000,
    "surrogate": b"---\na: \xed\xa0\x80\n---\n",
    "conflicts": b"<<<<<<< x\n" + b"=======\n" * 400_000,
    "carriage returns": b"x\n" + b"a\r" * 2_000_000,
    "links": b"[[a]]" * 800_000,
    "brackets": b"[" * 4_000_000,
    "quotes": b"> " * 60_000 + b"[[a]]",
    "second marks": b"\xef\xbb\xbf" * 1_000_000 + b"---\na: b\n---\n",
}


def cases() -> Iterator[tuple[str, bytes]]:
    yield from FILES.items()
    for name, front in FRONTS.items():
        yield name, f"---\n{front}---\nBody\n".encode()


@pytest.mark.parametrize(("name", "data"), list(cases()), ids=lambda value: str(value)[:20])
def test_a_hostile_file_is_told_and_cheap(name: str, data: bytes) -> None:
    start = time.process_time()
    parsed = parse("a.md", data, CONFIG)
    spent = time.process_time() - start
    found = parsed.problems if isinstance(parsed, Unreadable) else parsed.warnings
    assert 1 <= len(found) <= 101, name
    assert all(len(problem.message) < 300 for problem in found)
    # one second is the promise; the rest is for a busy machine
    assert spent < 2


def test_memory_is_bounded_by_the_limits() -> None:
    data = b"---\n" + b"a: [" + b"x," * 100_000 + b"]\n---\n" + b"[[a]] text\n" * 300_000
    tracemalloc.start()
    try:
        parse("a.md", data, CONFIG)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 64 * 1024 * 1024


def test_long_numbers_stay_as_written() -> None:
    digits = "9" * 4_400
    fact = parse("a.md", f"---\nid: {digits}\nn: -{digits}\n---\n".encode(), CONFIG)
    assert isinstance(fact, Fact)
    assert fact.id == digits


def test_names_that_lead_elsewhere_do_not_matter_to_the_reader() -> None:
    assert isinstance(parse("../a.md", b"x", CONFIG), Fact)
    assert isinstance(parse("", b"x", CONFIG), Fact)
