"""The rows of the index, file by file, read ahead while files are asked for in path order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from syn.index.rows import ATTR, FACT, FILE_ORIGIN, LINK, PROBLEM, STATE, TAG, Scalar
from syn.index.store import Index, IndexUnusable

AHEAD = 256
"""Files whose rows are read at once when they are asked for one after the other."""
_TABLES = (FACT, STATE, ATTR, LINK, TAG, PROBLEM)

Rows = list[tuple[Scalar, ...]]


@dataclass(slots=True)
class Stored:
    """The rows that the index holds of one file, by table, sorted by primary key."""

    rows: dict[str, Rows] = field(default_factory=lambda: {table.name: [] for table in _TABLES})


class StoredRows:
    """Hands out rows by path; one query a table and file, or one for many files in a row."""

    def __init__(self, index: Index, paths: Sequence[str]) -> None:
        """`paths` are all that will be asked for, sorted."""
        self._index = index
        self._paths = paths
        self._places = {path: place for place, path in enumerate(paths)}
        self._window: dict[str, Stored] = {}
        self._next = -1
        self._ahead = 1

    def of(self, path: str) -> Stored:
        """The rows of one file.

        Raises:
            IndexUnusable: its rows cannot be read.
        """
        place = self._places.get(path)
        self._ahead = min(AHEAD, self._ahead * 2) if place == self._next else 1
        self._next = -1 if place is None else place + 1
        if path not in self._window:
            self._window = self._load(path, place)
        return self._window.get(path, Stored())

    def _load(self, path: str, place: int | None) -> dict[str, Stored]:
        if place is None or self._ahead == 1:
            return self._between(path, path)
        last = self._paths[min(place + AHEAD, len(self._paths)) - 1]
        try:
            return self._between(path, last)
        except IndexUnusable:
            return self._between(path, path)

    def _between(self, first: str, last: str) -> dict[str, Stored]:
        found: dict[str, Stored] = {}
        for table in _TABLES:
            at = table.columns.index("path")
            for row in self._index.rows_between(table, first, last):
                if table is PROBLEM and row[0] != FILE_ORIGIN:
                    continue
                stored = found.setdefault(str(row[at]), Stored())
                stored.rows[table.name].append(row)
        return found
