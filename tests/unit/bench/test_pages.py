"""What `make bench` says of its figures: exponents, ratios, charts that are well-formed."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.bench import page
from tests.bench.charts import exponent, growth


@pytest.mark.parametrize("power", [0.5, 1.0, 1.5])
def test_an_exponent_is_the_slope_of_the_logarithms(power: float) -> None:
    points = [(float(x), 3 * x**power) for x in (10, 100, 1000, 5000)]
    assert exponent(points) == pytest.approx(power)


def test_one_point_or_one_count_has_no_exponent() -> None:
    assert exponent([(10.0, 1.0)]) is None
    assert exponent([(10.0, 1.0), (10.0, 2.0)]) is None
    assert exponent([(0.0, 1.0), (10.0, 0.0)]) is None


def test_a_chart_is_well_formed_and_names_every_line() -> None:
    chart = growth("Time", "facts", {"a": [(1000.0, 0.5), (20000.0, 9.0)], "b": [(1000.0, 0.1)]})
    texts = [item.text for item in ElementTree.fromstring(chart).iter() if item.text]
    assert "a: exponent 0.96" in texts
    assert "b" in texts
    assert "10,000" in texts


def _figure(name: str, cpu: float) -> dict[str, Any]:
    return {"name": name, "cpu": cpu, "wall": cpu, "memory": 50_000_000, "runs": 1}


def _place(name: str, facts: int, commits: int, scale: float) -> dict[str, Any]:
    figures = [_figure("git fsck --full", scale), _figure("syn verify", scale * 12)]
    figures.append(_figure("syn verify --deep", scale * 12))
    return {
        "name": name,
        "facts": facts,
        "commits": commits,
        "pages": 0,
        "search": ["1.00", "2.00"],
        "figures": figures,
    }


def test_the_page_says_what_is_reached_and_what_is_missed(tmp_path: Path) -> None:
    places = [
        _place("dendron-vault", 1000, 3000, 1.0),
        _place("generated 1,000", 1000, 2, 1.0),
        _place("generated 20,000", 20000, 2, 20.0),
        _place("generated 1,000 with 500 commits", 1000, 500, 1.5),
    ]
    about = {"when": "2026-01-01", "python": "3", "git": "git", "processors": 2, "load": "0.1"}
    page.write({**about, "runs": 1, "places": places}, tmp_path)
    text = (tmp_path / "performance.md").read_text()
    assert "| syn verify | 12.00 | 12.00 | 50 | 12.00 x git fsck --full | 1 x, missed |" in text
    assert "| syn verify | 240.00 | 240.00 | 50 | 12.00 x git fsck --full | 15 x, reached |" in text
    assert "| syn verify | 1.00 |" in text
    assert (tmp_path / "performance-facts.svg").exists()
    assert (tmp_path / "performance-commits.svg").exists()
