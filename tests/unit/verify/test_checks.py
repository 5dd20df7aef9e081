"""Invariants over evidence made by hand: what a workspace seldom shows."""

from dataclasses import replace

import pytest

from syn.model.fact import Instant
from syn.model.finding import Finding
from syn.verify.evidence import FactView, ReceiptEvidence, TransitionEvidence
from syn.verify.invariant import conclude
from syn.verify.invariants.inv_01_fixpoint import INVARIANT as FIXPOINT
from syn.verify.invariants.inv_05_supersession import INVARIANT as CLOSURE
from syn.verify.invariants.inv_08_receipts import INVARIANT as RECEIPTS
from syn.verify.invariants.inv_09_identity import INVARIANT as IDENTITIES
from syn.verify.invariants.inv_10_transitions import INVARIANT as TRANSITIONS
from tests.unit.verify.test_level import EVIDENCE, IDENTITY, INDEX

UNREAD = Finding(
    code="missing-object",
    subject="history",
    expected="x",
    actual="y",
    remedy="z",
    severity="unknown",
)


@pytest.mark.parametrize(("scratch", "projected"), [("a", "b"), ("b", "a")])
def test_a_scratch_index_that_is_not_the_projection_fails(scratch: str, projected: str) -> None:
    index = replace(INDEX, scratch=scratch, projected=projected)
    found = FIXPOINT.check(replace(EVIDENCE, index=index)).findings
    assert [f.code for f in found] == ["projection-diverged"]
    same = replace(INDEX, scratch="a", projected="a")
    assert not FIXPOINT.check(replace(EVIDENCE, index=same)).findings


@pytest.mark.parametrize(
    ("status", "closed"),
    [
        ("superseded", True),
        ("Superseded", True),
        ("active", False),
        ("verified", False),
        (None, False),
    ],
)
def test_only_one_word_closes_a_predecessor_without_dates(status: str | None, closed: bool) -> None:
    old = FactView("facts/o.md", "o", True, "p", "s", status=status)
    new = FactView("facts/n.md", "n", True, "p", "s", supersedes=("o",))
    found = CLOSURE.check(replace(EVIDENCE, facts=(new, old))).findings
    assert ("supersession-open" not in {f.code for f in found}) is closed


def test_the_end_of_one_is_at_or_before_the_beginning_of_the_next() -> None:
    for end, fits in (("2026-04-15", True), ("2026-04-14", True), ("2026-04-16", False)):
        ended, begun = Instant(end, end), Instant("2026-04-15", "2026-04-15")
        old = FactView("facts/o.md", "o", True, "p", "s", valid_to=ended, superseded_by=("n",))
        new = FactView("facts/n.md", "n", True, "p", "s", valid_from=begun, supersedes=("o",))
        found = CLOSURE.check(replace(EVIDENCE, facts=(new, old))).findings
        assert ({f.code for f in found} == set()) is fits, end


@pytest.mark.parametrize("kind", ["unsigned", "foreign", "forge"])
def test_each_kind_of_missing_signature_caps_alone(kind: str) -> None:
    counted = replace(IDENTITY, unsigned=0, foreign=0, forge=0)
    assert IDENTITIES.check(replace(EVIDENCE, identity=counted)).evidence["capped"] is False
    for number in (1, 2):
        more = {kind: number}
        capped = replace(counted, **more)  # type: ignore[arg-type]
        assert IDENTITIES.check(replace(EVIDENCE, identity=capped)).evidence["capped"] is True


def test_what_was_accepted_is_listed_and_only_then() -> None:
    base = TransitionEvidence(1, 2, (), ())
    assert "acknowledged" not in TRANSITIONS.check(replace(EVIDENCE, transitions=base)).summary
    some = replace(base, acknowledged=(replace(UNREAD, severity="warning"),))
    assert ", 1 acknowledged" in TRANSITIONS.check(replace(EVIDENCE, transitions=some)).summary


def test_what_could_not_be_read_is_no_skip() -> None:
    lost = replace(
        EVIDENCE,
        transitions=TransitionEvidence(0, 0, (UNREAD,), ()),
        receipts=ReceiptEvidence(0, (UNREAD,)),
    )
    for invariant in (TRANSITIONS, RECEIPTS):
        assert conclude(invariant, lost).status.value == "incomplete", invariant.id
    empty = replace(
        lost, transitions=TransitionEvidence(0, 0, (), ()), receipts=ReceiptEvidence(0, ())
    )
    for invariant in (TRANSITIONS, RECEIPTS):
        assert conclude(invariant, empty).status.value == "skip", invariant.id
