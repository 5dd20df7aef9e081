"""The patrol over what is signed: receipts, checkpoints, the policy, and clears under it."""

from pathlib import Path

import pytest

from syn.ledger.build import Draft, lines, next_entries
from syn.services.patrol.scrub import Scrub, scrub
from syn.services.recall.indexing import read_workspace
from syn.services.recall.opening import reindex
from syn.services.repair.plan import plan_repair
from syn.services.trust.key_init import init_key
from syn.services.trust.publishing import Wishes, make_checkpoint
from syn.services.trust.receipts import issue
from syn.services.writing.quarantine import quarantine
from tests.support.workspaces import Place, git, make_workspace


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_workspace(tmp_path)
    workspace = made.open()
    init_key(workspace.around, workspace, slot="identity", name="alice", policy=True)
    make_checkpoint(made.open(), Wishes())
    issue(made.open(), "owner-2")
    reindex(made.open())
    return made


def found(done: Scrub) -> set[tuple[str, str, str]]:
    return {(item.kind, item.cls, item.finding.code) for item in done.faults}


def receipt(place: Place) -> Path:
    return next((place.root / ".synapse/receipts").glob("*.json"))


def test_signed_evidence_is_clean(place: Place) -> None:
    done = scrub(place.open())
    assert found(done) == set()
    assert done.counts["receipt"] == {"clean": 1}


def test_a_receipt_that_was_changed_or_taken_away(place: Place) -> None:
    file = receipt(place)
    before = file.read_bytes()
    file.write_bytes(before.replace(b"checkout", b"checkin!", 1))
    assert ("receipt", "tampered", "receipt-changed") in found(scrub(place.open()))
    assert {s.action for s in plan_repair(place.open()).steps} == {"refuse"}
    file.unlink()
    assert found(scrub(place.open())) == {("receipt", "tampered", "receipt-missing")}


def test_a_checkpoint_that_was_changed(place: Place) -> None:
    [file] = (place.root / ".synapse/heads").glob("*.checkpoint")
    file.write_bytes(file.read_bytes().replace(b"\n1\n", b"\n2\n", 1))
    done = scrub(place.open())
    assert {item[:2] for item in found(done)} == {("ledger", "tampered")}


@pytest.mark.parametrize(
    ("edit", "code"),
    [
        (lambda file: file.unlink(), "policy-gone"),
        (lambda file: file.write_text("nonsense\n"), "policy-broken"),
        (lambda file: file.write_text(file.read_text() + "# more\n"), "policy-unrecorded"),
    ],
)
def test_a_policy_that_is_not_the_recorded_one_is_said_once(
    place: Place, edit: object, code: str
) -> None:
    edit(place.root / ".synapse/policy")  # type: ignore[operator]
    policy = [f for f in scrub(place.open()).faults if f.finding.path == ".synapse/policy"]
    assert [(item.cls, item.finding.code) for item in policy] == [("tampered", code)]


def test_a_torn_tail_under_a_checkpoint_is_no_crash(place: Place) -> None:
    [segment] = (place.root / ".synapse/ledger").glob("*/*.jsonl")
    data = segment.read_bytes()
    # All that the newest checkpoint covers is cut, and the line before it torn.
    whole = data.splitlines(keepends=True)
    segment.write_bytes(b"".join(whole[:3]) + whole[3][:-20])
    done = scrub(place.open())
    assert ("ledger", "tampered", "torn-tail") in found(done)
    before = segment.read_bytes()
    assert not any(step.action == "mend" for step in plan_repair(place.open()).steps)
    assert segment.read_bytes() == before


def test_a_clear_that_no_admin_gave_is_found(place: Place) -> None:
    quarantine(place.open(), "limit", "doubtful")
    reading = read_workspace(place.open())
    [chain] = reading.ledger.ledger.chains
    names = reading.ledger.recorded["limit"].quarantine
    draft = Draft(actor="mallory", via="cli", action="clear", fact="limit", names=names)
    made, _ = next_entries(chain.tail, [draft], "2026-12-01T00:00:00.000000Z")
    [segment] = (place.root / ".synapse/ledger").glob("*/*.jsonl")
    with segment.open("ab") as file:
        file.write(lines(made))
    git(place, "commit", "-qam", "clear")
    reindex(place.open())
    done = scrub(place.open())
    assert found(done) == {("fact", "tampered", "clear-unauthorized")}
    assert {s.action for s in plan_repair(place.open()).steps} == {"refuse"}
