"""The index as a whole: its file, its full text, rows of no file, and the rows across files.

Rows across files are derived from the index's own fact rows, which `facts` holds against the files
one by one; so both together say that every row follows from the files and the ledger.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import zip_longest

from syn.index import derive
from syn.index.compare import Difference, compare_table
from syn.index.derive import LinkRef
from syn.index.lines import encode_row
from syn.index.resolve import Resolver
from syn.index.rows import (
    ATTR,
    DECISION,
    FACT,
    FILE_ORIGIN,
    LINK,
    PROBLEM,
    STATE,
    SUPERSESSION,
    TAG,
    TARGET,
    WORKSPACE_ORIGIN,
    Scalar,
    Table,
)
from syn.index.store import Index, IndexUnusable
from syn.services.patrol.fault import CellFault, fault
from syn.services.patrol.look import Look, Standing
from syn.services.recall.indexing import INDEX, records_of, world_of

_OWN_RECORDS = frozenset({"projection", "sorted_to"})
"""What a builder notes about itself."""
_OF_BYTES = frozenset({"inputs_hash", "ledger"})
"""Records over bytes that may be others while every row is the same: a torn tail, a comment."""
MAX_NAMED = 20
"""Differing rows across files that are named; the others are counted."""


def check_index(look: Look) -> Iterator[CellFault]:
    """Everything that is wrong with the index apart from the rows of single files."""
    if look.index_error is not None:
        yield _unusable(look.index_error)
        return
    if look.index is None:
        return
    try:
        yield from _sound(look, look.index)
    except IndexUnusable as error:
        yield _unusable(error)


def _sound(look: Look, index: Index) -> Iterator[CellFault]:
    if look.record_faults:
        for message in look.record_faults:
            yield _whole("repairable", "index-corrupt", "records as they were written", message)
        return
    meta, expected = index.meta(), records_of(look.reading, "")
    if missing := (expected.keys() | _OWN_RECORDS) - meta.keys():
        yield _whole("repairable", "record-missing", ", ".join(sorted(missing)), "no such record")
    broken = index.structure_faults()
    for message in broken:
        yield _whole("repairable", "index-corrupt", "a sound SQLite file", message)
    if not broken and (message := index.fts_fault()):
        yield _whole("repairable", "index-fts", "a full-text index of the rows", message)
    yield from _strangers(look, index)
    if look.standing in ("behind", "ahead"):
        yield _moved_on(look.standing)
        return
    names = sorted(expected.keys() & meta.keys() - _OF_BYTES)
    if older := [name for name in names if meta[name] != expected[name]]:
        yield _whole("stale", "index-stale", "what holds today", f"other {', '.join(older)}")
    elif len(look.records) == len(look.reading.files.facts):
        # In an index of older files, rows across files are of older files too.
        yield from _across(look, index)


def _moved_on(standing: Standing) -> CellFault:
    """The index was built from another state of the ledger."""
    if standing == "behind":
        return _whole("stale", "index-stale", "the decisions of today", "those of an older ledger")
    return fault(
        "index",
        "unchecked",
        "ledger-shrank",
        INDEX,
        expected="no decision that the ledger has not",
        actual="the index was built from decisions that are not here",
        remedy="after a switch of branches syn reindex; else the ledger was cut: syn verify",
        local=True,
    )


def _strangers(look: Look, index: Index) -> Iterator[CellFault]:
    """Rows of files that are none of this workspace's facts."""
    known = set(look.records)
    here = {entry.path.decode() for entry in look.reading.files.facts}
    for path in sorted(known - here):
        yield fault(
            "index",
            "stale",
            "index-stale",
            path,
            expected="no rows: there is no such fact now",
            actual="rows",
            local=True,
        )
    for table in (FACT, ATTR, LINK, TAG, STATE):
        paths = {str(row[0]) for row in index.rows(table)}
        yield from (_extra(table, path) for path in sorted(paths - known))
    at = PROBLEM.columns.index("path")
    paths = {str(row[at]) for row in index.rows(PROBLEM) if row[0] != WORKSPACE_ORIGIN}
    yield from (_extra(PROBLEM, path) for path in sorted(paths - known))


def _extra(table: Table, path: str) -> CellFault:
    return fault(
        "index",
        "repairable",
        "row-extra",
        path,
        expected=f"{table.name}: no row",
        actual="rows of a file that the index was not built from",
        local=True,
    )


def _across(look: Look, index: Index) -> Iterator[CellFault]:
    world, keys = world_of(look.reading), look.keys
    ids = derive.id_problems(keys, world.recorded)
    problems = derive.problem_rows([*world.problems, *ids])
    yield from _compare(index, PROBLEM, lambda: problems)
    yield from _compare(index, SUPERSESSION, lambda: derive.supersession_rows(keys))
    decisions = list(world.decisions)
    yield from _compare(index, DECISION, lambda: derive.decision_rows(decisions))
    resolver = Resolver(keys)
    yield from _compare(index, TARGET, lambda: derive.target_rows(resolver, _links(index)))


def _links(index: Index) -> Iterator[LinkRef]:
    for path, seq, _, syntax, target, *_ in index.rows(LINK):
        yield path, seq, syntax, target  # type: ignore[misc]


def _compare(
    index: Index, table: Table, derived: Callable[[], Iterable[tuple[Scalar, ...]]]
) -> Iterator[CellFault]:
    """The rows of a table that are not as they are derived; `derived` may be called twice."""
    if all(want == have for want, have in zip_longest(derived(), _across_rows(index, table))):
        return
    wanted = (encode_row(table, row) for row in derived())
    have = (encode_row(table, row) for row in _across_rows(index, table))
    count = 0
    for item in compare_table(table, wanted, have):
        count += 1
        if count <= MAX_NAMED:
            yield _different(item)
    if count > MAX_NAMED:
        yield _whole(
            "repairable", "row-changed", f"{table.name} as derived", f"{count} differences"
        )


def _across_rows(index: Index, table: Table) -> Iterator[tuple[Scalar, ...]]:
    return (row for row in index.rows(table) if table is not PROBLEM or row[0] != FILE_ORIGIN)


def _different(item: Difference) -> CellFault:
    key = " ".join(str(part) for part in item.key)
    where = f"{item.table} {key}" + (f" {item.column}" if item.column else "")
    return fault(
        "index",
        "repairable",
        f"row-{item.kind}",
        item.path or INDEX,
        expected=f"{where}: {item.expected}"[:200],
        actual=item.actual[:200],
        local=True,
    )


def _unusable(error: IndexUnusable) -> CellFault:
    """A file that is no index of ours, or not readable as one: all of it is derived."""
    return _whole("repairable", error.code, "an index that can be read", error.message)


def _whole(cls: str, code: str, expected: str, actual: str) -> CellFault:
    return fault(
        "index",
        "stale" if cls == "stale" else "repairable",
        code,
        INDEX,
        expected=expected,
        actual=actual,
        local=True,
    )
