"""The one table from outcomes to exit statuses (design 9, docs/formats/exit-codes.md)."""

from collections.abc import Iterable, Mapping

from syn.errors import Cause
from syn.model.finding import Json, Level, Verdict

OK = 0
FAIL = 1
USAGE = 2
INCOMPLETE = 3
BELOW_LEVEL = 4
INTERRUPTED = 130

GRAVEST = (INTERRUPTED, USAGE, FAIL, INCOMPLETE, BELOW_LEVEL)
"""Which status it is when several apply: the first of these."""
CAUSES: dict[Cause, int] = {Cause.REFUSED: FAIL, Cause.USAGE: USAGE, Cause.CANNOT: INCOMPLETE}
DAMAGED = ("unchecked", "stale", "repairable", "tampered", "erasure")
"""Why a fact is withheld from everybody (docs/cells.md)."""
VERDICTS: dict[Verdict, int] = {"pass": OK, "fail": FAIL, "incomplete": INCOMPLETE}


def of_verdict(verdict: Verdict, level: Level, required: Level | None) -> int:
    """The status of a verification; a verdict outweighs a level that is too low."""
    status = VERDICTS[verdict]
    if status == OK and required is not None and level.value < required.value:
        return BELOW_LEVEL
    return status


def gravest(statuses: Iterable[int]) -> int:
    """The one status of several."""
    found = set(statuses)
    return next((status for status in GRAVEST if status in found), OK)


def of_read(answer: Mapping[str, Json], *, named: bool) -> int:
    """The status of a read: what was asked for is not there, or is not handed out.

    `named`: every item is one that the caller named. Elsewhere an item that only this audience may
    not have (`clean`) is part of a right answer, and one that does not check is damage.
    """
    if "withheld" in answer:
        return FAIL
    items = answer.get("items")
    found = items if isinstance(items, list) else []
    return gravest(_of_item(item, named) for item in found if isinstance(item, dict))


def _of_item(item: Mapping[str, Json], named: bool) -> int:
    if named and "error" in item:
        return USAGE
    if named and "withheld" in item:
        return FAIL
    return FAIL if item.get("withheld") in DAMAGED else OK
