"""Every byte and every length of a small ledger: no damage goes unseen."""

from collections.abc import Iterator
from dataclasses import replace

from syn.ledger import segments
from syn.ledger.segments import Ledger
from tests.support.ledgers import WS, Book

PATHS = (".synapse/ledger/w1/000001.jsonl", ".synapse/ledger/w2/000001.jsonl")


def small() -> dict[str, bytes]:
    book = Book()
    book.add("w1", "create", "a", "one", reason='quoted "so"\né')
    book.add("w2", "update", "a", "two")
    book.add("w1", "close", "a", "three")
    return book.files()


def seen(ledger: Ledger) -> bool:
    """Whether there is a fault, or another end of a chain: what a checkpoint compares."""
    sound = segments.read(WS, small().items())
    return bool(ledger.faults) or [c.tail for c in ledger.chains] != [c.tail for c in sound.chains]


def damaged(data: bytes) -> Iterator[bytes]:
    """Each byte with one bit flipped, and each shorter length."""
    for at, byte in enumerate(data):
        yield data[:at] + bytes([byte ^ (1 << at % 8)]) + data[at + 1 :]
    for length in range(len(data)):
        yield data[:length]


def test_every_flipped_byte_and_every_truncation_is_seen() -> None:
    files = small()
    sound = segments.read(WS, files.items())
    tails = [chain.tail for chain in sound.chains]
    for path in PATHS:
        for data in damaged(files[path]):
            ledger = segments.read(WS, (files | {path: data}).items())
            assert ledger.faults or [c.tail for c in ledger.chains] != tails, data
            assert [c.writer for c in ledger.chains] == ["w1", "w2"], "the other one is read"


def test_every_dropped_doubled_or_swapped_line_is_seen() -> None:
    files = small()
    lines = files[PATHS[0]].splitlines(keepends=True)
    for changed in (lines[:1], lines[1:], [lines[0], *lines], [*lines, lines[1]], lines[::-1]):
        assert seen(segments.read(WS, (files | {PATHS[0]: b"".join(changed)}).items()))


def test_exchanged_files_are_seen() -> None:
    files = small()
    swapped = {PATHS[0]: files[PATHS[1]], PATHS[1]: files[PATHS[0]]}
    ledger = segments.read(WS, swapped.items())
    assert {fault.code for fault in ledger.faults} == {"writer-foreign"}
    assert list(ledger.entries()) == []


def test_a_missing_writer_is_a_shorter_ledger() -> None:
    files = small()
    del files[PATHS[1]]
    ledger = segments.read(WS, files.items())
    assert seen(ledger)
    assert [replace(fault, path="") for fault in ledger.faults] == []
