"""INV-3 over changes of the policy: along every edge, and from HEAD to the work tree."""

from pathlib import Path

import pytest

from syn.keys import openssh
from syn.services.trust.policy import PATH
from tests.support.inside import done, inside
from tests.support.parties import git
from tests.support.proofs import private_key
from tests.support.workspaces import Place, make_workspace


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = make_workspace(tmp_path)
    done(made, "key", "init", "--name", "alice")
    done(made, "checkpoint")
    return made


def _admit(place: Place) -> None:
    """Add a stranger as publisher, by hand."""
    policy = place.root / PATH
    line = f'eve roles="writer,publisher",state="active" {private_key(7).public.line()}\n'
    policy.write_text(policy.read_text("utf-8") + line, "utf-8")


def _codes(place: Place, *words: str) -> dict[str, str]:
    ran = inside(place, "verify", "--json", *words)
    (history,) = [i for i in ran.json["predicate"]["invariants"] if i["id"] == "INV-3"]
    return {f["code"]: f["severity"] for f in history["findings"]}


def _commit(place: Place, *words: str) -> str:
    env = {"GIT_COMMITTER_NAME": "Eve", "GIT_COMMITTER_EMAIL": "eve@example.org"}
    git(place, *words, "commit", "-q", "-am", "let me in", **env)
    return git(place, "rev-parse", "HEAD")


def test_a_stranger_does_not_let_themselves_in(place: Place) -> None:
    _admit(place)
    assert _codes(place) == {"policy-unsigned": "failure"}
    _commit(place)
    assert _codes(place) == {"policy-unsigned": "failure"}


def test_nor_with_a_signature_of_their_own(place: Place, tmp_path: Path) -> None:
    _admit(place)
    key = tmp_path / "eve"
    openssh.save(private_key(7), key)
    _commit(
        place,
        "-c",
        "gpg.format=ssh",
        "-c",
        f"user.signingKey={key}.pub",
        "-c",
        "commit.gpgSign=true",
    )
    assert _codes(place) == {"policy-signer": "failure"}


def test_an_admins_changes_pass_committed_or_not(place: Place, tmp_path: Path) -> None:
    public = tmp_path / "bob.pub"
    public.write_text(private_key(2).public.line() + "\n")
    done(place, "policy", "add", "bob", str(public))
    assert _codes(place) == {}
    config = place.root / "synapse.toml"
    config.write_text(config.read_text("utf-8").replace("commit = true", "commit = false"))
    done(place, "adopt", "--yes", "synapse.toml")
    done(place, "policy", "retire", "bob")
    assert git(place, "status", "--porcelain", "--", PATH).strip() == f"M {PATH}"
    assert _codes(place) == {}


def test_an_admin_accepts_what_history_cannot_lose(place: Place) -> None:
    _admit(place)
    commit = _commit(place)
    done(place, "acknowledge", commit)
    assert _codes(place) == {"policy-unsigned-acknowledged": "warning"}


def test_a_policy_that_cannot_be_read(place: Place) -> None:
    (place.root / PATH).write_text("anybody\n")
    assert _codes(place)["policy-form"] == "failure"
    (place.root / PATH).unlink()
    assert _codes(place)["evidence-removed"] == "failure"
