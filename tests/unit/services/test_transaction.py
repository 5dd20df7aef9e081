"""A write that was cut off at each of its steps is finished or taken back by the next command."""

import subprocess
from pathlib import Path

import pytest

from syn.canon.digest import sha256
from syn.facts.parse import parse
from syn.git.repository import open_repository
from syn.git.write import kept_blob
from syn.ledger.build import Draft
from syn.ledger.heads import seen
from syn.model.fact import Fact
from syn.services.proving.verifying import Request, verify
from syn.services.recall.indexing import Reading, read_workspace
from syn.services.workspace import Workspace
from syn.services.writing import intent, transaction
from syn.services.writing.decision import Decision, FileChange, OutOfDateError
from syn.services.writing.exclusive import exclusively, settle
from syn.services.writing.intent import DamagedIntentError
from syn.services.writing.recorder import recorder
from syn.services.writing.transaction import CutOffError, pending, record, recover
from tests.support.workspaces import Place, make_workspace

NEW = b"---\nid: limit\ntitle: Refund limit\ntags: [money]\n---\nThree people.\n"


def _decision(reading: Reading, place: Place, data: bytes = NEW) -> Decision:
    old = (place.root / "facts/limit.md").read_bytes()
    fact = parse("facts/limit.md", data, reading.config)
    assert isinstance(fact, Fact)
    after, prior = seen(reading.ledger.recorded["limit"])
    draft = Draft(
        actor="Ada <ada@example.org>",
        via="cli",
        action="update",
        review="seen",
        fact="limit",
        path="facts/limit.md",
        payload=fact.payload_digest,
        source=fact.source_digest,
        after=after,
        prior=prior,
    )
    change = FileChange("facts/limit.md", data, sha256(old))
    return Decision((draft,), (change,), message="edit limit")


def _cut(place: Place, steps: int, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Carry a write out and stop before its n-th step, as a killed process does."""
    workspace = place.open()
    left = [steps]

    def stopping(name: str) -> None:
        real = getattr(transaction, name)

        def wrapped(*args: object, **more: object) -> object:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            return real(*args, **more)

        monkeypatch.setattr(transaction, name, wrapped)

    for name in ("_write_file", "_append", "save_tail", "_commit", "_finished"):
        stopping(name)
    with exclusively(workspace):
        reading = read_workspace(workspace)
        with pytest.raises(KeyboardInterrupt):
            record(workspace, reading, _decision(reading, place), recorder(workspace))
    monkeypatch.undo()
    assert pending(workspace)
    return place.open()


def _verdict(place: Place) -> str:
    return verify(place.open(), Request(deep=True)).verdict


def _git(place: Place, *words: str) -> str:
    done = subprocess.run(
        ["git", *words],
        cwd=place.root,
        env={**place.env, "GIT_COMMITTER_NAME": "C", "GIT_COMMITTER_EMAIL": "c@example.org"},
        capture_output=True,
        check=True,
    )
    return done.stdout.decode()


@pytest.mark.parametrize("steps", range(5))
def test_a_cut_off_write_is_finished(
    tmp_path: Path, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_workspace(tmp_path)
    notes: list[str] = []
    settle(_cut(place, steps, monkeypatch), notes.append)
    assert notes == ["a write that was cut off is finished"]
    assert not pending(place.open())
    assert (place.root / "facts/limit.md").read_bytes() == NEW
    assert _git(place, "status", "--porcelain") == ""
    assert _git(place, "log", "-1", "--format=%s").strip() == "edit limit"
    assert len(_git(place, "log", "--format=%s", "--grep=edit limit").split("\n")) == 2
    assert _verdict(place) == "pass"


@pytest.mark.parametrize("steps", range(5))
def test_it_is_taken_back_when_the_ledger_went_another_way(
    tmp_path: Path, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_workspace(tmp_path)
    old = (place.root / "facts/limit.md").read_bytes()
    first = _git(place, "rev-list", "--max-parents=0", "HEAD").strip()
    workspace = _cut(place, steps, monkeypatch)
    kept = (place.root / "facts/limit.md").read_bytes()
    _git(place, "checkout", "-q", "-f", "--detach", first)
    (place.root / "facts").mkdir(exist_ok=True)
    (place.root / "facts/limit.md").write_bytes(kept)
    notes: list[str] = []
    settle(workspace, notes.append)
    assert notes == ["a write that was cut off is undone"]
    assert not pending(place.open())
    assert (place.root / "facts/limit.md").read_bytes() == old


def test_an_edit_after_the_cut_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_workspace(tmp_path)
    workspace = _cut(place, 1, monkeypatch)
    (place.root / "facts/limit.md").write_bytes(b"mine\n")
    settle(workspace, lambda _: None)
    assert (place.root / "facts/limit.md").read_bytes() == b"mine\n"
    head = _git(place, "show", "HEAD:facts/limit.md")
    assert head.encode() == NEW


def test_a_torn_line_and_zeros_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_workspace(tmp_path)
    workspace = _cut(place, 1, monkeypatch)
    plan = intent.read(workspace)
    assert plan is not None
    with (place.root / plan.appends[0].path).open("ab") as file:
        file.write(plan.appends[0].data[:40] + b"\0" * 17)
    settle(workspace, lambda _: None)
    assert _verdict(place) == "pass"


def test_replaced_bytes_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make_workspace(tmp_path)
    old = (place.root / "facts/limit.md").read_bytes()
    _cut(place, 0, monkeypatch)
    assert kept_blob(open_repository(place.root), sha256(old)) == old


def test_a_commit_in_between_is_built_upon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = make_workspace(tmp_path)
    workspace = _cut(place, 2, monkeypatch)
    (place.root / "other.txt").write_text("x")
    _git(place, "add", "other.txt")
    _git(place, "commit", "-qm", "other")
    settle(workspace, lambda _: None)
    assert _git(place, "log", "-2", "--format=%s").split("\n")[:2] == ["edit limit", "other"]
    assert _git(place, "status", "--porcelain") == ""


def test_a_file_that_changed_since_is_refused(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    workspace = place.open()
    with exclusively(workspace):
        reading = read_workspace(workspace)
        decision = _decision(reading, place)
        (place.root / "facts/limit.md").write_bytes(b"mine\n")
        with pytest.raises(OutOfDateError) as caught:
            record(workspace, reading, decision, recorder(workspace))
    assert caught.value.code == "out-of-date"
    assert not pending(workspace)


def test_a_damaged_intent_stops_writes_and_names_itself(tmp_path: Path) -> None:
    place = make_workspace(tmp_path)
    workspace = place.open()
    (workspace.private_dir / "intent.json").write_bytes(b"{")
    with pytest.raises(DamagedIntentError, match="is damaged"):
        recover(workspace, recorder(workspace))
    notes: list[str] = []
    settle(workspace, notes.append)
    assert notes[0].startswith("a write was cut off and cannot be finished now")


def test_a_second_write_never_starts_over_an_intent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = make_workspace(tmp_path)
    workspace = _cut(place, 1, monkeypatch)
    reading = read_workspace(workspace)
    with pytest.raises(CutOffError):
        record(workspace, reading, _decision(reading, place), recorder(workspace))
