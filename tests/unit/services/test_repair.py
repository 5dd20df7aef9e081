"""Repair: what can be proven comes back, everything else is refused and stays as it is."""

import hashlib
import re
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from syn.errors import UsageError
from syn.git.loose import loose_path
from syn.services.patrol.scrub import scrub
from syn.services.proving.verifying import Request, verify
from syn.services.recall.indexing import index_path, read_workspace
from syn.services.recall.opening import reindex
from syn.services.repair.apply import Repaired, repair, repair_json
from syn.services.repair.plan import Plan, check_names, plan_repair
from syn.services.repair.sources import OtherWorkspaceError, open_replicas
from syn.services.writing.quarantine import quarantine
from tests.support.images import recall_files, write_files
from tests.support.workspaces import FACTS, Place, git, make_workspace

LIMIT = "facts/limit.md"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = make_workspace(tmp_path)
    time.sleep(0.12)
    reindex(place.open())
    return place


@pytest.fixture
def clone(place: Place, tmp_path: Path) -> Place:
    git(place, "clone", "-q", "--no-hardlinks", ".", str(tmp_path / "clone"))
    return Place(tmp_path / "clone", place.env)


def plan(place: Place, *names: str, clones: tuple[Place, ...] = ()) -> Plan:
    workspace = place.open()
    return plan_repair(workspace, names, open_replicas(workspace, [c.root for c in clones]))


def carry_out(place: Place, *names: str, clones: tuple[Place, ...] = ()) -> Repaired:
    return repair(place.open(), plan(place, *names, clones=clones), "unreviewed", lambda _: None)


def steps(made: Plan) -> set[tuple[str, str, str]]:
    return {(step.action, step.subject, step.code) for step in made.steps}


def passes(place: Place) -> bool:
    return verify(place.open(), Request(deep=True)).verdict == "pass"


def state(place: Place) -> dict[str, str]:
    """What lies in the workspace, but for what a scrub and git themselves keep."""
    skip = ("scrub.cursor", ".git/", "index.db")
    return {
        str(file.relative_to(place.root)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(place.root.rglob("*"))
        if file.is_file() and not any(part in str(file) for part in skip)
    }


def sql(place: Place, statement: str) -> None:
    with closing(sqlite3.connect(index_path(place.open()))) as database, database:
        assert database.execute(statement).rowcount


def test_a_sound_workspace_needs_nothing(place: Place) -> None:
    made = plan(place)
    assert (made.steps, made.does, made.verdict) == ([], False, "pass")
    done = carry_out(place)
    assert (done.after, done.backup) == (None, None)
    assert repair_json(made, None)["steps"] == []


def test_an_edited_row_is_derived_again_and_the_old_index_kept(place: Place) -> None:
    quarantine(place.open(), "limit", "doubtful")
    reindex(place.open())
    sql(place, "UPDATE state SET quarantine='[]' WHERE id='limit'")
    damaged = index_path(place.open()).read_bytes()
    made = plan(place)
    assert steps(made) == {("rebuild", ".synapse/index.db", "derived")}
    assert not made.asks
    before = state(place)
    done = carry_out(place)
    assert done.verdict == "pass"
    assert done.backup is not None
    assert (done.backup / "index.db").read_bytes() == damaged
    assert state(place) == before
    assert passes(place)


def test_an_index_that_is_none_is_derived_again(place: Place) -> None:
    index_path(place.open()).write_bytes(b"\0" * 5000)
    assert carry_out(place).verdict == "pass"
    assert passes(place)


def test_a_missing_file_comes_back_as_a_decision(place: Place) -> None:
    (place.root / LIMIT).unlink()
    made = plan(place)
    assert ("restore", LIMIT, "fact-missing") in steps(made)
    assert made.asks
    done = carry_out(place)
    assert (place.root / LIMIT).read_text() == FACTS[LIMIT]
    [(_, entry)] = done.entries
    assert (entry.action, entry.fact, entry.review) == ("restore", "limit", "unreviewed")
    assert entry.reason == "syn repair: recorded bytes"
    assert done.verdict == "pass"
    assert passes(place)
    assert git(place, "status", "--porcelain") == ""


def test_an_unreadable_file_comes_back_and_what_stood_there_is_kept(place: Place) -> None:
    (place.root / LIMIT).write_bytes(b"---\nid: \xff\xfe\n---\n")
    assert ("restore", LIMIT, "not-utf8") in steps(plan(place))
    assert carry_out(place).verdict == "pass"
    assert (place.root / LIMIT).read_text() == FACTS[LIMIT]
    kept = git(place, "ls-tree", "-r", "refs/synapse/kept")
    assert hashlib.sha256(b"---\nid: \xff\xfe\n---\n").hexdigest()[2:] in kept


def test_a_hand_edit_is_taken_back_only_by_name(place: Place) -> None:
    (place.root / LIMIT).write_text(FACTS[LIMIT].replace("Two", "Three"))
    made = plan(place)
    assert ("refuse", LIMIT, "hand-edit") in steps(made)
    carry_out(place)
    assert "Three" in (place.root / LIMIT).read_text()
    assert carry_out(place, "limit").verdict == "pass"
    assert "Two" in (place.root / LIMIT).read_text()
    assert passes(place)


@pytest.mark.parametrize("target", ["facts/renamed.md", "facts/deep/limit.md"])
def test_a_hand_move_is_not_undone(place: Place, target: str) -> None:
    (place.root / target).parent.mkdir(exist_ok=True)
    (place.root / "facts/plain.md").rename(place.root / target)
    assert ("refuse", "facts/plain.md", "hand-move") in steps(plan(place))
    carry_out(place)
    assert not (place.root / "facts/plain.md").exists()
    assert (place.root / target).exists()


def test_a_changed_id_is_refused_and_taken_back_by_name(place: Place) -> None:
    (place.root / LIMIT).write_text(FACTS[LIMIT].replace("id: limit", "id: other"))
    assert ("refuse", LIMIT, "hand-edit") in steps(plan(place))
    assert carry_out(place, LIMIT).verdict == "pass"


def lose(place: Place, name: str) -> str:
    oid = git(place, "rev-parse", name)
    loose_path(place.root / ".git/objects", oid).unlink()
    return oid


def test_a_lost_blob_comes_back_from_the_work_tree(place: Place) -> None:
    oid = lose(place, f"HEAD:{LIMIT}")
    made = plan(place)
    assert steps(made) == {("fetch", oid, "object-lost")}
    assert "from work tree" in made.steps[0].detail
    assert carry_out(place).verdict == "pass"
    assert git(place, "fsck", "--full") == ""
    assert git(place, "cat-file", "blob", oid) + "\n" == FACTS[LIMIT]


def test_lost_trees_and_blobs_come_back_from_a_clone(place: Place, clone: Place) -> None:
    lost = [lose(place, name) for name in (f"HEAD:{LIMIT}", "HEAD:facts", "HEAD^{tree}", "HEAD")]
    (place.root / LIMIT).unlink()
    made = plan(place)
    assert {step.action for step in made.steps} == {"refuse"}
    assert steps(made) == {("refuse", "HEAD", "nowhere")}
    made = plan(place, clones=(clone,))
    assert {subject for _, subject, _ in steps(made)} == set(lost)
    done = carry_out(place, clones=(clone,))
    # Without its trees the work tree could not be listed: the file is the next run's work.
    assert {f.finding.code for f in done.after.faults} == {"fact-missing", "index-stale"}  # type: ignore[union-attr]
    assert carry_out(place).verdict == "pass"
    assert git(place, "fsck", "--full") == ""
    assert passes(place)


def test_a_rotten_object_is_replaced_and_kept(place: Place, clone: Place) -> None:
    oid = git(place, "rev-parse", "HEAD:synapse.toml")
    file = loose_path(place.root / ".git/objects", oid)
    file.chmod(0o644)
    file.write_bytes(b"rotten")
    (place.root / "synapse.toml").write_bytes((place.root / "synapse.toml").read_bytes() + b"\n")
    assert ("refuse", "synapse.toml", "nowhere") in steps(plan(place))
    done = carry_out(place, clones=(clone,))
    assert done.backup is not None
    assert (done.backup / "objects" / oid[:2] / oid[2:]).read_bytes() == b"rotten"
    assert git(place, "cat-file", "-t", oid) == "blob"


def test_recorded_bytes_that_only_a_clone_has(place: Place, clone: Place) -> None:
    oid = lose(place, f"HEAD:{LIMIT}")
    (place.root / LIMIT).unlink()
    made = plan(place)
    assert {("refuse", LIMIT, "nowhere"), ("refuse", LIMIT, "bytes-lost")} <= steps(made)
    done = carry_out(place, clones=(clone,))
    assert done.verdict == "pass"
    assert git(place, "cat-file", "blob", oid) + "\n" == FACTS[LIMIT]


def test_a_clone_with_other_bytes_is_no_source(place: Place, clone: Place) -> None:
    lose(place, f"HEAD:{LIMIT}")
    (place.root / LIMIT).unlink()
    lose(clone, f"HEAD:{LIMIT}")
    (clone.root / LIMIT).write_text(FACTS[LIMIT].replace("Two", "Ten"))
    made = plan(place, clones=(clone,))
    assert {action for action, subject, _ in steps(made) if subject == LIMIT} == {"refuse"}


def test_a_clone_of_another_workspace_is_refused(place: Place, tmp_path: Path) -> None:
    other = make_workspace(tmp_path / "other")
    with pytest.raises(OtherWorkspaceError, match="not a clone of this workspace"):
        open_replicas(place.open(), [other.root])


def segment(place: Place) -> Path:
    return next((place.root / ".synapse/ledger").glob("*/000001.jsonl"))


def test_a_torn_tail_is_cut_and_kept(place: Place) -> None:
    before = segment(place).read_bytes()
    segment(place).write_bytes(before + b'{"action":"quar')
    made = plan(place)
    [step] = [step for step in made.steps if step.action == "mend"]
    assert step.detail == "15 bytes after the last whole line are cut off"
    done = carry_out(place)
    assert segment(place).read_bytes() == before
    name = segment(place).relative_to(place.root)
    assert done.backup is not None
    assert (done.backup / name).read_bytes() == before + b'{"action":"quar'
    assert done.verdict == "pass"
    assert passes(place)


def test_a_whole_last_line_is_ended_not_lost(place: Place) -> None:
    git(place, "config", "user.name", "x")
    (place.root / "synapse.toml").write_text(
        (place.root / "synapse.toml").read_text().replace("commit = true", "commit = false")
    )
    quarantine(place.open(), "limit", "doubtful")
    whole = segment(place).read_bytes()
    segment(place).write_bytes(whole[:-1])
    [step] = [step for step in plan(place).steps if step.action == "mend"]
    assert step.detail == "the last line is whole: its LF is added"
    carry_out(place)
    assert segment(place).read_bytes() == whole
    assert read_workspace(place.open()).ledger.recorded["limit"].quarantine


def test_a_tail_that_head_has_is_not_cut(place: Place) -> None:
    data = segment(place).read_bytes()
    segment(place).write_bytes(data[:-40])
    made = plan(place)
    assert not made.does
    assert {step.code for step in made.steps if step.kind == "ledger"} <= {
        "tail-committed",
        "tampered",
    }
    carry_out(place)
    assert segment(place).read_bytes() == data[:-40]


def test_nothing_is_built_on_a_ledger_that_does_not_hold(place: Place) -> None:
    data = segment(place).read_bytes()
    segment(place).write_bytes(data.replace(b'"reason":"import"', b'"reason":"impart"', 1))
    (place.root / LIMIT).unlink()
    sql(place, "UPDATE state SET word='x'")
    before = state(place)
    made = plan(place)
    assert {step.action for step in made.steps} == {"refuse"}
    assert {s.code for s in made.steps if s.kind in ("fact", "index")} == {"ledger-broken"}
    done = carry_out(place)
    assert (done.after, done.verdict) == (None, "fail")
    assert state(place) == before
    assert any(found.cls == "tampered" for found in scrub(place.open()).faults)


def test_an_image_is_repaired_towards_the_stricter_state(place: Place) -> None:
    (place.root / "images").mkdir()
    folder = write_files(place.root / "images/monday", *recall_files())
    manifest = folder / "manifest.json"
    text = manifest.read_text()
    manifest.write_text(text.replace('"len": 17', '"len": 18', 1))
    assert manifest.read_text() != text
    made = plan(place)
    assert {step.action for step in made.steps} == {"repair-image"}
    assert carry_out(place).verdict == "pass"
    manifest.write_text(text.replace('"quarantined": true', '"quarantined": false', 1))
    made = plan(place)
    assert {step.action for step in made.steps} == {"refuse"}
    assert carry_out(place).verdict == "fail"


def test_each_page_of_an_image_is_a_step_of_its_own(place: Place) -> None:
    (place.root / "images").mkdir()
    manifest = write_files(place.root / "images/monday", *recall_files()) / "manifest.json"
    text = manifest.read_text()
    changed, pages = re.subn(r'"len": (\d+)', lambda found: f'"len": {int(found[1]) + 1}', text)
    manifest.write_text(changed)
    assert pages > 1
    assert len(plan(place).steps) == pages


def test_only_what_is_named(place: Place) -> None:
    (place.root / LIMIT).unlink()
    (place.root / "facts/plain.md").unlink()
    assert {s for _, s, _ in steps(plan(place, "facts/plain.md"))} == {
        "facts/plain.md",
        ".synapse/index.db",
    }
    carry_out(place, "facts/plain.md")
    assert (place.root / "facts/plain.md").exists()
    assert not (place.root / LIMIT).exists()
    check_names(place.open(), ["limit", LIMIT, "facts", "facts/"])
    with pytest.raises(UsageError, match="nothing here has this id or path"):
        check_names(place.open(), ["fact"])


def test_a_link_in_the_place_of_a_fact_is_refused(place: Place) -> None:
    (place.root / LIMIT).rename(place.root / "elsewhere")
    (place.root / LIMIT).symlink_to("../elsewhere")
    assert ("refuse", LIMIT, "symlink") in steps(plan(place))
    carry_out(place)
    assert (place.root / LIMIT).is_symlink()


def test_an_unrecorded_fact_is_a_persons_business(place: Place) -> None:
    (place.root / "facts/new.md").write_text("New.\n")
    git(place, "add", "-A")
    made = plan(place)
    assert ("refuse", "facts/new.md", "unrecorded-fact") in steps(made)
    assert carry_out(place).verdict == "incomplete"
