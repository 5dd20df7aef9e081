"""What the ladder, the profile and the policy's late word say, case by case."""

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from syn.keys.policy import Policy, PolicyKey
from syn.model.finding import Finding, InvariantResult, Level, Severity, Status
from syn.model.report import CheckpointState, Subject
from syn.verify.authority import Use, late_uses
from syn.verify.evidence import (
    CheckpointEvidence,
    ConfigEvidence,
    Evidence,
    FactView,
    GrowthEvidence,
    IdentityEvidence,
    IndexEvidence,
    LedgerEvidence,
    ReceiptEvidence,
    WitnessEvidence,
)
from syn.verify.invariants.inv_02_content import INVARIANT as CONTENT
from syn.verify.invariants.inv_13_coherence import INVARIANT as COHERENCE
from syn.verify.level import level_of, trust_root_of
from syn.verify.run import apply_profile, verdict_of
from tests.support.proofs import private_key

if TYPE_CHECKING:
    from syn.keys.public import PublicKey

SIGNED = CheckpointState("example.org/w/a", 1, "sha256:" + "0" * 64, "SHA256:k", "c" * 40, 0, True)
CLEAN = Subject("w", "name", "worktree", "clean", "sha256:" + "1" * 64, "sha256:" + "2" * 64)
PASSED = (InvariantResult("INV-2", "content", "A", Status.PASS, "", {}, ()),)
INDEX = IndexEvidence("", "", "", "absent", "", "", (), False, "", "", "", "1")
WITNESS = WitnessEvidence("w", "consistent", True, False, False, ())
IDENTITY = IdentityEvidence("r" * 40, 1, 1, 2, 0, 0, (), pinned=True)
EVIDENCE = Evidence(
    facts=(),
    unreadable=(),
    warnings=0,
    new=(),
    excluded=0,
    config=ConfigEvidence("", ()),
    ledger=LedgerEvidence(1, 1, (), {}),
    index=INDEX,
    growth=GrowthEvidence(0, 0, True, ()),
    checkpoints=CheckpointEvidence(1, (), 0, SIGNED, outside_key=True),
    receipts=ReceiptEvidence(0, ()),
    witness=WITNESS,
    identity=IDENTITY,
)
IDENTIFIED = (*PASSED, InvariantResult("INV-9", "identity", "A", Status.PASS, "", {}, ()))


def level(evidence: Evidence, subject: Subject = CLEAN, *, results: object = IDENTIFIED) -> Level:
    checkpoint = evidence.checkpoints.state
    return level_of(evidence, results, subject, checkpoint)[0]  # type: ignore[arg-type]


def test_each_step_of_the_ladder_needs_all_below_it() -> None:
    assert level(EVIDENCE) is Level.L4
    unnamed = replace(EVIDENCE, identity=None)
    assert level(unnamed) is Level.L3
    assert level(replace(EVIDENCE, identity=replace(IDENTITY, pinned=False))) is Level.L3
    assert level(replace(EVIDENCE, identity=replace(IDENTITY, root=""))) is Level.L3
    assert level(EVIDENCE, results=PASSED) is Level.L3
    assert level(replace(EVIDENCE, witness=None)) is Level.L2
    assert level(EVIDENCE, replace(CLEAN, worktree="dirty")) is Level.L2
    assert level(replace(EVIDENCE, witness=replace(WITNESS, status="behind"))) is Level.L2
    nobody = replace(WITNESS, outside_key=False)
    assert level(replace(EVIDENCE, witness=nobody)) is Level.L2
    for held in (replace(nobody, cosigned=True), replace(nobody, pinned_commit=True)):
        assert level(replace(EVIDENCE, witness=held)) is Level.L4
    for state in (None, replace(SIGNED, authorized=False)):
        checkpoints = replace(EVIDENCE.checkpoints, state=state)
        assert level(replace(EVIDENCE, checkpoints=checkpoints)) is Level.L1
    assert level(replace(EVIDENCE, ledger=LedgerEvidence(0, 0, (), {}))) is Level.L0
    assert level(EVIDENCE, results=()) is Level.L0


@pytest.mark.parametrize("status", [Status.FAIL, Status.INCOMPLETE])
def test_nothing_that_failed_or_could_not_be_read_claims_a_level(status: Status) -> None:
    results = (*IDENTIFIED, InvariantResult("INV-5", "", "A", status, "", {}, ()))
    reached, reason = level_of(EVIDENCE, results, CLEAN, SIGNED)
    assert (reached, reason) == (Level.L0, "INV-5 did not pass")


def test_the_trust_root_is_what_comes_from_outside() -> None:
    assert trust_root_of(EVIDENCE) == "published-witness"
    without = replace(EVIDENCE, witness=None)
    assert trust_root_of(without) == "checkpoint-witnessed"
    for changed in (
        CheckpointEvidence(1, (), 0, None, outside_key=True),
        CheckpointEvidence(1, (), 0, SIGNED, outside_key=False),
    ):
        assert trust_root_of(replace(without, checkpoints=changed)) == "local-only"
    ours = replace(WITNESS, outside_key=False)
    assert trust_root_of(replace(EVIDENCE, witness=ours)) == "checkpoint-witnessed"
    behind = replace(WITNESS, status="behind")
    assert trust_root_of(replace(EVIDENCE, witness=behind)) == "checkpoint-witnessed"


def _result(severity: Severity, status: Status, **evidence: int) -> InvariantResult:
    found = Finding(code="x", subject="s", expected="", actual="", remedy="", severity=severity)
    return InvariantResult("INV-5", "t", "A", status, "", dict(evidence), (found,))


@pytest.mark.parametrize(
    ("severity", "status", "after"),
    [
        ("warning", Status.PASS, Status.FAIL),
        ("unknown", Status.INCOMPLETE, Status.INCOMPLETE),
        ("failure", Status.FAIL, Status.FAIL),
    ],
)
def test_strict_makes_a_failure_of_a_warning_and_of_nothing_else(
    severity: Severity, status: Status, after: Status
) -> None:
    before = (_result(severity, status),)
    assert apply_profile(before, "standard", CLEAN, SIGNED) == before
    (found,) = apply_profile(before, "strict", CLEAN, SIGNED)
    assert found.status is after


def test_strict_wants_a_clean_tree_a_signature_and_no_cap() -> None:
    content = InvariantResult("INV-2", "", "A", Status.PASS, "", {}, ())
    history = InvariantResult("INV-3", "", "B", Status.PASS, "", {}, ())
    skipped = InvariantResult("INV-9", "", "A", Status.SKIP, "", {"capped": 1}, ())
    nothing = InvariantResult("INV-8", "", "A", Status.SKIP, "", {}, ())
    results = (content, history, skipped, nothing)
    dirty = replace(CLEAN, worktree="dirty")
    codes = [
        [f.code for f in result.findings]
        for result in apply_profile(results, "strict", dirty, replace(SIGNED, authorized=False))
    ]
    assert codes == [["worktree-dirty"], ["signature-missing"], [], []]
    calm = apply_profile(results, "strict", CLEAN, SIGNED)
    statuses = [result.status for result in calm]
    assert statuses == [Status.PASS, Status.PASS, Status.FAIL, Status.SKIP]
    assert apply_profile((history,), "strict", CLEAN, None)[0].status is Status.FAIL


def test_the_verdict_is_the_gravest_status_and_never_of_nothing() -> None:
    def verdict(*statuses: Status) -> str:
        return verdict_of(tuple(InvariantResult("INV-1", "", "C", s, "", {}, ()) for s in statuses))

    assert verdict(Status.PASS, Status.SKIP) == "pass"
    assert verdict(Status.PASS, Status.INCOMPLETE) == "incomplete"
    assert verdict(Status.INCOMPLETE, Status.FAIL) == "fail"
    with pytest.raises(RuntimeError, match="zero checks"):
        verdict_of(())


def _after(state: str, node: int, *, covered: frozenset[int] = frozenset()) -> list[str]:
    key: PublicKey = private_key(2).public
    policy = Policy((PolicyKey("bob", ("writer",), state, key),))  # type: ignore[arg-type]
    use = Use(node, key, "s")
    stops = {key: (5,)} if state == "retired" else {}
    found = late_uses([use], policy, stops, lambda n: set(range(n + 1)), lambda _: covered)  # type: ignore[arg-type, return-value]
    return [standing for _, standing in found]


def test_a_key_counts_only_as_long_as_the_policy_let_it() -> None:
    assert _after("active", 9) == []
    assert _after("retired", 5) == []
    assert _after("retired", 6) == ["retired"]
    assert _after("compromised", 3) == ["compromised"]
    assert _after("compromised", 3, covered=frozenset({3})) == []
    key = private_key(3).public
    gone = late_uses([Use(1, key, "s")], Policy(()), {}, lambda n: {n}, lambda _: set())
    assert [standing for _, standing in gone] == ["unknown"]


def _fact(name: str, *old: str) -> FactView:
    return FactView(f"facts/{name}.md", name, True, "p", "s", supersedes=old)


def test_a_circle_is_named_once_from_its_smallest_member() -> None:
    facts = (_fact("c", "b"), _fact("a", "c"), _fact("b", "a"), _fact("d", "a"))
    checked = COHERENCE.check(replace(EVIDENCE, facts=facts))
    circles = [f for f in checked.findings if f.code == "supersession-cycle"]
    assert len(circles) == 1
    assert circles[0].subject == "a"


def test_a_configuration_that_is_not_the_recorded_one_is_named_from_its_first_line() -> None:
    recorded = ("sha256:" + "3" * 64,)
    for path, changed in (
        ("synapse.toml", replace(EVIDENCE, config=ConfigEvidence("sha256:x", recorded))),
        (".synapse/policy", replace(EVIDENCE, policy=ConfigEvidence("sha256:x", recorded))),
    ):
        found = [f for f in CONTENT.check(changed).findings if f.path == path]
        assert [f.line for f in found] == [1], path
