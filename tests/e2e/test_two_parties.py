"""Two parties in two clones: an owner who publishes, an auditor who pins (issue 4, "Shown by")."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Ran
from tests.support.inside import done, inside
from tests.support.parties import Parties, edit, git, party
from tests.support.workspaces import Place, make_workspace


@pytest.fixture
def parties(tmp_path: Path) -> Parties:
    return Parties(tmp_path)


def _inv(ran: Ran, number: int) -> dict[str, Any]:
    found = ran.json["predicate"]["invariants"]
    return next(item for item in found if item["id"] == f"INV-{number}")


def test_honest_growth_passes(parties: Parties) -> None:
    pinned = done(
        parties.auditor, "witness", "pin", str(parties.witness), "--trust", str(parties.key)
    )
    assert "pinned" in pinned.out
    edit(parties.owner, "# Plain\n\nHonest growth.\n")
    done(parties.owner, "checkpoint")
    parties.fetch()
    ran = parties.verify("--require", "L3")
    assert ran.status == 0, ran.out
    predicate = ran.json["predicate"]
    assert (predicate["verdict"], predicate["level"]) == ("pass", "L4")
    assert predicate["witness_status"] == "consistent"
    assert predicate["trust_root"] == "published-witness"
    by_pin = inside(parties.auditor, "verify", "--json", "--since", "pin")
    assert by_pin.json["predicate"]["level"] == "L4", by_pin.out


def _rewrite(owner: Place) -> None:
    """Start the same content over as another history, with real keys and real signatures."""
    kept = owner.root.parent / "kept"
    shutil.move(owner.root / ".git", kept)
    for name in ("ledger", "heads", "policy"):
        path = owner.root / ".synapse" / name
        (shutil.rmtree if path.is_dir() else Path.unlink)(path)
    (owner.root / ".synapse/index.db").unlink(missing_ok=True)
    git(owner, "init", "-q", "--initial-branch=main")
    (owner.root / "facts/plain.md").write_text("# Plain\n\nIt was always like this.\n")
    git(owner, "add", ".gitattributes", "synapse.toml", ".synapse/.gitignore", "facts")
    git(owner, "commit", "-q", "-m", "start")
    done(owner, "adopt", "--yes")
    done(owner, "key", "init", "--name", "owner")
    done(owner, "checkpoint", "--host", "memory.example")


def test_rewritten_and_signed_again(parties: Parties) -> None:
    edit(parties.owner, "# Plain\n\nTo be forgotten.\n")
    done(parties.owner, "checkpoint")
    later = parties.folder / "later.tlog-proof"
    done(parties.owner, "witness", "publish", "-o", str(later))
    parties.witness = later
    _rewrite(parties.owner)
    alone = done(parties.owner, "verify", "--json")
    assert alone.json["predicate"]["level"] == "L2"
    parties.fetch()
    bundle = parties.folder / "evidence.json"
    ran = parties.verify("--evidence", str(bundle))
    assert ran.status == 1
    assert ran.json["predicate"]["verdict"] == "fail"
    assert ran.json["predicate"]["witness_status"] == "rewritten"
    assert ran.json["predicate"]["level"] == "L0"
    evidence = json.loads(bundle.read_bytes())
    assert evidence["status"] == "rewritten"
    both = evidence["comparison"]
    assert both["witness_note"] != both["local_note"]
    assert "memory.example/" in both["witness_note"]
    assert any(item["what"] == "who" for item in both["changed"])
    codes = {item["code"] for item in evidence["findings"]}
    assert "witness-commit-rewritten" in codes
    text = inside(parties.auditor, "verify", "--since", str(later), "--trust", str(parties.key))
    assert text.status == 1
    assert text.out.rstrip().splitlines()[-1].startswith("FAIL")


def test_two_checkpoints_of_one_size_are_a_fork(parties: Parties) -> None:
    """History goes on; only the log was signed twice."""
    edit(parties.owner, "# Plain\n\nOne.\n")
    copy = parties.folder / "copy"
    shutil.copytree(parties.owner.root, copy, symlinks=True)
    other = party(parties.folder, "owner", copy)
    done(parties.owner, "checkpoint")
    second = parties.folder / "second.tlog-proof"
    done(parties.owner, "witness", "publish", "-o", str(second))
    edit(other, "# Plain\n\nTwo.\n")
    done(other, "checkpoint", "--take-over")
    git(parties.auditor, "fetch", "-q", str(copy), "main")
    git(parties.auditor, "reset", "-q", "--hard", "FETCH_HEAD")
    parties.witness = second
    ran = parties.verify()
    assert ran.status == 1
    assert ran.json["predicate"]["witness_status"] == "forked"
    assert "witness-forked" in {f["code"] for f in _inv(ran, 12)["findings"]}


def test_reset_is_behind(parties: Parties) -> None:
    edit(parties.owner, "# Plain\n\nNewer.\n")
    done(parties.owner, "checkpoint")
    newer = parties.folder / "newer.tlog-proof"
    done(parties.owner, "witness", "publish", "-o", str(newer))
    parties.fetch()
    done(parties.auditor, "witness", "pin", str(newer), "--trust", str(parties.key))
    git(parties.owner, "reset", "-q", "--hard", "HEAD~2")
    parties.fetch()
    ran = inside(parties.auditor, "verify", "--json", "--since", "pin")
    assert ran.status == 1
    assert ran.json["predicate"]["witness_status"] == "behind"
    refused = inside(
        parties.auditor, "witness", "pin", str(parties.witness), "--trust", str(parties.key)
    )
    assert refused.status == 1
    assert "never moves down" in refused.err
    fresh = parties.clone("newcomer")
    parties.witness = newer
    again = parties.verify(place=fresh)
    assert again.status == 1
    assert again.json["predicate"]["witness_status"] == "behind"


def test_a_shallow_clone_cannot_tell(parties: Parties) -> None:
    for number in range(3):
        edit(parties.owner, f"# Plain\n\nStep {number}.\n")
    shallow = parties.clone("hurried", "--depth=1")
    ran = parties.verify(place=shallow)
    assert ran.status == 3
    assert ran.json["predicate"]["verdict"] == "incomplete"
    assert ran.json["predicate"]["witness_status"] == "cannot-tell"


def test_another_workspace(parties: Parties, tmp_path: Path) -> None:
    other = make_workspace(tmp_path / "else")
    ran = parties.verify(place=Place(other.root, parties.auditor.env))
    assert ran.status == 1
    assert ran.json["predicate"]["witness_status"] == "other-workspace"


def test_an_unknown_key_cannot_tell(parties: Parties) -> None:
    done(parties.auditor, "key", "init", "--no-policy")
    parties.key.write_text(done(parties.auditor, "key", "export").out)
    ran = parties.verify()
    assert ran.status == 3
    assert "note-unknown-key" in {f["code"] for f in _inv(ran, 12)["findings"]}


def test_a_key_from_the_repository_is_refused(parties: Parties) -> None:
    inside = parties.auditor.root / "key.pub"
    shutil.copy(parties.key, inside)
    parties.key = inside
    ran = parties.verify()
    assert ran.status == 2
    assert "trust-inside" in ran.out


def test_a_bare_commit_counts_only_when_it_was_pinned(parties: Parties) -> None:
    commit = git(parties.auditor, "rev-parse", "HEAD")
    edit(parties.owner, "# Plain\n\nOn.\n")
    done(parties.owner, "checkpoint")
    parties.fetch()
    ran = inside(parties.auditor, "verify", "--json", "--since", commit)
    assert ran.json["predicate"]["witness_status"] == "consistent"
    assert (ran.status, ran.json["predicate"]["level"]) == (0, "L2")
    assert ran.json["predicate"]["trust_root"] == "local-only"
    done(parties.auditor, "witness", "pin", commit)
    ran = inside(parties.auditor, "verify", "--json", "--since", commit, "--require", "L3")
    assert (ran.status, ran.json["predicate"]["level"]) == (0, "L4")
    assert ran.json["predicate"]["trust_root"] == "published-witness"
    short = inside(parties.auditor, "verify", "--since", "no-such-thing")
    assert short.status == 2
