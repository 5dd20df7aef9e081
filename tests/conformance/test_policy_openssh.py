"""The policy file and its export against OpenSSH's own reader of allowed-signers files."""

import subprocess
from pathlib import Path

import pytest

from syn.keys import policy, sshsig, trust
from syn.keys.policy import Policy, PolicyKey
from tests.support.proofs import private_key

POLICY = Policy(
    (
        PolicyKey("alice", ("admin", "publisher"), "active", private_key(1).public, "old laptop"),
        PolicyKey("alice", ("admin",), "retired", private_key(2).public),
        PolicyKey("bob@example.org", ("writer",), "active", private_key(3).public),
        PolicyKey("carol", ("writer",), "compromised", private_key(4).public),
    )
)


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_find_principals_agrees_with_standing(tmp_path: Path, number: int) -> None:
    (tmp_path / "allowed").write_bytes(policy.export(POLICY))
    (tmp_path / "sig").write_text(sshsig.sign(private_key(number), b"", "git"))
    done = subprocess.run(
        ["ssh-keygen", "-Y", "find-principals", "-f", "allowed", "-s", "sig"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    item = POLICY.find(private_key(number).public)
    expected = item.name if item and item.state == "active" else ""
    assert done.stdout.strip() == expected
    assert (done.returncode == 0) == bool(expected)


def test_the_export_is_a_trust_file() -> None:
    found = trust.parse(policy.export(POLICY))
    assert found.for_namespace("git") == (private_key(1).public, private_key(3).public)
    assert found.for_namespace("synapse-checkpoint") == (private_key(1).public,)


@pytest.mark.parametrize(
    "options",
    [
        'namespaces="git"',
        "namespaces=git",
        'Namespaces="git"',
        'namespaces="git,file"',
        'namespaces="git" x',
        'namespaces="git',
        'namespaces="git",',
        'namespaces="git",namespaces="git"',
        'unknown="git"',
        '"namespaces=git"',
        'namespaces="git"x',
    ],
)
def test_options_we_take_are_options_openssh_takes(tmp_path: Path, options: str) -> None:
    """A line we honour means the same to OpenSSH; what OpenSSH refuses we refuse too."""
    line = f"alice {options} {private_key(1).public.line()}\n"
    (tmp_path / "allowed").write_text(line)
    (tmp_path / "sig").write_text(sshsig.sign(private_key(1), b"", "git"))
    done = subprocess.run(
        ["ssh-keygen", "-Y", "verify", "-n", "git", "-I", "alice", "-f", "allowed", "-s", "sig"],
        cwd=tmp_path,
        input=b"",
        capture_output=True,
        check=False,
    )
    try:
        ours = trust.parse(line.encode()).for_namespace("git") == (private_key(1).public,)
    except trust.TrustError:
        ours = False
    assert not ours or done.returncode == 0
