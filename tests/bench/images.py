"""A session image of many pages: verifying it beside reading and hashing its bytes once."""

import hashlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from syn.images.record import Item
from syn.services.sessions.images import record_items
from tests.bench.measure import Figure, figure

BODY = 10_000
"""Bytes of a body: 100,000 pages are 1 GB."""
FLOOR = """
import hashlib, pathlib, sys
for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    digest = hashlib.sha256()
    with file.open('rb') as stream:
        while chunk := stream.read(1 << 20):
            digest.update(chunk)
"""


def bodies(pages: int) -> Iterator[Item]:
    """Results of tools, each another one; the same in every run."""
    for number in range(pages):
        seed = hashlib.sha256(str(number).encode()).hexdigest().encode()
        yield Item("read_note", (seed * (BODY // len(seed) + 1))[:BODY])


def image_figures(folder: Path, env: Mapping[str, str], pages: int, runs: int) -> list[Figure]:
    """Record an image, then measure its verification and the floor below it."""
    image = folder / "image"
    record_items(image, "bench", bodies(pages))
    floor = [sys.executable, "-c", FLOOR, str(image)]
    verify = [sys.executable, "-m", "syn", "image", "verify", str(image)]
    return [
        figure("hash the image", floor, folder, env, runs=runs),
        figure("syn image verify", verify, folder, env, runs=runs),
    ]
