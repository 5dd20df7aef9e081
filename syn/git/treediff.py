"""The difference of two trees from their bytes, without dividing what both have in common.

Along history a tree changes in one or two of its entries, so most of it is never looked at but for
being equal. Only entry boundaries make that sound, since the bytes of an id may look like anything.
Some are marked in the first tree; equal pieces between two marks carry them over to the next one,
and a piece is taken up again only where what lies before it divides into entries without a rest.
"""

from dataclasses import dataclass, field

from syn.git.parse import MalformedObjectError, split_tree

_STRIDE = 1024
"""Bytes between two marks, at least."""
_WINDOW = 16384
"""How far ahead a piece is looked for; beyond, the rest counts as different: time is linear."""


@dataclass(frozen=True, slots=True)
class TreeText:
    """A tree's bytes and some of the offsets at which an entry starts, ascending."""

    data: bytes
    marks: tuple[int, ...]
    """The first is 0 and the last the length."""


@dataclass(slots=True)
class _Comparison:
    """The second tree as far as it is known."""

    marks: list[int] = field(default_factory=lambda: [0])
    only_old: set[bytes] = field(default_factory=set)
    only_new: set[bytes] = field(default_factory=set)

    def passed(self, position: int) -> None:
        if position - self.marks[-1] >= _STRIDE:
            self.marks.append(position)

    def differ(self, old: list[bytes], new: list[bytes], position: int) -> None:
        self.only_old.update(old)
        self.only_new.update(new)
        for entry in new:
            position += len(entry)
            self.passed(position)


def mark(oid: str, data: bytes) -> TreeText:
    """A tree with marks. Raises `MalformedObjectError` as `split_tree`."""
    known = _Comparison()
    known.differ([], split_tree(oid, data), 0)
    return TreeText(data, _closed(known.marks, len(data)))


def compare(old: TreeText, oid: str, data: bytes) -> tuple[TreeText, set[bytes], set[bytes]]:
    """The second tree with marks, the undivided entries only in the first, and only in it.

    Raises:
        MalformedObjectError: `data` is no tree.
    """
    text, marks = old.data, old.marks
    known = _Comparison()
    position = number = 0
    last = len(marks) - 1
    while number < last:
        piece = text[marks[number] : marks[number + 1]]
        if data.startswith(piece, position):
            position += len(piece)
            known.passed(position)
            number += 1
            continue
        after, found, new = _take_up(old, number, oid, data, position)
        known.differ(split_tree("", text[marks[number] : marks[after]]), new, position)
        position, number = found, after
    known.differ([], split_tree(oid, data[position:]), position)
    result = TreeText(data, _closed(known.marks, len(data)))
    return result, known.only_old - known.only_new, known.only_new - known.only_old


def _take_up(
    old: TreeText, number: int, oid: str, data: bytes, position: int
) -> tuple[int, int, list[bytes]]:
    # The next piece that comes again, where it does, and the entries of `data` before it.
    marks = old.marks
    for after in range(number + 1, len(marks) - 1):
        if marks[after] - marks[number] > _WINDOW:
            break
        piece = old.data[marks[after] : marks[after + 1]]
        found = data.find(piece, position, position + _WINDOW + len(piece))
        if found >= 0:
            try:
                return after, found, split_tree("", data[position:found])
            except MalformedObjectError:
                continue  # it came again by chance, inside an entry
    return len(marks) - 1, len(data), split_tree(oid, data[position:])


def _closed(marks: list[int], size: int) -> tuple[int, ...]:
    return tuple(marks) if marks[-1] == size else (*marks, size)
