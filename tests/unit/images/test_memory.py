"""A check holds one body at a time, whatever the store weighs."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from syn.images.convert import export
from syn.images.record import Item
from syn.images.store import check_image, open_image
from syn.services.sessions.images import record_items

BODY, COUNT = 250_000, 80


def items() -> Iterator[Item]:
    for number in range(COUNT):
        yield Item("tool", f"result {number}\n".encode() + bytes(BODY))


def peak(folder: Path) -> int:
    tracemalloc.start()
    try:
        assert check_image(folder).verdict == "clean"
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_both_formats_are_checked_in_flat_memory(tmp_path: Path) -> None:
    record_items(tmp_path / "ours", "s", items())
    export(open_image(tmp_path / "ours"), tmp_path / "recall")

    whole = BODY * COUNT
    assert peak(tmp_path / "ours") < whole // 4
    assert peak(tmp_path / "recall") < whole // 4
