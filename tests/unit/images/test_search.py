"""The stamped-state search: bounded, nearest first, never proof."""

import pytest

from syn.images.search import diagnose
from syn.images.table import Page
from syn.images.word import recall_word

A, B = "aa" * 32, "bb" * 32
SIZES = {A: 10, B: 20}
PAGE = Page(0, "r", "d", A, 10, 2, sealed=True, qid="q3", reason="X")
WORD = recall_word(PAGE)


def stamped(**changes: object) -> Page:
    return PAGE._replace(word=WORD)._replace(**changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("page", "fields", "direction", "correctable"),
    [
        (stamped(sealed=False), {"quarantined": "true"}, "stricter", True),
        (stamped(taint=0), {"taint": "2"}, "stricter", True),
        (stamped(taint=1, sealed=False), {"taint": "2", "quarantined": "true"}, "stricter", True),
        (
            stamped(taint=0, sealed=False, qid=""),
            {"taint": "2", "quarantined": "true", "qid": "q3"},
            "stricter",
            True,
        ),
        (stamped(qid="q1"), {"qid": "q3"}, "same", False),
        (stamped(length=99), {"len": "10"}, "same", False),
        (stamped(digest=B, length=20), {"digest": A, "len": "10"}, "same", False),
        (stamped(digest=B), {"digest": A}, "same", False),
    ],
)
def test_the_stamped_state_is_found(
    page: Page, fields: dict[str, str], direction: str, correctable: bool
) -> None:
    found = diagnose(page, SIZES, ("q1", "q2", "q3"))

    nearest = found.candidates[0]
    assert {change.field: change.stamped for change in nearest.changes} == fields
    assert (nearest.direction, nearest.correctable) == (direction, correctable)


def test_a_looser_state_is_found_and_never_offered() -> None:
    loose = PAGE._replace(taint=0, sealed=False, qid="")
    page = PAGE._replace(word=recall_word(loose))

    (candidate,) = diagnose(page, SIZES, ("q3",)).candidates
    assert candidate.direction == "looser"
    assert not candidate.correctable


def test_one_field_stricter_and_one_looser_is_mixed() -> None:
    other = PAGE._replace(taint=0)
    page = PAGE._replace(word=recall_word(other), sealed=False)

    assert diagnose(page, SIZES, ("q3",)).candidates[0].direction == "mixed"


def test_nothing_fits_a_word_that_rotted() -> None:
    found = diagnose(stamped(word="0" * 16), SIZES, ("q1", "q2", "q3"))
    assert (found.candidates, found.exhausted) == ((), True)
    assert found.hashes < 20_000


def test_the_budget_ends_the_search() -> None:
    found = diagnose(stamped(word="0" * 16), SIZES, ("q1",), budget=100)
    assert (found.candidates, found.hashes, found.exhausted) == ((), 100, False)
