"""Parity over clones: agreement, one live witness, and everything that is a conflict."""

from pathlib import Path

import pytest

from syn.errors import UsageError
from syn.services.proving.parity import (
    CloneParity,
    FactParity,
    compare_clones,
    is_clone,
    parity_json,
)
from syn.services.trust.key_init import init_key
from syn.services.writing.quarantine import clear, plan_clear, quarantine
from tests.support.workspaces import FACTS, Place, adopt_all, git, make_workspace

LIMIT = "facts/limit.md"


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Place, Place]:
    here = make_workspace(tmp_path)
    return here, clone_of(here, tmp_path / "clone")


def clone_of(place: Place, path: Path) -> Place:
    git(place, "clone", "-q", ".", str(path))
    return Place(path, place.env)


def compare(*places: Place, revoked: tuple[str, ...] = ()) -> CloneParity:
    around = places[0].open().around
    return compare_clones([place.root for place in places], around, revoked)


def of(found: CloneParity, fact: str) -> FactParity:
    return next(item for item in found.facts if item.fact == fact)


def write(place: Place, text: str, *, adopt: bool = True) -> None:
    (place.root / LIMIT).write_text(FACTS[LIMIT].replace("Two", text))
    if adopt:
        adopt_all(place, text)


def test_clones_of_one_state_agree(pair: tuple[Place, Place]) -> None:
    found = compare(*pair)
    assert {item.outcome for item in found.facts} == {"agree"}
    assert len(found.facts) == 4
    assert found.verdict == "pass"
    assert parity_json(found)["counts"] == {"agree": 4, "resolved": 0, "conflict": 0}


def test_the_last_decision_resolves(pair: tuple[Place, Place]) -> None:
    here, there = pair
    write(there, "Three")
    found = compare(here, there)
    item = of(found, "limit")
    assert (item.outcome, item.holds) == ("resolved", item.copies[1].payload)
    assert item.reason.startswith("the last decision is update ")
    assert found.verdict == "pass"
    assert of(compare(there, here), "limit").holds == item.holds
    head = item.reason.rpartition(" ")[2]
    refuted = of(compare(here, there, revoked=(head,)), "limit")
    assert (refuted.outcome, refuted.reason) == (
        "conflict",
        f"its last decision {head} was revoked",
    )


def test_a_deletion_is_a_decision_too(pair: tuple[Place, Place]) -> None:
    here, there = pair
    (there.root / LIMIT).unlink()
    assert of(compare(here, there), "limit").outcome == "resolved"
    assert of(compare(here, there), "limit").copies[1].fault == "missing or unreadable"
    adopt_all(there, "gone")
    item = of(compare(here, there), "limit")
    assert (item.outcome, item.holds) == ("resolved", "")


def test_a_damaged_copy_is_named_and_the_sound_one_holds(pair: tuple[Place, Place]) -> None:
    here, there = pair
    write(here, "Nobody", adopt=False)
    item = of(compare(here, there), "limit")
    assert (item.outcome, item.holds) == ("resolved", item.copies[1].payload)
    assert item.copies[0].fault == "not as it is recorded"
    write(there, "Nobody", adopt=False)
    assert of(compare(here, there), "limit").reason == ("no copy is as its own ledger records it")


def test_two_decisions_are_a_conflict(pair: tuple[Place, Place]) -> None:
    here, there = pair
    write(here, "Three")
    write(there, "Four")
    found = compare(here, there)
    item = of(found, "limit")
    assert (item.outcome, item.reason) == ("conflict", "the clones decided differently on it")
    assert found.verdict == "fail"
    assert of(found, "facts/plain").outcome == "agree"


def test_a_quarantine_in_one_clone_is_a_conflict(pair: tuple[Place, Place]) -> None:
    here, there = pair
    quarantine(there.open(), "limit", "doubtful")
    item = of(compare(here, there), "limit")
    assert item.reason == "one clone keeps it in quarantine and another does not"
    git(here, "pull", "-q", str(there.root), "main")
    assert of(compare(here, there), "limit").outcome == "agree"
    clear(here.open(), plan_clear(here.open(), "limit"), "checked", "seen")
    assert of(compare(here, there), "limit").outcome == "conflict"


def test_a_broken_ledger_makes_no_copy_count(pair: tuple[Place, Place]) -> None:
    here, there = pair
    [file] = (there.root / ".synapse/ledger").glob("*/*.jsonl")
    file.write_bytes(file.read_bytes().replace(b'"reason":"import"', b'"reason":"impart"', 1))
    found = compare(here, there)
    assert {item.outcome for item in found.facts} == {"resolved"}
    assert "chain-broken" in found.clones[1].faults
    assert "ledger does not hold" in found.facts[0].copies[1].fault


def test_two_histories_of_one_writer_are_a_conflict(tmp_path: Path) -> None:
    here = make_workspace(tmp_path)
    # A copy of the whole folder put in the place of the original: the same writer, twice.
    spare = tmp_path / "spare"
    git(here, "clone", "-q", ".", str(spare))
    write(here, "Three")
    [file] = (here.root / ".synapse/ledger").glob("*/*.jsonl")
    other = file.read_bytes()
    target = spare / file.relative_to(here.root)
    lines = other.replace(b'"reason":"Three"', b'"reason":"Four!"')
    target.write_bytes(lines)
    (spare / LIMIT).write_text((here.root / LIMIT).read_text())
    item = of(compare(here, Place(spare, here.env)), "limit")
    assert item.outcome == "agree"
    (spare / LIMIT).write_text(FACTS[LIMIT])
    item = of(compare(here, Place(spare, here.env)), "limit")
    assert item.outcome == "conflict"
    assert "wrote two histories" in item.reason


def test_under_a_policy_only_a_signed_decision_resolves(tmp_path: Path) -> None:
    here = make_workspace(tmp_path)
    workspace = here.open()
    init_key(workspace.around, workspace, slot="identity", name="alice", policy=True)
    there = clone_of(here, tmp_path / "clone")
    write(there, "Three")
    assert of(compare(here, there), "limit").outcome == "resolved"
    stranger = Place(there.root, {**there.env, "SYNAPSE_CONFIG_DIR": str(tmp_path / "nobody")})
    write(stranger, "Four")
    item = of(compare(here, there), "limit")
    assert item.outcome == "conflict"
    assert "is not signed by a key of the policy" in item.reason


def test_what_cannot_be_compared(pair: tuple[Place, Place], tmp_path: Path) -> None:
    here, _ = pair
    other = make_workspace(tmp_path / "other")
    with pytest.raises(UsageError, match="clones of one workspace"):
        compare(here, other)
    with pytest.raises(UsageError, match="at least two clones"):
        compare(here)
    around = here.open().around
    assert is_clone(here.root, around)
    assert not is_clone(here.root / "facts", around)
    assert not is_clone(tmp_path, around)


def test_a_bare_clone_counts_by_its_head(tmp_path: Path) -> None:
    here = make_workspace(tmp_path)
    git(here, "clone", "-q", "--bare", ".", str(tmp_path / "bare.git"))
    found = compare(here, Place(tmp_path / "bare.git", here.env))
    assert {item.outcome for item in found.facts} == {"agree"}
    assert is_clone(tmp_path / "bare.git", here.open().around)
