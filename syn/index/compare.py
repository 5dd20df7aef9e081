"""The streaming merge of two manifests: which rows are missing, extra, or differ in what.

Memory is that of one row of each side. Rows that follow from one file alone are told apart from
rows that depend on other files or the ledger, because the two mean different things when the
index is older than its inputs (design 4).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from syn.index.lines import decode_row, manifest_columns
from syn.index.manifest import Source
from syn.index.rows import PROBLEM, TABLES, WORKSPACE_ORIGIN, Scalar, Table

Kind = Literal["missing", "extra", "changed"]
_SortKey = tuple[tuple[int, str | int], ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """One row that is missing from the actual manifest, is too many there, or differs there."""

    table: str
    key: tuple[Scalar, ...]
    """The primary key, in the table's order."""
    path: str
    """The fact it is about, or ""."""
    kind: Kind
    column: str
    """The column that differs; "" for a missing or extra row. One difference per column."""
    expected: str
    actual: str
    cross: bool
    """Whether the row depends on other files or on the ledger."""


def compare(expected: Source, actual: Source) -> Iterator[Difference]:
    """Every difference, in manifest order."""
    for table in TABLES:
        yield from compare_table(table, expected.lines(table), actual.lines(table))


def compare_table(
    table: Table, expected: Iterator[bytes], actual: Iterator[bytes]
) -> Iterator[Difference]:
    """The differences of one table; both sides sorted by primary key."""
    left, right = next(expected, None), next(actual, None)
    while left is not None or right is not None:
        if left == right:
            left, right = next(expected, None), next(actual, None)
            continue
        order = _order(table, left, right)
        if order < 0 and left is not None:
            yield _alone(table, left, "missing")
            left = next(expected, None)
        elif order > 0 and right is not None:
            yield _alone(table, right, "extra")
            right = next(actual, None)
        elif left is not None and right is not None:
            yield from _columns(table, decode_row(left), decode_row(right))
            left, right = next(expected, None), next(actual, None)


def shown(value: Scalar) -> str:
    """A value as a finding shows it: null is told apart from the text `null`."""
    return "(null)" if value is None else str(value)


def _order(table: Table, left: bytes | None, right: bytes | None) -> int:
    if left is None or right is None:
        return 1 if left is None else -1
    first, second = _sort_key(table, decode_row(left)), _sort_key(table, decode_row(right))
    return (first > second) - (first < second)


def _sort_key(table: Table, row: Sequence[Scalar]) -> _SortKey:
    """Total even over what a damaged database holds in a key: null, integers, text."""
    return tuple(
        (0, "") if value is None else (1, value) if isinstance(value, int) else (2, value)
        for value in _key(table, row)
    )


def _key(table: Table, row: Sequence[Scalar]) -> tuple[Scalar, ...]:
    return tuple(row[table.columns.index(name)] for name in table.key)


def _alone(table: Table, line: bytes, kind: Kind) -> Difference:
    row = decode_row(line)
    there = "a row"
    return Difference(
        table=table.name,
        key=_key(table, row),
        path=_path(table, row),
        kind=kind,
        column="",
        expected=there if kind == "missing" else "no row",
        actual=there if kind == "extra" else "no row",
        cross=_is_cross(table, row),
    )


def _columns(
    table: Table, expected: Sequence[Scalar], actual: Sequence[Scalar]
) -> Iterator[Difference]:
    for name, want, have in zip(manifest_columns(table), expected, actual, strict=True):
        if want != have or type(want) is not type(have):
            yield Difference(
                table=table.name,
                key=_key(table, expected),
                path=_path(table, expected),
                kind="changed",
                column=name,
                expected=shown(want),
                actual=shown(have),
                cross=_is_cross(table, expected),
            )


def _path(table: Table, row: Sequence[Scalar]) -> str:
    value = row[table.columns.index(table.path_column)] if table.path_column else None
    return value if isinstance(value, str) else ""


def _is_cross(table: Table, row: Sequence[Scalar]) -> bool:
    return table.cross or (table is PROBLEM and row[0] == WORKSPACE_ORIGIN)
