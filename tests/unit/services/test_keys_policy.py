"""Keys on this machine and changes of the policy, through the services, judged by git too."""

import subprocess
from pathlib import Path

import pytest

from syn.errors import UsageError
from syn.keys import openssh
from syn.keys.openssh import KeyFileError, LooseKeyError
from syn.keys.policy import PolicyKey, export
from syn.services.proving.verifying import Request, verify
from syn.services.trust.key_init import default_name, init_key
from syn.services.trust.keyring import choose, identity, keys_here, make_key
from syn.services.trust.policy import head_policy, own_key, usable
from syn.services.trust.policy_change import (
    NotAdminError,
    PolicyError,
    add_key,
    find_key,
    set_state,
)
from tests.support.proofs import private_key
from tests.support.workspaces import Place, make_workspace


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return make_workspace(tmp_path)


def _init(place: Place, name: str = "alice", slot: str = "identity", policy: bool = True) -> None:
    workspace = place.open()
    init_key(workspace.around, workspace, slot=slot, name=name, policy=policy)


def _add(place: Place, number: int, name: str, *roles: str) -> PolicyKey:
    key = private_key(number)
    kept = tuple(role for role in ("admin", "writer", "publisher", "forge") if role in roles)
    item = PolicyKey(name, kept, "active", key.public)
    add_key(place.open(), item)
    return item


def test_init_makes_a_private_key_and_the_first_policy(place: Place) -> None:
    workspace = place.open()
    done = init_key(workspace.around, workspace, slot="identity", name="alice", policy=True)
    assert done.made
    assert done.policy == "written"
    assert done.key.path.stat().st_mode & 0o777 == 0o600
    assert done.key.path.parent.stat().st_mode & 0o777 == 0o700
    policy = usable(head_policy(place.open()))
    assert policy is not None
    assert [(k.name, k.roles, k.state) for k in policy.keys] == [
        ("alice", ("admin", "writer", "publisher"), "active")
    ]
    again = init_key(workspace.around, place.open(), slot="identity", name="alice", policy=True)
    assert not again.made
    assert again.policy == "holds-key"
    assert verify(place.open(), Request()).verdict == "pass"


def test_the_key_stays_out_of_the_repository(place: Place) -> None:
    _init(place)
    secret = keys_here(place.open().around)[0].path.read_bytes().split(b"\n")[1]
    for path in place.root.rglob("*"):
        assert not path.is_file() or secret not in path.read_bytes()


def test_a_second_key_waits_for_an_admin(place: Place) -> None:
    _init(place)
    workspace = place.open()
    done = init_key(workspace.around, workspace, slot="laptop", name="alice", policy=True)
    assert done.policy == "lacks-key"


def test_default_name_is_a_policy_name(place: Place) -> None:
    assert default_name(place.open()) == "ada-author"


def test_slots_are_plain_names(place: Place) -> None:
    with pytest.raises(UsageError, match="expected letters"):
        make_key(place.open().around, "../x", "")


def test_loose_key_is_refused_and_nothing_is_written(place: Place) -> None:
    _init(place)
    path = keys_here(place.open().around)[0].path
    path.chmod(0o644)
    before = place.open().repository.head().commit
    with pytest.raises(LooseKeyError, match="expected mode 0600"):
        _add(place, 2, "bob", "writer")
    assert place.open().repository.head().commit == before


def test_commits_and_entries_are_signed_once_head_holds_the_key(place: Place) -> None:
    _init(place)
    _add(place, 2, "bob", "writer")
    workspace = place.open()
    store, head = workspace.repository.store, workspace.repository.head().commit
    assert head is not None
    signed = store.commit(head)
    first = store.commit(signed.parents[0])
    assert [name for name, _ in signed.signatures] == ["gpgsig"]
    assert first.signatures == ()
    policy = usable(head_policy(workspace))
    assert policy is not None
    signers = place.root.parent / "signers"
    signers.write_bytes(export(policy))
    done = subprocess.run(
        ["git", "-c", f"gpg.ssh.allowedSignersFile={signers}", "verify-commit", head],
        cwd=place.root,
        env=place.env,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_policy_rules_hold_before_anything_is_written(place: Place) -> None:
    _init(place)
    bob = _add(place, 2, "bob", "writer")
    with pytest.raises(PolicyError, match="no active admin"):
        set_state(place.open(), find_key(place.open(), "alice").key, "retired")
    assert set_state(place.open(), bob.key, "compromised").entries
    assert set_state(place.open(), bob.key, "compromised").entries == ()
    with pytest.raises(PolicyError, match="compromised"):
        _add(place, 2, "bob", "writer")
    with pytest.raises(PolicyError, match="reinstated"):
        set_state(place.open(), bob.key, "retired")


def test_only_an_admin_changes_the_policy(place: Place) -> None:
    _init(place)
    env = {**place.env, "SYNAPSE_CONFIG_DIR": str(place.root.parent / "other")}
    stranger = Place(place.root, env)
    with pytest.raises(NotAdminError):
        _add(stranger, 3, "eve", "admin")


def test_rotation_picks_the_key_that_the_policy_knows(place: Place) -> None:
    _init(place)
    _init(place, slot="new", policy=False)
    around = place.open().around
    new = next(key for key in keys_here(around) if key.slot == "new")
    add_key(place.open(), PolicyKey("alice", ("admin", "writer", "publisher"), "active", new.key))
    old = find_key(place.open(), keys_here(around)[0].key.fingerprint)
    set_state(place.open(), old.key, "retired")
    found = own_key(place.open(), "publisher")
    assert found is not None
    assert found.slot == "new"
    assert find_key(place.open(), "alice").key == new.key
    policy = usable(head_policy(place.open()))
    chosen = identity(around, policy)
    assert chosen is not None
    assert chosen.slot == "new"


def test_environment_names_the_only_key(place: Place, tmp_path: Path) -> None:
    _init(place)
    path = tmp_path / "ci"
    openssh.save(private_key(7), path)
    path.with_name("ci.pub").unlink()
    env = {**place.env, "SYNAPSE_KEY": str(path)}
    keys = keys_here(Place(place.root, env).open().around)
    assert [key.key for key in keys] == [private_key(7).public]
    assert choose(keys, usable(head_policy(place.open())), "writer") is None
    with pytest.raises(KeyFileError, match="no key"):
        keys_here(Place(place.root, {**env, "SYNAPSE_KEY": str(tmp_path / "gone")}).open().around)


def test_unknown_names_are_usage_errors(place: Place) -> None:
    _init(place)
    with pytest.raises(UsageError, match="no key of the policy"):
        find_key(place.open(), "zed")
