"""`syn checkpoint` and INV-3's look at it: what is signed, what is refused, what is found."""

from dataclasses import replace
from pathlib import Path

import pytest
from pygit2.enums import ResetMode

from syn.canon import checkpoint, head, merkle
from syn.canon import note as notes
from syn.errors import RefusedError, UsageError
from syn.keys.policy import PolicyKey
from syn.keys.signing import note_signer
from syn.model.finding import Finding, Level
from syn.model.report import Report
from syn.services.proving.logs import find_log, logs_at, note_path, parse_log
from syn.services.proving.verifying import Request, verify
from syn.services.trust.key_init import init_key
from syn.services.trust.keyring import keys_here
from syn.services.trust.policy_change import add_key, find_key, set_state
from syn.services.trust.publishing import (
    ForeignLogError,
    NotPublisherError,
    UnfitStateError,
    Wishes,
    make_checkpoint,
)
from tests.support.proofs import private_key
from tests.support.workspaces import Place, adopt_all, make_workspace

LOG = ".synapse/heads/alice.jsonl"
NOTE = ".synapse/heads/alice.checkpoint"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A workspace whose owner has a key and a policy, and no checkpoint yet."""
    made = make_workspace(tmp_path)
    workspace = made.open()
    init_key(workspace.around, workspace, slot="identity", name="alice", policy=True)
    return made


def _edit(place: Place, text: str = "more\n") -> None:
    path = place.root / "facts/plain.md"
    path.write_text(path.read_text("utf-8") + text, "utf-8")


def _decide(place: Place, text: str = "more\n") -> None:
    _edit(place, text)
    adopt_all(place)


def _found(report: Report, number: str = "INV-3") -> list[Finding]:
    result = next(item for item in report.invariants if item.id == number)
    return [finding for finding in result.findings if not finding.local]


def _codes(place: Place, request: Request | None = None) -> set[tuple[str, str]]:
    report = verify(place.open(), request or Request())
    return {(f.code, f.severity) for f in _found(report)}


def test_a_checkpoint_states_what_head_holds(place: Place) -> None:
    done = make_checkpoint(place.open(), Wishes(host="example.org"))
    workspace = place.open()
    report = verify(workspace, Request())
    assert report.verdict == "pass"
    assert report.level is Level.L2
    assert report.trust_root == "local-only"
    state = report.checkpoint
    assert state is not None
    assert (state.size, state.unanchored, state.authorized) == (1, 0, True)
    assert state.origin == f"example.org/{workspace.config.id}/alice"
    assert done.record.manifest == report.manifest_digest
    assert done.record.inputs == report.subject.inputs_hash
    first = next(item for item in report.invariants if item.id == "INV-1")
    assert first.evidence["anchored"] == report.manifest_digest
    commit = workspace.repository.store.commit(done.commit)
    assert commit.parents == (done.record.commit,)
    assert [name for name, _ in commit.signatures] == ["gpgsig"]


def test_nothing_new_signs_nothing(place: Place) -> None:
    first = make_checkpoint(place.open(), Wishes())
    again = make_checkpoint(place.open(), Wishes())
    assert not again.made
    assert again.checkpoint == first.checkpoint
    assert again.commit == first.commit


def test_decisions_after_it_are_unanchored(place: Place) -> None:
    make_checkpoint(place.open(), Wishes())
    _decide(place)
    report = verify(place.open(), Request())
    assert report.level is Level.L2
    assert report.checkpoint is not None
    assert report.checkpoint.unanchored == 1
    second = make_checkpoint(place.open(), Wishes())
    assert second.checkpoint.size == 2
    assert verify(place.open(), Request()).verdict == "pass"
    log = logs_at(place.open().repository.store, _tree(place))[0]
    assert log.log.records[1].prev == head.leaf_digest(log.log.leaves[0])


def _tree(place: Place) -> str:
    tree = place.open().repository.head_tree()
    assert tree is not None
    return tree


def test_unfit_states_are_not_signed_unless_told(place: Place) -> None:
    _edit(place)
    with pytest.raises(UnfitStateError, match="syn verify says fail"):
        make_checkpoint(place.open(), Wishes())
    assert not (place.root / NOTE).exists()
    done = make_checkpoint(place.open(), Wishes(anyway=True))
    assert done.record.commit == place.open().repository.store.commit(done.commit).parents[0]


def test_uncommitted_files_are_dirt(place: Place) -> None:
    (place.root / ".synapse/receipts").mkdir()
    (place.root / ".synapse/receipts/x.json").write_text("{}\n")
    with pytest.raises(UnfitStateError):
        make_checkpoint(place.open(), Wishes())


def test_who_may_publish(place: Place, tmp_path: Path) -> None:
    stranger = Place(place.root, {**place.env, "SYNAPSE_CONFIG_DIR": str(tmp_path / "else")})
    with pytest.raises(NotPublisherError, match="no key here"):
        make_checkpoint(stranger.open(), Wishes())
    with pytest.raises(NotPublisherError, match="named 'bob'"):
        make_checkpoint(place.open(), Wishes(publisher="bob"))


def test_no_policy_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(NotPublisherError, match="no policy"):
        make_checkpoint(make_workspace(tmp_path).open(), Wishes())


def test_only_the_publishing_branch(place: Place) -> None:
    repository = place.open().repository
    commit = repository.head().commit
    (repository.git_dir / "refs/heads/side").write_text(f"{commit}\n")
    (repository.git_dir / "HEAD").write_text("ref: refs/heads/side\n")
    with pytest.raises(UsageError, match="expected HEAD on main, got side"):
        make_checkpoint(place.open(), Wishes())


def test_a_copied_clone_signs_nothing_until_it_takes_over(place: Place, tmp_path: Path) -> None:
    make_checkpoint(place.open(), Wishes())
    moved = tmp_path / "moved"
    moved.mkdir()
    for item in place.root.iterdir():
        item.rename(moved / item.name)
    copy = Place(moved, place.env)
    _decide(copy)
    with pytest.raises(ForeignLogError, match="another clone signs"):
        make_checkpoint(copy.open(), Wishes())
    assert make_checkpoint(copy.open(), Wishes(take_over=True)).checkpoint.size == 2


def _reset(place: Place, commit: str) -> None:
    repository = place.open().repository
    repository.pg.reset(commit, ResetMode.HARD)
    (place.root / ".synapse/index.db").unlink(missing_ok=True)


def test_a_branch_that_went_back_is_not_signed_over(place: Place) -> None:
    make_checkpoint(place.open(), Wishes())
    _decide(place)
    before = make_checkpoint(place.open(), Wishes())
    parent = place.open().repository.store.commit(before.record.commit).parents[0]
    _reset(place, parent)
    _decide(place, "another past\n")
    with pytest.raises(ForeignLogError, match="this clone signed 2 records"):
        make_checkpoint(place.open(), Wishes())


def test_a_publication_that_was_cut_off_is_finished(place: Place) -> None:
    first = make_checkpoint(place.open(), Wishes())
    _decide(place)
    second = make_checkpoint(place.open(), Wishes())
    _reset(place, second.record.commit)
    _decide(place)
    again = make_checkpoint(place.open(), Wishes())
    assert again.checkpoint == second.checkpoint
    assert again.record == second.record
    assert first.checkpoint.size == 1
    report = verify(place.open(), Request())
    assert report.verdict == "pass"
    assert report.checkpoint is not None
    assert report.checkpoint.unanchored == 1


def test_files_that_were_written_and_not_committed(place: Place) -> None:
    """A crash between the files and the commit: verify holds, and the next run commits them."""
    make_checkpoint(place.open(), Wishes())
    _decide(place)
    second = make_checkpoint(place.open(), Wishes())
    repository = place.open().repository
    repository.pg.reset(second.record.commit, ResetMode.SOFT)
    assert verify(place.open(), Request()).verdict == "pass"
    again = make_checkpoint(place.open(), Wishes())
    assert (again.checkpoint, again.record) == (second.checkpoint, second.record)
    assert verify(place.open(), Request()).subject.worktree == "clean"


def test_a_rotated_key_signs_the_same_log_again(place: Place) -> None:
    make_checkpoint(place.open(), Wishes())
    around = place.open().around
    init_key(around, place.open(), slot="new", name="alice", policy=True)
    old, new = keys_here(around)
    add_key(place.open(), PolicyKey("alice", ("admin", "writer", "publisher"), "active", new.key))
    set_state(place.open(), old.key, "retired")
    report = verify(place.open(), Request())
    assert report.verdict == "pass", _found(report)
    assert report.level is Level.L2
    done = make_checkpoint(place.open(), Wishes())
    assert done.key == new.key.fingerprint
    assert done.checkpoint.size == 2
    assert verify(place.open(), Request()).level is Level.L2


def test_a_compromised_key_anchors_nothing(place: Place) -> None:
    make_checkpoint(place.open(), Wishes())
    around = place.open().around
    init_key(around, place.open(), slot="new", name="alice", policy=True)
    old, new = keys_here(around)
    add_key(place.open(), PolicyKey("alice", ("admin", "writer", "publisher"), "active", new.key))
    set_state(place.open(), old.key, "compromised")
    assert _codes(place) == {("checkpoint-compromised", "warning")}
    assert verify(place.open(), Request()).level is Level.L1
    make_checkpoint(place.open(), Wishes())
    assert _codes(place) == set()
    assert verify(place.open(), Request()).level is Level.L2


def _tamper(place: Place, path: str, old: str, new: str) -> None:
    file = place.root / path
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


@pytest.fixture
def published(place: Place) -> Place:
    """Two checkpoints."""
    make_checkpoint(place.open(), Wishes())
    _decide(place)
    make_checkpoint(place.open(), Wishes())
    return place


def test_a_changed_record(published: Place) -> None:
    _tamper(published, LOG, '"projection":1', '"projection":2')
    assert ("checkpoint-root", "failure") in _codes(published)


def test_a_record_cut_off(published: Place) -> None:
    file = published.root / LOG
    file.write_bytes(file.read_bytes().split(b"\n")[0] + b"\n")
    assert ("log-shrank", "failure") in _codes(published)


def test_a_record_that_is_torn(published: Place) -> None:
    file = published.root / LOG
    file.write_bytes(file.read_bytes() + b'{"commit":')
    codes = _codes(published)
    assert ("head-torn", "unknown") in codes
    assert verify(published.open(), Request()).verdict == "incomplete"


def test_a_checkpoint_taken_away(published: Place) -> None:
    (published.root / NOTE).unlink()
    assert ("checkpoint-behind-log", "unknown") in _codes(published)


def test_an_old_checkpoint_put_back(published: Place) -> None:
    store = published.open().repository.store
    tree = store.commit(published.open().repository.head().commit or "").parents[0]
    log = find_log(logs_at(store, store.commit(tree).tree), "alice")
    assert log is not None
    assert log.note is not None
    (published.root / NOTE).write_bytes(notes.render(log.note))
    assert ("checkpoint-behind-log", "unknown") in _codes(published)


def test_a_flipped_signature(published: Place) -> None:
    text = (published.root / NOTE).read_text("utf-8")
    line = text.splitlines()[-1]
    at = len(line) - 10
    flipped = line[:at] + ("A" if line[at] != "A" else "B") + line[at + 1 :]
    _tamper(published, NOTE, line, flipped)
    assert ("checkpoint-signature", "failure") in _codes(published)


def test_a_checkpoint_of_a_stranger(published: Place) -> None:
    log = parse_log("alice", (published.root / LOG).read_bytes(), None).log
    origin = f"synapse/{published.open().config.id}/alice"
    text = checkpoint.render(checkpoint.Checkpoint(origin, 2, merkle.root(log.leaves)))
    note = notes.sign(text, (note_signer(private_key(9), origin),))
    (published.root / NOTE).write_bytes(notes.render(note))
    assert ("checkpoint-signer", "failure") in _codes(published)


def test_a_checkpoint_of_another_workspace(published: Place) -> None:
    key = keys_here(published.open().around)[0].load()
    log = parse_log("alice", (published.root / LOG).read_bytes(), None).log
    origin = "synapse/00000000-0000-4000-8000-000000000000/alice"
    text = checkpoint.render(checkpoint.Checkpoint(origin, 2, merkle.root(log.leaves)))
    note = notes.sign(text, (note_signer(key, origin),))
    (published.root / NOTE).write_bytes(notes.render(note))
    assert ("checkpoint-origin", "failure") in _codes(published)


def test_a_log_that_is_no_note(published: Place) -> None:
    (published.root / NOTE).write_text("hello\n")
    assert any(severity == "failure" for _, severity in _codes(published))


def _rewritten(place: Place, **changes: object) -> None:
    """Replace the newest record and sign the log again with the real key, as a thief would."""
    key = keys_here(place.open().around)[0].load()
    data = (place.root / LOG).read_bytes()
    log = parse_log("alice", data, None).log
    record = replace(log.records[-1], **changes)  # type: ignore[arg-type]
    leaves = (*log.leaves[:-1], head.encode(record))
    origin = f"synapse/{place.open().config.id}/alice"
    text = checkpoint.render(checkpoint.Checkpoint(origin, len(leaves), merkle.root(leaves)))
    (place.root / LOG).write_bytes(b"".join(leaf + b"\n" for leaf in leaves))
    (place.root / note_path("alice")).write_bytes(
        notes.render(notes.sign(text, (note_signer(key, origin),)))
    )


@pytest.mark.parametrize(
    ("member", "code"),
    [
        ("tree", "head-tree"),
        ("entries", "entries-root"),
        ("facts", "facts-root"),
        ("segments", "segment-not-prefix"),
    ],
)
def test_signed_lies_are_found(published: Place, member: str, code: str) -> None:
    log = parse_log("alice", (published.root / LOG).read_bytes(), None).log
    last = log.records[-1]
    lie: object = "sha256:" + "0" * 64
    if member == "tree":
        lie = log.records[0].tree
    elif member == "segments":
        lie = tuple(replace(item, head="sha256:" + "0" * 64) for item in last.segments)
    _rewritten(published, **{member: lie})
    assert (code, "failure") in _codes(published)


def test_a_manifest_that_does_not_rebuild(published: Place) -> None:
    _rewritten(published, manifest="sha256:" + "0" * 64)
    report = verify(published.open(), Request())
    assert "manifest-not-anchored" in {f.code for f in _found(report, "INV-1")}


def test_another_projection_is_not_comparable(published: Place) -> None:
    _rewritten(published, manifest="sha256:" + "0" * 64, projection=99)
    found = _found(verify(published.open(), Request()), "INV-1")
    assert [(f.code, f.severity) for f in found] == [("checkpoint-not-comparable", "warning")]


def test_an_orphaned_record_is_a_warning(published: Place) -> None:
    _rewritten(published, commit="0" * 39 + "1")
    report = verify(published.open(), Request())
    codes = {(f.code, f.severity) for f in _found(report)}
    assert ("checkpoint-orphaned", "warning") in codes
    assert report.level is Level.L0 or report.checkpoint is None


def test_strict_wants_a_signature(place: Place) -> None:
    assert ("signature-missing", "failure") in _codes(place, Request(profile="strict"))
    make_checkpoint(place.open(), Wishes())
    report = verify(place.open(), Request(profile="strict"))
    assert "signature-missing" not in {f.code for f in _found(report)}


def test_policy_taken_away_leaves_the_checkpoint_unsigned(published: Place) -> None:
    (published.root / ".synapse/policy").unlink()
    assert ("checkpoint-signer", "failure") in _codes(published)


def test_refusals_have_codes(place: Place) -> None:
    with pytest.raises(RefusedError) as caught:
        set_state(place.open(), find_key(place.open(), "alice").key, "compromised")
    assert caught.value.code == "policy-no-admin"
