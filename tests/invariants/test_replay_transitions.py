"""INV-4 and INV-10: the journal gives one state, and history holds only what was decided."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from syn.errors import SynError
from syn.facts.parse import parse
from syn.ledger.build import Draft, lines, next_entries
from syn.ledger.heads import seen
from syn.model.fact import Fact
from syn.model.finding import InvariantResult, Status
from syn.services.proving.verifying import Request, verify
from syn.services.proving.versions import replay_evidence
from syn.services.recall.indexing import read_workspace
from syn.services.recall.opening import reindex
from syn.services.writing.acknowledge import acknowledge
from syn.services.writing.adopt_history import adopt_history, plan_history
from syn.services.writing.changes import Add, Change, Close, Delete, Edit, Move, NewFact, Supersede
from syn.services.writing.expunge import expunge, plan_expunge
from syn.services.writing.undo import undo
from syn.services.writing.writes import Terms, write
from syn.verify.evidence import Evidence, ReplayEvidence
from syn.verify.invariant import conclude
from syn.verify.invariants.inv_04_replay import INVARIANT as INV_4
from tests.support.ledgers import contradicting, segment_files
from tests.support.workspaces import Place, adopt_all, git, make_workspace


def quiet(_: str) -> None:
    """Takes the talk of a service."""


def results(place: Place, ref: str = "") -> dict[str, InvariantResult]:
    report = verify(place.open(), Request(deep=True, ref=ref))
    return {result.id: result for result in report.invariants}


def failing(place: Place) -> dict[str, list[str]]:
    return {
        name: sorted({f.code for f in result.findings if f.severity == "failure"})
        for name, result in results(place).items()
        if result.status is Status.FAIL
    }


def commit_by_hand(place: Place, text: str | None, path: str = "facts/limit.md") -> str:
    file = place.root / path
    if text is None:
        file.unlink()
    else:
        file.write_text(text)
    git(place, "add", "-A")
    git(place, "commit", "-qm", "by hand")
    return git(place, "rev-parse", "HEAD")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


def test_a_decided_history_passes(place: Place) -> None:
    changes: tuple[Change, ...] = (
        Edit("limit", body="1\n"),
        Edit("limit", body="2\n"),
        Move("limit", "facts/x/limit.md"),
        Supersede(("owner-2",), NewFact(value="risk", valid_from="2026-09-01")),
        Close("checkout-owns-payments"),
        Delete("facts/plain"),
    )
    done = [write(place.open(), [change], Terms(), quiet) for change in changes]
    undo(place.open(), done[-1].entries[0][0], Terms(), quiet)
    found = results(place)
    assert found["INV-10"].status is Status.PASS
    assert found["INV-10"].evidence == {"facts": 5, "versions": 12, "acknowledged": 0}
    assert found["INV-4"].status is Status.PASS
    assert found["INV-4"].evidence["entries"] == 13
    assert failing(place) == {}


def test_a_fresh_workspace_has_nothing_to_check(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {}, adopted=False)
    found = results(place)
    assert found["INV-10"].status is Status.SKIP
    assert found["INV-4"].status is Status.PASS


def test_histories_that_contradict_each_other_are_no_order_and_no_crash(place: Place) -> None:
    mixed = contradicting(place.open().config.id)
    for path, data in segment_files(mixed).items():
        file = place.root / path
        file.parent.mkdir(parents=True)
        file.write_bytes(data)
    found = results(place)
    assert found["INV-3"].status is Status.FAIL
    assert "equivocation" in {finding.code for finding in found["INV-3"].findings}
    assert found["INV-4"].status is Status.INCOMPLETE
    assert {(f.code, f.subject) for f in found["INV-4"].findings} == {
        ("no-legal-order", "w1"),
        ("no-legal-order", "w2"),
    }


def test_an_edit_that_was_committed_and_taken_back_is_found(place: Place) -> None:
    before = (place.root / "facts/limit.md").read_text()
    first = commit_by_hand(place, "---\nid: limit\n---\nOne person.\n")
    commit_by_hand(place, before)
    assert failing(place) == {"INV-10": ["unrecorded-version"]}
    finding = results(place)["INV-10"].findings[0]
    assert (finding.subject, finding.path) == ("limit", "facts/limit.md")
    assert finding.actual.endswith(f"in commit {first}")


def adopted(place: Place) -> str:
    adopt_all(place)
    return git(place, "rev-parse", "HEAD")


HISTORIES: dict[str, Callable[[Place], object]] = {
    "deleted and brought back": lambda place: (
        before := (place.root / "facts/limit.md").read_text(),
        commit_by_hand(place, None),
        commit_by_hand(place, before),
    ),
    "back to an older recorded value": lambda place: (
        before := (place.root / "facts/limit.md").read_text(),
        write(place.open(), [Edit("limit", body="2\n")], Terms(), quiet),
        now := (place.root / "facts/limit.md").read_text(),
        commit_by_hand(place, before),
        commit_by_hand(place, now),
    ),
    "made unreadable and mended": lambda place: (
        before := (place.root / "facts/limit.md").read_text(),
        commit_by_hand(place, "---\nid: [\n---\n"),
        commit_by_hand(place, before),
    ),
    "recorded only afterwards, twice": lambda place: (
        before := (place.root / "facts/limit.md").read_text(),
        commit_by_hand(place, "---\nid: limit\n---\n1\n"),
        commit_by_hand(place, before),
        commit_by_hand(place, "---\nid: limit\n---\n1\n"),
        adopted(place),
    ),
    "on a branch that was merged": lambda place: (
        before := (place.root / "facts/limit.md").read_text(),
        git(place, "checkout", "-qb", "side"),
        commit_by_hand(place, "---\nid: limit\n---\n1\n"),
        commit_by_hand(place, before),
        git(place, "checkout", "-q", "main"),
        commit_by_hand(place, "x", "other.txt"),
        git(place, "merge", "-q", "--no-edit", "side"),
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_only_inv_10_finds_it_and_history_is_acknowledged(place: Place, name: str) -> None:
    HISTORIES[name](place)
    assert failing(place) == {"INV-10": ["unrecorded-version"]}
    shown = plan_history(place.open())
    assert adopt_history(place.open(), shown, "it was a mistake")
    found = results(place)["INV-10"]
    assert found.status is Status.PASS
    assert {f.code for f in found.findings} == {"version-acknowledged"}
    assert found.evidence["acknowledged"] == len(shown.versions)
    strict = verify(place.open(), Request(deep=True, profile="strict"))
    assert {r.id: r.status for r in strict.invariants}["INV-10"] is Status.FAIL
    assert plan_history(place.open()).versions == ()


def test_an_edit_adopted_in_the_next_commit_is_no_fault(place: Place) -> None:
    commit_by_hand(place, "---\nid: limit\n---\nOne person.\n")
    adopt_all(place)
    assert failing(place) == {}


def test_the_history_before_the_first_decision_does_not_count(tmp_path: Path) -> None:
    place = make_workspace(tmp_path, {"facts/a.md": "---\nid: a\n---\n1\n"}, adopted=False)
    commit_by_hand(place, "---\nid: a\n---\n2\n", "facts/a.md")
    commit_by_hand(place, "---\nid: a\n---\n1\n", "facts/a.md")
    adopt_all(place)
    found = results(place)
    assert found["INV-10"].status is Status.PASS


def test_a_merge_may_take_either_side(place: Place) -> None:
    git(place, "checkout", "-qb", "side")
    write(place.open(), [Edit("limit", body="side\n")], Terms(), quiet)
    git(place, "checkout", "-q", "main")
    reindex(place.open())
    write(place.open(), [Edit("facts/plain", body="main\n")], Terms(), quiet)
    git(place, "merge", "-q", "--no-edit", "side")
    assert failing(place) == {}


def test_what_was_expunged_is_listed_after_a_rewrite(place: Place) -> None:
    write(place.open(), [Add(NewFact(title="Key", body="not so secret\n"))], Terms(), quiet)
    plan = plan_expunge(place.open(), "key", old_only=False)
    expunge(place.open(), plan, "", quiet)
    replace = "test ! -f facts/key.md || sed -i 's/not so secret/REMOVED/' facts/key.md"
    git(place, "filter-branch", "-f", "--tree-filter", replace, "HEAD")
    found = results(place)["INV-10"]
    assert found.status is Status.PASS
    assert {f.code for f in found.findings} == {"version-expunged"}


def test_a_shallow_clone_cannot_tell(place: Place, tmp_path: Path) -> None:
    write(place.open(), [Edit("limit", body="1\n")], Terms(), quiet)
    git(place, "clone", "-q", "--depth=1", place.root.as_uri(), str(tmp_path / "shallow"))
    other = Place(tmp_path / "shallow", place.env)
    assert results(other)["INV-10"].status is Status.INCOMPLETE
    with pytest.raises(SynError) as caught:
        plan_history(other.open())
    assert caught.value.code == "history-unread"


def _append(place: Place, draft: Draft) -> str:
    """Write a line as somebody would who bypasses every command."""
    ledger = read_workspace(place.open()).ledger.ledger
    chain = max(ledger.chains, key=lambda chain: chain.tail.length)
    entries, _ = next_entries(chain.tail, [draft], "2026-11-30T12:00:00.000000Z")
    file = place.root / f".synapse/ledger/{chain.writer}/000001.jsonl"
    file.write_bytes(file.read_bytes() + lines(entries))
    return entries[0][0]


def test_a_decision_that_was_not_allowed_is_named(place: Place) -> None:
    write(place.open(), [Close("owner-2")], Terms(), quiet)
    state = read_workspace(place.open()).ledger.recorded["owner-2"]
    after, prior = seen(state)
    data = (place.root / "facts/owner-2.md").read_text().replace("Body.", "Other.")
    (place.root / "facts/owner-2.md").write_text(data)
    fact = parse("facts/owner-2.md", data.encode(), place.open().config)
    assert isinstance(fact, Fact)
    digest = _append(
        place,
        Draft(
            actor="Mallory", via="cli", action="update", review="seen", fact="owner-2",
            path="facts/owner-2.md", payload=fact.payload_digest, source=fact.source_digest,
            after=after, prior=prior,
        ),
    )  # fmt: skip
    git(place, "commit", "-qam", "bypassed")
    assert failing(place) == {"INV-10": ["closed-changed"]}
    acknowledge(place.open(), [digest], "we know")
    found = results(place)["INV-10"]
    assert found.status is Status.PASS
    assert {f.code for f in found.findings} == {"closed-changed-acknowledged"}


def test_acknowledge_names_commits_and_decisions(place: Place) -> None:
    ((_, entry),) = acknowledge(place.open(), ["HEAD"], "seen")
    assert (entry.action, entry.commit) == ("acknowledge", git(place, "rev-parse", "HEAD~1"))
    with pytest.raises(SynError) as caught:
        acknowledge(place.open(), ["nothing"], "")
    assert caught.value.code == "unknown-decision"


def _replayed(*digits: str, diverging: tuple[str, ...] = ()) -> Evidence:
    """Evidence of which only the replay is looked at."""
    digests = tuple(f"sha256:{digit * 64}" for digit in digits)
    replay = ReplayEvidence(3, digests, 5, diverging)
    return cast("Evidence", SimpleNamespace(replay=replay))


def test_a_replay_that_diverges_fails_inv_4() -> None:
    result = conclude(INV_4, _replayed("0", diverging=("limit",)))
    assert result.status is Status.FAIL
    assert [(f.code, f.subject) for f in result.findings] == [("replay-diverges", "limit")]
    assert conclude(INV_4, _replayed("0", "1")).status is Status.FAIL
    assert conclude(INV_4, _replayed("0")).status is Status.PASS


def test_several_writers_replay_in_several_orders(place: Place) -> None:
    git(place, "branch", "side")
    write(place.open(), [Edit("limit", body="main\n")], Terms(), quiet)
    git(place, "checkout", "-q", "side")
    reindex(place.open())
    write(place.open(), [Edit("facts/plain", body="side\n")], Terms(), quiet)
    git(place, "checkout", "-q", "main")
    git(place, "merge", "-q", "--no-edit", "side")
    evidence = replay_evidence(read_workspace(place.open()))
    assert evidence.orders > 1
    assert evidence.diverging == ()
    assert failing(place) == {}
