"""Parity: only rows that check take part, and a seal in one copy is a disagreement."""

import pytest

from syn.images.parity import Replica, parity


def row(digest: str, witness: str = "", **changes: object) -> Replica:
    from dataclasses import replace

    base = Replica("a", 0, digest, witness, served=True, sound=True, native=True)
    return replace(base, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("rows", "outcome"),
    [
        ([row("x"), row("x")], "agree"),
        ([row("x")], "agree"),
        ([], "conflict"),
        ([row("")], "conflict"),
        ([row("x"), row("y")], "conflict"),
        ([row("x", "w"), row("y")], "resolved"),
        ([row("x", "w"), row("y", "v")], "conflict"),
        ([row("x", "w"), row("y", "gone")], "resolved"),
        ([row("x", "gone"), row("y")], "conflict"),
        ([row("x", "w"), row("x", "v"), row("y")], "resolved"),
        ([row("x"), row("x", sound=False)], "conflict"),
        ([row("x", "w"), row("y", "v", sound=False)], "resolved"),
        ([row("x"), row("x", served=False)], "conflict"),
        ([row("x", "w"), row("x", served=False)], "conflict"),
        ([row("x", "w", served=False), row("y")], "conflict"),
        ([row("x", served=False), row("x", served=False)], "agree"),
    ],
)
def test_outcomes(rows: list[Replica], outcome: str) -> None:
    (found,) = parity({"thing": rows}, ("gone",))
    assert found.outcome == outcome


def test_what_holds_and_what_stands_against_it() -> None:
    rows = [row("x", "w"), row("y"), row("x", sound=False)]
    (found,) = parity({"thing": rows})

    assert found.authoritative == rows[0]
    assert found.against == (rows[1], rows[2])
    assert found.protected


def test_an_unnamed_resource_is_a_conflict() -> None:
    assert parity({"": [row("x"), row("x")]})[0].outcome == "conflict"
    assert not parity({"a": [row("x", native=False)]})[0].protected
