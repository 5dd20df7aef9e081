"""Which fact of a line of succession held at an instant."""

from collections import deque

from syn.errors import UsageError
from syn.facts.dates import parse_instant
from syn.index.lines import read_list
from syn.index.rows import FACT, SUPERSESSION, FactRow
from syn.services.recall.pagein import Served
from syn.services.recall.reads import Reader, find_fact
from syn.services.writing.statements import fact_row


class NotHeldError(UsageError):
    """No fact of the line held at an instant, or several did."""

    def __init__(self, name: str, instant: str, holding: list[str]) -> None:
        message = f"neither {name} nor what it succeeds or is succeeded by held at {instant}"
        remedy = f"syn graph {name} shows the line"
        if holding:
            message = f"{', '.join(holding)} all held at {instant}"
            remedy = "name the one that is meant; syn verify --deep says what overlaps"
        super().__init__("not-held", message, remedy)


def held_at(reader: Reader, name: str, instant: str) -> str:
    """The path of the fact that held at an instant: the one named, or one of its line.

    Raises:
        InstantError: the text names no instant.
        UnknownFactError: there is no such fact.
        NotHeldError: none held, or several did.
    """
    key = parse_instant(instant).key
    start = find_fact(reader, name)
    path = start.fact.path if isinstance(start, Served) else start.path
    line = {row.path: row for row in _line(reader, path)}
    holding = [row for row in line.values() if _holds(row, key)]
    ids = {row.id for row in holding}
    # Superseded without a date: its successor holds, if that one does.
    last = [row for row in holding if ids.isdisjoint(read_list(row.superseded_by))]
    if path in {row.path for row in last}:
        return path
    if len(last) != 1:
        raise NotHeldError(name, instant, sorted(row.id for row in last))
    return last[0].path


def _holds(row: FactRow, key: str) -> bool:
    """As the index filters by time (`Filters.as_of`): an absent bound is open."""
    start, end = row.valid_from_key, row.valid_to_key
    return (start is None or start <= key) and (end is None or key < end)


def _line(reader: Reader, path: str) -> list[FactRow]:
    """The rows of everything that a fact succeeds or is succeeded by, however far."""
    rows: dict[str, FactRow] = {}
    waiting = deque([path])
    while waiting:
        place = waiting.popleft()
        found = reader.index.rows_by(FACT, path=place)
        if place in rows or not found:
            continue
        row = rows[place] = fact_row(found[0])
        pairs = reader.index.rows_by(SUPERSESSION, predecessor=row.id)
        pairs += reader.index.rows_by(SUPERSESSION, successor=row.id)
        for pair in pairs:
            waiting += [str(end) for end in pair[3:5] if end is not None]
    return list(rows.values())
