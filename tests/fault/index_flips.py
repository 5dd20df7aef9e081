"""Every single bit of a small workspace's index, as far as the time goes: the long form."""

import tempfile
from pathlib import Path
from time import monotonic, sleep

from syn.services.recall.opening import reindex
from syn.services.writing.quarantine import quarantine
from tests.support.escapes import IndexJudge, Tally, flips
from tests.support.workspaces import make_workspace

STRIDE = 1009
"""Prime: after this many rounds every bit had its turn, and each round covers the whole file."""


def torture(seconds: float) -> str:
    """Flip bits until the time is up; says what became of them.

    Raises:
        AssertionError: a flip changed what the index says, and nothing found it.
    """
    end = monotonic() + seconds
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="synapse-flips-") as name:
        place = make_workspace(Path(name))
        quarantine(place.open(), "limit", "doubtful")
        sleep(0.2)
        reindex(place.open(), full=True)
        judge = IndexJudge(place, Path(name) / "damaged.db")
        for start in range(STRIDE):
            for what, data in flips(judge.healthy, STRIDE, start):
                tally.add(what, judge.judge(data))
                if monotonic() >= end:
                    assert tally.escaped == [], tally.escaped
                    return f"flipped bits of an index: {tally.text()}"
    assert tally.escaped == [], tally.escaped
    return f"every bit of an index of {len(judge.healthy)} bytes: {tally.text()}"
