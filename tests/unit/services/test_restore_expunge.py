"""Taking hand edits back, and clearing bytes that must not stay."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from syn.canon.digest import sha256
from syn.errors import SynError
from syn.git.repository import open_repository
from syn.git.write import kept_blob
from syn.services.proving.verifying import Request, verify
from syn.services.recall.indexing import read_workspace
from syn.services.writing.changes import Add, Close, Delete, Edit, NewFact
from syn.services.writing.expunge import expunge, plan_expunge, steps
from syn.services.writing.gate import Override
from syn.services.writing.pending import Asked, propose
from syn.services.writing.restore import restore
from syn.services.writing.undo import undo
from syn.services.writing.writes import Terms, write
from tests.support.workspaces import Place, make_workspace

SECRET = "ghp_" + "a1B2" * 9
LEAK = f"---\nid: limit\n---\nThe token is {SECRET}.\n"
TAKEN = Terms(override=Override(screened=True))


def quiet(_: str) -> None:
    """Takes the talk of a service."""


def back(place: Place, *names: str) -> list[tuple[str, str]]:
    done = restore(place.open(), names, Terms("a test"), quiet)
    return [(entry.action, entry.fact) for _, entry in done.entries]


def sound(place: Place) -> bool:
    report = verify(place.open(), Request(deep=True))
    return report.verdict == "pass" and report.subject.worktree == "clean"


def test_a_changed_fact_gets_its_recorded_bytes_and_the_edit_is_kept(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    file = place.root / "facts/limit.md"
    before = file.read_bytes()
    file.write_bytes(b"by hand\n")
    assert back(place, "limit") == [("restore", "limit")]
    assert file.read_bytes() == before
    assert kept_blob(open_repository(place.root), sha256(b"by hand\n")) == b"by hand\n"
    assert back(place, "limit") == []
    assert sound(place)


def test_the_configuration_is_taken_back_by_its_path(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    file, fact = place.root / "synapse.toml", place.root / "facts/limit.md"
    before = file.read_bytes()
    by_hand = before + b"# by hand\n"
    file.write_bytes(by_hand)
    fact.write_bytes(b"by hand\n")
    done = restore(place.open(), ["synapse.toml", "limit"], Terms("a test"), quiet)
    assert done.taken_back == ("synapse.toml",)
    assert file.read_bytes() == before
    assert kept_blob(open_repository(place.root), sha256(by_hand)) == by_hand
    assert restore(place.open(), ["synapse.toml"], Terms("again"), quiet).taken_back == ()
    assert sound(place)


def test_a_file_that_nothing_is_recorded_of_is_not_taken_back(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    with pytest.raises(SynError, match="policy is not recorded") as refused:
        restore(place.open(), [".synapse/policy"], Terms("a test"), quiet)
    assert refused.value.code == "not-restorable"


@pytest.mark.parametrize(
    "damage", [b"", b"---\nid: [\n---\n", b"\xff", b"---\nid: other\n---\nx\n", None]
)
def test_whatever_stands_there_goes(tmp_path: Path, damage: bytes | None) -> None:
    place = make_workspace(tmp_path)
    file = place.root / "facts/limit.md"
    before = file.read_bytes()
    if damage is None:
        file.unlink()
    else:
        file.write_bytes(damage)
    assert back(place, "facts/limit.md") == [("restore", "limit")]
    assert file.read_bytes() == before
    assert sound(place)


def test_a_reformatted_fact_gets_its_bytes_back(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    file = place.root / "facts/limit.md"
    before = file.read_bytes()
    file.write_bytes(before.replace(b"\n", b"\r\n"))
    assert back(place, "limit") == [("restore", "limit")]
    assert file.read_bytes() == before


def test_a_moved_file_goes_back(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    (place.root / "facts/x").mkdir()
    (place.root / "facts/limit.md").rename(place.root / "facts/x/limit.md")
    import subprocess

    subprocess.run(["git", "add", "-A"], cwd=place.root, env=place.env, check=True)
    assert back(place, "limit") == [("restore", "limit")]
    assert (place.root / "facts/limit.md").exists()
    assert not (place.root / "facts/x/limit.md").exists()
    assert verify(place.open(), Request()).verdict == "pass"


def test_a_whole_folder_comes_back(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    shutil.rmtree(place.root / "facts")
    assert len(back(place, "facts")) == 4
    assert sound(place)


def test_what_cannot_be_restored_says_why(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    write(place.open(), [Delete("limit")], Terms(), quiet)
    for name, code in (("limit", "not-restorable"), ("nothing", "unknown-fact")):
        with pytest.raises(SynError) as caught:
            back(place, name)
        assert caught.value.code == code


def test_a_closed_fact_can_be_restored(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    write(place.open(), [Close("owner-2")], Terms(), quiet)
    (place.root / "facts/owner-2.md").write_text("by hand\n")
    assert back(place, "owner-2") == [("restore", "owner-2")]
    assert sound(place)


def leaked(tmp_path: Path, *, commit: bool = True) -> Place:
    place = make_workspace(tmp_path)
    if not commit:
        config = place.root / "synapse.toml"
        config.write_text(config.read_text().replace("commit = true", "commit = false"))
        from tests.support.workspaces import adopt_all

        adopt_all(place)
    write(place.open(), [Edit("limit", body=f"The token is {SECRET}.\n")], TAKEN, quiet)
    return place


def holding(place: Place) -> Iterator[str]:
    """Files of work tree and git directory, objects apart, that hold the secret."""
    for path in place.root.rglob("*"):
        if path.is_file() and "objects" not in path.parts and SECRET.encode() in path.read_bytes():
            yield str(path.relative_to(place.root))


def kept(place: Place) -> list[bytes]:
    from syn.git.write import kept_sources

    return [data for _, data in kept_sources(open_repository(place.root))]


@pytest.mark.parametrize("commit", [True, False])
def test_a_leaked_secret_goes_everywhere_but_from_history(tmp_path: Path, commit: bool) -> None:
    place = leaked(tmp_path, commit=commit)
    propose(place.open(), [Edit("limit", tag=("x",))], Asked("bot"), quiet)
    plan = plan_expunge(place.open(), "limit", old_only=False)
    assert len(plan.proposals) == 1
    assert bool(plan.history)
    expunge(place.open(), plan, "leaked", quiet)
    assert list(holding(place)) == []
    assert not any(SECRET.encode() in data for data in kept(place))
    assert not list((place.root / ".git/synapse/pending").iterdir())
    report = verify(place.open(), Request(deep=True))
    assert report.verdict == "pass"
    state = read_workspace(place.open()).ledger.recorded["limit"]
    assert state.deleted
    entries = dict(read_workspace(place.open()).ledger.ledger.entries())
    head = entries[state.heads[0]]
    assert (head.action, head.review, head.names) == ("expunge", "named", plan.decisions)
    text = "\n".join(steps(plan))
    assert all(oid in text for oid in plan.history)
    assert "git gc --prune=now" in text


def test_old_versions_go_and_the_file_stays(tmp_path: Path) -> None:
    place = leaked(tmp_path)
    write(place.open(), [Edit("limit", body="The token is gone.\n")], Terms(), quiet)
    plan = plan_expunge(place.open(), "limit", old_only=True)
    expunge(place.open(), plan, "leaked", quiet)
    assert (place.root / "facts/limit.md").read_text().endswith("The token is gone.\n")
    assert not any(SECRET.encode() in data for data in kept(place))
    assert not read_workspace(place.open()).ledger.recorded["limit"].deleted
    assert sound(place)
    with pytest.raises(SynError):
        plan_expunge(place.open(), "nothing", old_only=True)


def test_an_expunge_is_not_undone(tmp_path: Path) -> None:
    place = leaked(tmp_path)
    plan = plan_expunge(place.open(), "limit", old_only=False)
    (digest, *_) = expunge(place.open(), plan, "", quiet)
    with pytest.raises(SynError) as caught:
        undo(place.open(), digest, Terms(), quiet)
    assert caught.value.code == "not-undoable"


def test_only_what_was_shown_goes(tmp_path: Path) -> None:
    place = leaked(tmp_path)
    plan = plan_expunge(place.open(), "limit", old_only=False)
    write(place.open(), [Edit("limit", body="Other.\n")], Terms(), quiet)
    with pytest.raises(SynError) as caught:
        expunge(place.open(), plan, "", quiet)
    assert caught.value.code == "out-of-date"


def test_a_hand_edit_that_leaked_goes_too(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    (place.root / "facts/limit.md").write_text(LEAK)
    restore(place.open(), ["limit"], Terms(), quiet)
    assert any(SECRET.encode() in data for data in kept(place))
    plan = plan_expunge(place.open(), "limit", old_only=True)
    expunge(place.open(), plan, "", quiet)
    assert not any(SECRET.encode() in data for data in kept(place))
    assert sound(place)


def test_a_new_fact_may_take_the_name(tmp_path: Path) -> None:
    place = leaked(tmp_path)
    expunge(place.open(), plan_expunge(place.open(), "limit", old_only=False), "", quiet)
    write(place.open(), [Add(NewFact(title="Limit", id="limit", body="New.\n"))], Terms(), quiet)
    assert sound(place)
