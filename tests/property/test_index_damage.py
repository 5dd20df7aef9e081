"""Damage to an index file is seen: an error, a fault, a difference, or every answer is equal."""

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syn.index.manifest import manifest_lines
from syn.index.query import Filters
from syn.index.store import Index, IndexUnusable, open_index
from tests.support.indexes import build, manifest

FILES = {
    f"facts/{place}.md": f"---\nid: n-{place}\ntitle: Note {place}\ntags: [a, t{place}]\n"
    f"valid_from: 2026-01-0{place + 1}\n---\nBody {place} [[n-{place - 1}]] word{place}\n"
    for place in range(4)
}
WORDS = ("note", "body", "word3", "a", "t2", "2026")


def answers(index: Index) -> object:
    """Everything a reader can be told."""
    return (
        [index.list(filters, 50) for filters in (Filters(), Filters(tag="a"), Filters(type="x"))],
        [index.search(word, Filters(), 50) for word in WORDS],
        list(index.cells()),
        [index.cells_of_id(f"n-{place}") for place in range(4)],
        list(index.files()),
        index.meta(),
        index.counts(),
    )


@dataclass(frozen=True, repr=False)
class Healthy:
    """An index as it was built."""

    path: Path
    data: bytes
    expected: object


@pytest.fixture(scope="module")
def healthy() -> Iterator[Healthy]:
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder) / "i.db", FILES)
        with open_index(path) as index:
            expected = answers(index)
        yield Healthy(path, path.read_bytes(), expected)


def check(healthy: Healthy, damaged: bytes) -> None:
    copy = healthy.path.with_name("damaged.db")
    copy.write_bytes(damaged)
    with contextlib.suppress(IndexUnusable), open_index(copy) as index:
        if b"".join(manifest_lines(index)) == manifest(FILES) and not index.faults():
            assert answers(index) == healthy.expected


@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
@settings(max_examples=80, deadline=None)
def test_a_flipped_bit_is_seen_or_changes_no_answer(
    healthy: Healthy, place: float, bit: int
) -> None:
    damaged = bytearray(healthy.data)
    damaged[int(place * len(damaged))] ^= 1 << bit
    check(healthy, bytes(damaged))


@given(length=st.floats(0, 1, exclude_max=True))
@settings(max_examples=20, deadline=None)
def test_a_truncated_file_is_seen_or_changes_no_answer(healthy: Healthy, length: float) -> None:
    check(healthy, healthy.data[: int(length * len(healthy.data))])
