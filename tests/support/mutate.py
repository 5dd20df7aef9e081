"""Many damaged copies of some bytes, the same in every run."""

import random  # noqa: TID251 - a fixed seed makes every run the same
from collections.abc import Iterator


def mutations(data: bytes, count: int, letters: bytes, seed: int = 7) -> Iterator[bytes]:
    """Copies with one byte replaced, removed or inserted, a bit flipped, or a run doubled.

    `letters` are the bytes that replace and insert: those that mean something to the format.
    """
    chooser = random.Random(seed)
    for _ in range(count):
        at = chooser.randrange(len(data))
        letter = bytes([chooser.choice(letters)])
        flipped = bytes([data[at] ^ 1 << chooser.randrange(8)])
        run = data[at : at + chooser.randrange(1, 80)]
        middles = (letter, b"", letter + data[at : at + 1], flipped, run + data[at : at + 1])
        yield data[:at] + chooser.choice(middles) + data[at + 1 :]
