"""Segments after any damage: a verdict and the readable rest, never an exception."""

from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st

from syn.ledger import segments
from syn.ledger.growth import growth_faults
from syn.ledger.heads import recorded
from syn.ledger.legality import legality_faults
from syn.ledger.links import link_faults
from syn.ledger.segments import Ledger
from tests.support.ledgers import WS, Book


@cache
def sound() -> dict[str, bytes]:
    """Two writers, one of them over two files."""
    book = Book()
    for number in range(1002):
        book.add("w1", "create", f"f{number % 50}-{number}", f"text {number}", sees=())
    for number in range(5):
        book.add("w2", "create", f"g{number}", f"text {number}", sees=())
    return book.files()


@cache
def healthy() -> Ledger:
    return segments.read(WS, sound().items())


EDITS = st.sampled_from(["drop", "double", "swap", "junk", "cut", "crlf", "blank", "move"])


@settings(max_examples=15, deadline=None)
@given(st.data())
def test_damage_is_a_fault_or_a_shorter_ledger(data: st.DataObject) -> None:
    files = dict(sound())
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(sorted(files)))
        files[path] = edited(data, files[path])
        if data.draw(st.integers(0, 9)) == 0:
            files.pop(data.draw(st.sampled_from(sorted(files))))
        if not files:
            return
    ledger = segments.read(WS, files.items())
    tails = [chain.tail for chain in ledger.chains]
    if files != sound():
        assert ledger.faults or tails != [chain.tail for chain in healthy().chains]
    entries = list(ledger.entries())
    assert set(entries) <= set(healthy().entries())
    link_faults(entries)
    legality_faults(entries)
    recorded(entries)
    for fault in ledger.faults:
        assert fault.path.startswith(segments.FOLDER)
        assert fault.expected
        assert fault.actual
        assert fault.remedy
        assert "{" not in fault.remedy


def edited(data: st.DataObject, content: bytes) -> bytes:
    """The content after one edit of its lines."""
    lines = content.splitlines(keepends=True)
    edit = data.draw(EDITS)
    if not lines:
        return b"junk\n"
    at = data.draw(st.integers(0, len(lines) - 1))
    other = data.draw(st.integers(0, len(lines) - 1))
    match edit:
        case "drop":
            del lines[at]
        case "double":
            lines.insert(other, lines[at])
        case "swap":
            lines[at], lines[other] = lines[other], lines[at]
        case "junk":
            lines[at] = data.draw(st.binary(max_size=20))
        case "cut":
            return content[: data.draw(st.integers(0, len(content)))]
        case "crlf":
            return content.replace(b"\n", b"\r\n")
        case "blank":
            lines.insert(at, b"\n")
        case _:
            lines.insert(other, lines.pop(at))
    return b"".join(lines)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=30), st.binary(max_size=30))
def test_growth_agrees_with_its_definition(before: bytes, after: bytes) -> None:
    lines = before[: before.rfind(b"\n") + 1]
    codes = {fault.code for fault in growth_faults("p", "w", before, after)}
    assert (not codes) == after.startswith(before)
    assert bool(codes - {"torn-tail-dropped"}) == (not after.startswith(lines))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from([b"a\n", b"b\n", b"c"]), max_size=6), st.integers(0, 12))
def test_cutting_a_file_is_never_growth(parts: list[bytes], at: int) -> None:
    before = b"".join(parts)
    after = before[:at]
    if after != before:
        assert growth_faults("p", "w", before, after)
