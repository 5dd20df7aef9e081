"""Whole lives of a memory against a model that knows the truth: a few short ones.

`python -m tests.fault` (make torture) lives longer ones.
"""

from collections.abc import Iterator

import pytest

from tests.fault.model import forget_template, live


@pytest.fixture(scope="module", autouse=True)
def _clean_up() -> Iterator[None]:
    yield
    forget_template()


@pytest.mark.parametrize("number", [1, 2])
def test_verify_says_what_the_model_knows(number: int) -> None:
    live(lives=3, steps=15, number=number)
