"""Search in one process, many questions over one open index: p50 and p95 in ms of processor."""

import os
import random  # noqa: TID251 - seeded below: every run asks the same questions
import sys
from pathlib import Path
from time import process_time

from syn.services.recall.reads import Selection, open_reader, search
from syn.services.workspace import find_workspace, surroundings
from tests.bench.generate import WORDS

QUESTIONS = 200


def main(root: str) -> None:
    """Ask for one or two words, a hundred times each."""
    chance = random.Random(1)
    reader = open_reader(find_workspace(Path(root), surroundings(os.environ)), print)  # noqa: TID251 - a port
    times = []
    with reader.index:
        for number in range(QUESTIONS):
            words = " ".join(chance.sample(WORDS, 1 + number % 2))
            began = process_time()
            search(reader, words, Selection(limit=10))
            times.append(process_time() - began)
    times.sort()
    print(f"{times[len(times) // 2] * 1000:.2f} {times[len(times) * 95 // 100] * 1000:.2f}")


if __name__ == "__main__":
    main(sys.argv[1])
