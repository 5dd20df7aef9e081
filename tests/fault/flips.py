"""Faults of every kind in every file of a small published workspace, until the time is up.

The order is fixed by the seed. `make torture` remembers how far it came, so that runs add up to
every fault; `python -m tests.fault.flips` takes a seed, a start and a part of the files.
"""

import argparse
import itertools
import random  # noqa: TID251 - seeded by the caller
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.fault.faults import Fault, class_of, faults_of, files_of
from tests.fault.judge import WRONG, Judge, Judged
from tests.fault.published import publish
from tests.support.shared import ROOT

STATE = ROOT / "build" / "torture-flips"
PACKED = ROOT / "build" / "torture-flips-packed"
PACKED_PARTS = ".git/"
"""What of a packed workspace differs from a loose one."""
OUTCOMES = ("fail", "incomplete", "warned", "equal", *WRONG)


def all_faults(root: Path, seed: int) -> list[Fault]:
    """Every fault of a work tree, in the order of the seed; the classes of files take turns."""
    groups: dict[str, list[Fault]] = {}
    for path in files_of(root):
        groups.setdefault(class_of(path), []).extend(faults_of(path, (root / path).read_bytes()))
    chance = random.Random(seed)
    for faults in groups.values():
        chance.shuffle(faults)
    turns = itertools.zip_longest(*groups.values())
    return [fault for turn in turns for fault in turn if fault is not None]


def table(counted: Counter[tuple[str, str]]) -> str:
    """Outcomes by class of file."""
    names = sorted({name for name, _ in counted})
    lines = [f"{'':22}" + "".join(f"{outcome:>11}" for outcome in OUTCOMES)]
    lines += [f"{name:22}" + "".join(f"{counted[name, o]:>11}" for o in OUTCOMES) for name in names]
    total = {o: sum(counted[name, o] for name in names) for o in OUTCOMES}
    lines.append(f"{'all':22}" + "".join(f"{total[o]:>11}" for o in OUTCOMES))
    return "\n".join(lines)


@dataclass(slots=True)
class Run:
    """A run over the faults: where it began, how far it came, and what it saw."""

    seed: int
    start: int
    total: int
    done: int = 0
    counted: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: list[Judged] = field(default_factory=list)
    false_alarms: int = 0

    @property
    def next(self) -> int:
        """Where the next run goes on."""
        return (self.start + self.done) % max(self.total, 1)

    def text(self) -> str:
        """The table, and what got through."""
        text = f"flips: {self.done} of {self.total} faults, seed {self.seed}, from {self.start}\n"
        text += f"{table(self.counted)}\nfalse alarms {self.false_alarms}"
        return "\n".join([text, *(f"{j.outcome} {j.fault}\n{j.said}" for j in self.wrong[:20])])


def run(
    seconds: float, seed: int = 1, start: int = 0, only: str = "", *, packed: bool = False
) -> Run:
    """Inject faults from `start` on until the time is up or each had its turn."""
    with tempfile.TemporaryDirectory() as folder:
        published = publish(Path(folder), packed=packed)
        judge = Judge(published)
        everything = all_faults(published.owner.root, seed)
        faults = [fault for fault in everything if fault.path.startswith(only)]
        going = Run(seed, start % max(len(faults), 1), len(faults))
        end = time.monotonic() + seconds
        while time.monotonic() < end and going.done < len(faults):
            judged = judge.judge(faults[going.next])
            going.counted[class_of(judged.fault.path), judged.outcome] += 1
            if judged.outcome in WRONG:
                going.wrong.append(judged)
            going.done += 1
        going.false_alarms = 0 if judge.untouched() else 1
    return going


def torture(seconds: float) -> str:
    """Go on where the last run ended, loose objects and then packs; raises at what got through."""
    said = []
    for state, packed, only in ((STATE, False, ""), (PACKED, True, PACKED_PARTS)):
        start = int(state.read_text()) if state.exists() else 0
        going = run(seconds / 2, start=start, only=only, packed=packed)
        state.parent.mkdir(exist_ok=True)
        state.write_text(str(going.next))
        assert not going.wrong, going.text()
        assert not going.false_alarms, going.text()
        said.append(going.text())
    return "\n".join(said)


def main() -> int:
    """Run with a seed, a place to start or a part of the files of one's own."""
    parser = argparse.ArgumentParser(prog="python -m tests.fault.flips")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", default="", help="faults of files whose path starts with this")
    parser.add_argument("--packed", action="store_true", help="after a git gc")
    given = parser.parse_args()
    going = run(given.seconds, given.seed, given.start, given.only, packed=given.packed)
    sys.stdout.write(f"{going.text()}\n")
    return 1 if going.wrong or going.false_alarms else 0


if __name__ == "__main__":
    sys.exit(main())
