"""The one table from outcomes to exit statuses (design 9, docs/formats/exit-codes.md)."""

from syn.errors import Cause
from syn.model.finding import Level, Verdict

OK = 0
FAIL = 1
USAGE = 2
INCOMPLETE = 3
BELOW_LEVEL = 4
INTERRUPTED = 130

CAUSES: dict[Cause, int] = {Cause.REFUSED: FAIL, Cause.USAGE: USAGE, Cause.CANNOT: INCOMPLETE}
VERDICTS: dict[Verdict, int] = {"pass": OK, "fail": FAIL, "incomplete": INCOMPLETE}


def of_verdict(verdict: Verdict, level: Level, required: Level | None) -> int:
    """The status of a verification; a verdict outweighs a level that is too low."""
    status = VERDICTS[verdict]
    if status == OK and required is not None and level.value < required.value:
        return BELOW_LEVEL
    return status
