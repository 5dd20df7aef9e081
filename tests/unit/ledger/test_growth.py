import pytest

from syn.ledger.growth import growth_faults

PATH = ".synapse/ledger/w1/000001.jsonl"
OLD = b"one\ntwo\n"


def codes(before: bytes | None, after: bytes | None) -> list[str]:
    return [fault.code for fault in growth_faults(PATH, "w1", before, after)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, None),
        (None, OLD),
        (b"", None),
        (b"", OLD),
        (OLD, OLD),
        (OLD, OLD + b"three\n"),
        (OLD + b"thr", OLD + b"three\n"),
    ],
)
def test_growth_is_no_fault(before: bytes | None, after: bytes | None) -> None:
    assert codes(before, after) == []


@pytest.mark.parametrize(
    ("after", "code", "line", "byte"),
    [
        (None, "evidence-removed", 0, 0),
        (b"", "evidence-shrank", 1, 0),
        (b"one\n", "evidence-shrank", 2, 4),
        (b"one\nt", "evidence-shrank", 2, 5),
        (b"one\ntWo\n", "evidence-rewritten", 2, 5),
        (b"one\ntwo three\n", "evidence-rewritten", 2, 7),
        (b"zero\none\ntwo\n", "evidence-rewritten", 1, 0),
    ],
)
def test_what_is_lost_is_named_with_its_place(
    after: bytes | None, code: str, line: int, byte: int
) -> None:
    (fault,) = growth_faults(PATH, "w1", OLD, after)
    assert (fault.code, fault.line, fault.byte) == (code, line, byte)
    assert (fault.path, fault.subject, fault.severity) == (PATH, "w1", "failure")


def test_a_rewritten_line_is_shown() -> None:
    (fault,) = growth_faults(PATH, "w1", OLD, b"one\ntWo\n")
    assert (fault.expected, fault.actual) == ("two", "tWo")


def test_a_torn_tail_that_was_repaired_is_a_warning() -> None:
    (fault,) = growth_faults(PATH, "w1", OLD + b"thr", OLD + b"other\n")
    assert (fault.code, fault.severity) == ("torn-tail-dropped", "warning")
    assert codes(OLD + b"thr", OLD) == ["torn-tail-dropped"]
