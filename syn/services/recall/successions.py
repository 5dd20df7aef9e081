"""What took whose place, newest first: the timeline of supersessions (design 11)."""

from dataclasses import dataclass

from syn.index.query import decode_cursor, encode_cursor
from syn.index.rows import FACT, SUPERSESSION, SupersessionRow
from syn.services.recall.answers import Answer, page_json, withheld_json
from syn.services.recall.pagein import Withheld, page_in_path
from syn.services.recall.reads import MAX_ITEMS, Reader
from syn.services.writing.statements import fact_row

CURSOR = "successions"


@dataclass(frozen=True, slots=True)
class _Succession:
    """A pair, and the key of the instant from which the successor holds."""

    since: str
    pair: SupersessionRow


def successions(reader: Reader, limit: int = 50, cursor: str = "") -> Answer:
    """Every declared supersession, each side checked; those without a date come last.

    Raises:
        UsageError: `bad-cursor`.
    """
    found = sorted(_all(reader), key=lambda s: (s.since, s.pair), reverse=True)
    position = decode_cursor(CURSOR, cursor) if cursor else 0
    start = position if isinstance(position, int) and position > 0 else 0
    end = start + max(1, min(limit, MAX_ITEMS))
    items = (dict(_item(reader, succession.pair)) for succession in found[start:end])
    return page_json(items, len(found), encode_cursor(CURSOR, end) if end < len(found) else None)


def _all(reader: Reader) -> list[_Succession]:
    found = []
    for row in reader.index.rows(SUPERSESSION):
        pair = SupersessionRow._make(row)
        path = pair.successor_path
        rows = reader.index.rows_by(FACT, path=path) if path is not None else []
        since = fact_row(rows[0]).valid_from_key if rows else None
        found.append(_Succession(since or "", pair))
    return found


def _item(reader: Reader, pair: SupersessionRow) -> Answer:
    new = _side(reader, pair.successor, pair.successor_path)
    return {
        "id": pair.successor,
        "type": "supersession",
        "title": new.get("title") or pair.successor,
        "path": pair.successor_path or "",
        "since": new.get("valid_from"),
        "predecessor": _side(reader, pair.predecessor, pair.predecessor_path),
        "successor": new,
    }


def _side(reader: Reader, name: str, path: str | None) -> Answer:
    checked = None
    if path is not None:
        checked = page_in_path(reader.reading, reader.index, path, reader.audience)
    if checked is None:
        return {"id": name, "missing": True}
    if isinstance(checked, Withheld):
        return withheld_json(checked)
    fact = checked.fact
    return {
        "id": fact.id,
        "title": fact.title,
        "path": fact.path,
        "subject": fact.subject,
        "field": fact.field,
        "value": fact.value,
        "valid_from": fact.valid_from.text if fact.valid_from else None,
        "valid_to": fact.valid_to.text if fact.valid_to else None,
        "taint": checked.taint,
        "record": checked.record,
    }
