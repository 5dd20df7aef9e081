"""Any text is a safe query, and never an operator."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syn.errors import UsageError
from syn.index.query import Filters, decode_cursor
from syn.index.store import Index, answers, open_index
from tests.support.indexes import build

FILES = {
    "facts/a.md": "---\ntitle: Alpha\ntags: [x, 'a \"b\"']\n---\n"
    "TKT-42 isn't C++ 12.34 naïve 東京都\n",
    "facts/b.md": "---\ntitle: Beta alpha\nsubject: s\nvalue: '007'\n---\n"
    "HINT: x AND OR NOT NEAR\n",
    "facts/c.md": "Body (of) c* ^d {e} : f\n",
}


@pytest.fixture(scope="module")
def index() -> Iterator[Index]:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_index(build(Path(folder) / "i.db", FILES)) as opened,
    ):
        yield opened


@given(
    text=st.text(max_size=40)
    | st.text(st.sampled_from("\"*^:(){}+-'ANDORNOTER \0\n"), max_size=30)
    | st.lists(st.sampled_from(["alpha", "AND", "NOT", '"', "x", "c*", "isn't"])).map(" ".join),
    filters=st.builds(
        Filters,
        type=st.none() | st.text(max_size=3),
        tag=st.none() | st.text(max_size=3),
        under=st.none() | st.sampled_from(["facts", "facts/", "", "/", "%", "\ud800"]),
        as_of=st.none() | st.just("2026-01-01T00:00:00.000000000Z"),
        quarantined=st.none() | st.booleans(),
    ),
    narrow=st.sampled_from([0, 1, 1000]),
)
@example(text='"', filters=Filters(), narrow=0)
@example(text="alpha " * 5000, filters=Filters(), narrow=0)
@example(text="\ud800\udfff", filters=Filters(type="\ud800"), narrow=0)
@settings(max_examples=150, deadline=None)
def test_every_text_gives_a_page(index: Index, text: str, filters: Filters, narrow: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "NARROW", narrow)
        page = index.search(text, filters, 2)
        assert len(page.items) == min(page.total, 2)
        assert index.search(text, filters, 2) == page
        if page.next is not None:
            rest = index.search(text, filters, 10, page.next)
            assert len(rest.items) == page.total - 2
            assert not set(rest.items) & set(page.items)
    index.list(filters, 2)


@given(st.text(max_size=30))
@settings(max_examples=60, deadline=None)
def test_any_text_as_a_cursor_is_a_usage_error_or_a_place(text: str) -> None:
    with contextlib.suppress(UsageError):
        decode_cursor("search", text)
