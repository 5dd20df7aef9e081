"""Whatever happens to the files and the ledger, an incremental build equals a full one."""

import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from syn.index.derive import World
from syn.index.manifest import manifest_lines
from syn.index.query import Filters
from syn.index.store import open_index
from syn.index.store.build import Builder
from syn.model.ledger import Entry
from syn.model.recorded import Recorded
from tests.support.indexes import build, manifest, rows_of

NAMES = ("a", "b", "c", "A", "x/a", "x/b", "y/é")
PATHS = st.sampled_from([f"facts/{name}.md" for name in NAMES])
WORDS = st.sampled_from(["a", "b", "Title", "title", "x/a", "gone", "é"])


@st.composite
def contents(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["plain", "fact", "fact", "fact", "broken"]))
    if kind == "plain":
        return draw(st.sampled_from(["", "Body\n", "# Title\nSee [[a]] and [[title]].\n"]))
    if kind == "broken":
        return "---\nid: a\nid: b\n---\n"
    lines = [
        f"{key}: {draw(WORDS)}\n"
        for key in ("id", "title", "aliases", "supersedes", "status")
        if draw(st.booleans())
    ]
    links = " ".join(f"[[{draw(WORDS)}]]" for _ in range(draw(st.integers(0, 3))))
    return f"---\n{''.join(lines)}---\n{links}\n"


FILES = st.dictionaries(PATHS, contents(), max_size=6)


@st.composite
def worlds(draw: st.DrawFn, files: Mapping[str, str]) -> World:
    """A ledger that knows some of the facts, sometimes as they are, sometimes otherwise."""
    recorded = {}
    for rows in rows_of(files):
        if rows.fact is None or draw(st.booleans()):
            continue
        exact = draw(st.booleans())
        recorded[rows.fact.id] = Recorded(
            fact=rows.fact.id,
            heads=("sha256:1",),
            path=rows.path if draw(st.booleans()) else "facts/elsewhere.md",
            payload=rows.fact.payload_digest if exact else "sha256:other",
            source=rows.source_digest,
            deleted=False,
            forked=draw(st.booleans()),
            closed=draw(st.booleans()),
            taint=draw(st.sampled_from(["", "external"])),
            quarantine=draw(st.sampled_from([(), ("sha256:q",)])),
        )
    seqs = draw(st.sets(st.integers(1, 4)))
    entries = [
        (f"h{seq}", Entry("w", seq, "p", "2026-04-15T10:00:00.000000Z", "a", "cli", "create"))
        for seq in sorted(seqs)
    ]
    return World(recorded=recorded, decisions=entries)


@given(data=st.data(), before=FILES, after=FILES)
@settings(max_examples=40, deadline=None)
def test_incremental_equals_full(
    data: st.DataObject, before: dict[str, str], after: dict[str, str]
) -> None:
    first, then = data.draw(worlds(before)), data.draw(worlds(after))
    compare_builds(data, (before, first), (after, then), then)


@given(data=st.data(), before=FILES, after=FILES)
@settings(max_examples=40, deadline=None)
def test_of_the_same_ledger_no_entry_is_needed(
    data: st.DataObject, before: dict[str, str], after: dict[str, str]
) -> None:
    world = data.draw(worlds({**before, **after}))
    light = replace(world, decisions=(), same_ledger=True)
    compare_builds(data, (before, world), (after, world), light)


def compare_builds(
    data: st.DataObject,
    first: tuple[dict[str, str], World],
    then: tuple[dict[str, str], World],
    given_world: World,
) -> None:
    """Build the second over the first, told of `given_world`, and anew: row for row the same."""
    before, after = first[0], then[0]
    with tempfile.TemporaryDirectory() as folder:
        path = build(Path(folder) / "i.db", *first)
        changed = {name: text for name, text in after.items() if before.get(name) != text}
        with Builder(path, base=path) as builder:
            for gone in before.keys() - after.keys():
                builder.remove(gone)
            for row in data.draw(st.permutations(rows_of(changed))):
                builder.add(row)
            builder.finish(given_world, {"inputs_hash": "x"})
        full = build(Path(folder) / "full.db", *then)
        with open_index(path) as index, open_index(full) as other:
            found = b"".join(manifest_lines(index))
            assert found == b"".join(manifest_lines(other))
            assert found == manifest(*then)
            assert index.fts_fault() == ""
            assert index.structure_faults() == []
            assert index.search("title", Filters(), 10) == other.search("title", Filters(), 10)
