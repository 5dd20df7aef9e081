"""Every flipped bit, every truncation and every row removed, doubled or moved, in both formats.

A change is an escape when the check finds nothing and what the image says is another thing. Ours
has none. `recall.v1` has the ones that its own report names under `format_cannot_tell`, and no
other; both are counted.
"""

import json
from collections import Counter
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from syn.images.native import TABLE
from syn.images.native_row import flipped_back
from syn.images.native_verify import check_native
from syn.images.outside import Outside
from syn.images.record import Item
from syn.images.word import native_prefix
from tests.support.images import (
    ITEMS,
    SESSION,
    TRUSTED,
    check_files,
    codes,
    content,
    native_image,
    recall_files,
)

SMALL = (
    Item("mail", b"wire", seal="TRUST_VIOLATION"),
    Item("offer", b"5 off", "bounded", 9, witness="w:1"),
)

UNTOLD_PAGE = {"witness", "trust_epoch", "valid_to", "utility", "durability"}
UNTOLD_CHANGE = {"reason", "requested_by", "witness", "trust_epoch"}
"""Members whose edit `recall.v1` cannot tell, as its report says."""


def flips(data: bytes) -> Any:
    for index in range(len(data)):
        for bit in range(8):
            changed = bytearray(data)
            changed[index] ^= 1 << bit
            yield bytes(changed)


def differences(before: Any, after: Any) -> set[str]:
    """The members in which two readings differ."""
    (old, old_store), (new, new_store) = before, after
    found = {"store"} if old_store != new_store else set()
    found |= {name for name in old.keys() | new.keys() if old.get(name) != new.get(name)}
    for name, prefix in (("pages", "page"), ("context_changes", "change")):
        rows = list(zip(old.get(name, []), new.get(name, []), strict=False))
        if name in found and len(old.get(name, [])) == len(new.get(name, [])):
            found.discard(name)
            found |= {
                f"{prefix}.{key}"
                for left, right in rows
                for key in left.keys() | right.keys()
                if left.get(key) != right.get(key)
            }
    return found


UNTOLD = {f"page.{name}" for name in UNTOLD_PAGE} | {f"change.{name}" for name in UNTOLD_CHANGE}


@pytest.mark.parametrize("file", [0, 1])
def test_every_flipped_bit_of_a_recall_image(file: int) -> None:
    files = recall_files(SMALL, hidden=(1,))
    before, seen = content(*files), Counter[str]()

    for changed in flips(files[file]):
        pair = (changed, files[1]) if file == 0 else (files[0], changed)
        report = check_files(*pair)
        if report.verdict != "clean":
            seen["found"] += 1
            continue
        after = content(*pair)
        assert after is not None, "clean, and no JSON"
        if after == before:
            seen["equal"] += 1
            continue
        named = differences(before, after)
        assert named <= UNTOLD, named
        seen.update(named)

    print(f"file {file}: {dict(seen)}")  # noqa: T201 - the count is part of the result
    assert seen["found"] > 7 * len(files[file])
    assert sum(seen.values()) == 8 * len(files[file])


@pytest.mark.parametrize("file", [0, 1])
def test_every_truncation_of_a_recall_image(file: int) -> None:
    files = recall_files(SMALL, hidden=(1,))
    for size in range(len(files[file])):
        pair = (files[0][:size], files[1]) if file == 0 else (files[0], files[1][:size])
        assert check_files(*pair).verdict == "refused", size


def test_every_row_of_a_recall_image_removed_doubled_or_moved() -> None:
    manifest, store = recall_files(ITEMS[:5])
    table = json.loads(manifest)
    rows = table["pages"]
    edits = [rows[:i] + rows[i + 1 :] for i in range(len(rows))]
    edits += [rows[: i + 1] + rows[i:] for i in range(len(rows))]
    edits += [list(order) for order in permutations(rows) if list(order) != rows]

    assert len(edits) > len(rows)
    for edited in edits:
        text = _json({**table, "pages": edited})
        assert check_files(text, store).verdict == "fault"


def _json(value: Any) -> bytes:
    return json.JSONEncoder(ensure_ascii=False).encode(value).encode()


class Memory:
    """A store in memory."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def view_at(self, offset: int, size: int) -> memoryview:
        return memoryview(self.data)[offset : offset + size]

    def size(self) -> int:
        return len(self.data)


def parts(folder: Path) -> tuple[bytes, bytes]:
    (store,) = folder.glob("store-*")
    return (folder / TABLE).read_bytes(), store.read_bytes()


def verdict(table: bytes, store: bytes, outside: Outside | None = TRUSTED) -> str:
    lines = table.splitlines(keepends=True)
    return check_native("image", lines, Memory(store), outside).verdict


def test_every_flipped_bit_of_our_head_and_store(tmp_path: Path) -> None:
    table, store = parts(native_image(tmp_path / "i", SMALL))
    start = table.index(b"\n") + 1
    assert verdict(table, store) == "clean"

    for changed in flips(table[:start]):
        assert verdict(changed + table[start:], store) != "clean", changed
    for changed in flips(store):
        assert verdict(table, changed) != "clean"


def test_every_flipped_bit_of_our_rows_is_found_without_a_key_and_put_back(tmp_path: Path) -> None:
    table, store = parts(native_image(tmp_path / "i", SMALL, signer=None))
    head, row, last = table.splitlines(keepends=True)
    prefix, mended = native_prefix(SESSION), 0

    for number, changed in enumerate(flips(row)):
        lines = (head + changed + last).splitlines(keepends=True)
        report = check_native("image", lines, Memory(store))
        assert report.verdict == "fault", changed
        if len(lines) == 3:
            assert codes(report) == {"bit-rotted"}, changed
            assert number % 9 or flipped_back(changed[:-1], prefix) == row[:-1]
            mended += 1

    print(f"{8 * len(row)} flips of a row found, {mended} put back")  # noqa: T201 - see above
    assert mended > 7.9 * len(row)


def test_every_truncation_of_our_image(tmp_path: Path) -> None:
    table, store = parts(native_image(tmp_path / "i", SMALL))
    assert all(verdict(table[:size], store) != "clean" for size in range(len(table)))
    assert all(verdict(table, store[:size]) != "clean" for size in range(len(store)))
    assert verdict(table, store + b"x") != "clean"


def test_every_row_of_our_image_removed_doubled_or_moved(tmp_path: Path) -> None:
    table, store = parts(native_image(tmp_path / "i", ITEMS[:5], signer=None))
    head, *rows = table.splitlines(keepends=True)
    edits = [rows[:i] + rows[i + 1 :] for i in range(len(rows))]
    edits += [rows[: i + 1] + rows[i:] for i in range(len(rows))]
    edits += [list(order) for order in permutations(rows) if list(order) != rows]

    for edited in edits:
        assert verdict(head + b"".join(edited), store, None) != "clean"
