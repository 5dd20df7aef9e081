"""Everything at once in one workspace: writers, readers, checks, repairs, git's own housekeeping.

`make torture`. Processes of every kind run side by side until the time is up. No command may fail
for another reason than that it waited too long or was overtaken; no reader may be handed anything
wrong; afterwards every decision that was reported is in the ledger, and everything verifies.
"""

import os
import random  # noqa: TID251 - seeded
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from tests.support.cli import Ran, syn
from tests.support.inside import inside
from tests.support.workspaces import Place, git, make_workspace

OVERTAKEN = {
    "busy", "changed-meanwhile", "ref-moved", "stale", "index-locked", "locked", "ledger-shrank",
    "out-of-date", "git-lock", "intent", "writer-busy",
}  # fmt: skip
"""Codes that say: somebody else was first, try again."""
LONGEST = 60.0
"""Seconds that one command may take; the lock is waited for at most a sixth of that."""


@dataclass(slots=True)
class Seen:
    """What the processes reported."""

    lock: Lock = field(default_factory=Lock)
    counts: Counter[str] = field(default_factory=Counter)
    added: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def note(self, what: str, ran: Ran, allowed: tuple[int, ...], took: float) -> bool:
        """Count one command; whether it did what it was asked to."""
        with self.lock:
            self.slowest = max(self.slowest, took)
            if ran.status in allowed and "internal error" not in ran.err:
                self.counts[what] += 1
                return ran.status == 0
            code = next((code for code in OVERTAKEN if f'"code":"{code}"' in ran.out), "")
            if code:
                self.counts[f"{what}: {code}"] += 1
                return False
            self.wrong.append(f"{what}: {ran.status} {ran.out[:600]} {ran.err[:600]}")
            return False


def _timed(place: Place, *words: str) -> tuple[Ran, float]:
    began = time.monotonic()
    ran = syn(place, *words)
    return ran, time.monotonic() - began


def _write(place: Place, seen: Seen, chance: random.Random, who: int) -> None:
    name = f"w{who}-{chance.randrange(1 << 40):x}"
    ran, took = _timed(place, "add", "--id", name, "--title", name, "--body", "x", "--json")
    if seen.note("add", ran, (0,), took):
        seen.added.add(name)


def _edit(place: Place, seen: Seen, chance: random.Random, who: int) -> None:
    tag = f"t{chance.randrange(1 << 30):x}"
    ran, took = _timed(place, "edit", "limit", "--tag", tag, "--anyway", "--json")
    seen.note("edit", ran, (0,), took)


def _read(place: Place, seen: Seen, chance: random.Random, who: int) -> None:
    ran, took = _timed(place, "show", "limit", "--json")
    if seen.note("show", ran, (0,), took) and "Two people." not in ran.out:
        seen.wrong.append(f"show: another body {ran.out[:600]}")
    ran, took = _timed(place, "search", "people", "--json")
    seen.note("search", ran, (0,), took)


def _check(place: Place, seen: Seen, chance: random.Random, who: int) -> None:
    words = ("verify", "--json", *(["--deep"] if chance.randrange(2) else []))
    ran, took = _timed(place, *words)
    seen.note("verify", ran, (0,), took)


def _patrol(place: Place, seen: Seen, chance: random.Random, who: int) -> None:
    ran, took = _timed(place, "scrub", "--json")
    seen.note("scrub", ran, (0,), took)
    ran, took = _timed(place, "reindex", *(["--full"] if chance.randrange(2) else []))
    seen.note("reindex", ran, (0,), took)


def _housekeep(place: Place, seen: Seen, chance: random.Random, who: int) -> None:
    done = subprocess.run(
        ["git", *chance.choice((("gc", "-q"), ("repack", "-q", "-a", "-d"), ("status",)))],
        cwd=place.root, env=place.env, capture_output=True, check=False,
    )  # fmt: skip
    with seen.lock:
        seen.counts["git" if not done.returncode else "git: refused"] += 1


KINDS: tuple[Callable[[Place, Seen, random.Random, int], None], ...] = (
    _write, _write, _edit, _read, _check, _patrol, _housekeep,
)  # fmt: skip


def _worker(place: Place, seen: Seen, who: int, end: float) -> None:
    chance = random.Random(who)
    while time.monotonic() < end and not seen.wrong:
        KINDS[who % len(KINDS)](place, seen, chance, who)


def run(seconds: float, workers: int = len(KINDS)) -> tuple[Place, Seen]:
    """Let them all run; the workspace afterwards and what was seen. The caller removes it."""
    folder = Path(tempfile.mkdtemp(prefix="synapse-together-"))
    place = make_workspace(folder)
    place.env.pop("SYNAPSE_NOW")
    git(place, "worktree", "add", "-q", "-b", "side", str(folder / "side"))
    trees = (place, Place(folder / "side", place.env))
    seen, end = Seen(), time.monotonic() + seconds
    with ThreadPoolExecutor(workers) as pool:
        for who in range(workers):
            pool.submit(_worker, trees[who % 7 == 1], seen, who, end)
    return place, seen


def settle(place: Place, seen: Seen) -> None:
    """Merge the linked work tree's branch, and look at everything.

    Raises:
        AssertionError: something is lost or wrong.
    """
    assert not seen.wrong, "\n".join(seen.wrong[:5])
    assert seen.slowest < LONGEST, seen.slowest
    git(place, "merge", "-q", "--no-edit", "side")
    for words in (("reindex",), ("verify", "--deep"), ("scrub",)):
        ran = inside(place, *words)
        assert ran.status == 0, (words, ran.out[:2000], ran.err)
    recorded = place.open()
    from syn.services.recall.indexing import read_workspace

    missing = seen.added - read_workspace(recorded).ledger.recorded.keys()
    assert not missing, missing
    fsck = subprocess.run(
        ["git", "fsck", "--no-dangling"],
        cwd=place.root,
        env=place.env,
        capture_output=True,
        check=False,
    )
    assert fsck.returncode == 0, fsck.stderr


def torture(seconds: float) -> str:
    """All at once until the time is up; raises when something was wrong or lost."""
    place, seen = run(seconds)
    settle(place, seen)
    subprocess.run(["rm", "-rf", str(place.root.parent)], check=True)
    said = ", ".join(f"{name} {count}" for name, count in sorted(seen.counts.items()))
    return (
        f"together: {said}; {len(seen.added)} decisions, none lost, slowest {seen.slowest:.1f} s, "
        f"{os.cpu_count()} processors"
    )


if __name__ == "__main__":
    sys.stdout.write(f"{torture(float(sys.argv[1]))}\n")
