"""The policy file: reading, writing, standing, and changes."""

from dataclasses import replace

import pytest

from syn.keys import policy
from syn.keys.policy import (
    BrokenPolicy,
    KeyState,
    Policy,
    PolicyKey,
    PolicyKeyError,
    Role,
    Standing,
)
from tests.support.proofs import private_key

KEY = private_key(1).public
ADMIN = PolicyKey("alice", ("admin", "writer", "publisher"), "active", KEY, "laptop")
WRITER = PolicyKey("bob@example.org", ("writer",), "active", private_key(2).public)
RETIRED = PolicyKey("alice", ("admin", "writer"), "retired", private_key(3).public)
LOST = PolicyKey("carol", ("admin",), "compromised", private_key(4).public)
POLICY = Policy((ADMIN, WRITER, RETIRED, LOST))
LINE = policy.render_key(ADMIN)


def read(data: bytes) -> Policy:
    found = policy.parse(data)
    assert isinstance(found, Policy)
    return found


def test_render_and_parse_are_inverse() -> None:
    assert policy.parse(policy.render(POLICY)) == POLICY
    assert policy.parse(b"") == Policy(())


def test_a_line_reads_as_in_an_allowed_signers_file() -> None:
    assert (
        'alice roles="admin,writer,publisher",state="active" '
        f"ssh-ed25519 {KEY.line().split()[1]} laptop"
    ) == LINE


def test_comments_blanks_and_quoting_are_free() -> None:
    text = (
        f'# who\n\n \t# more\n  "alice"\tstate="active",ROLES="writer,admin"  {KEY.line()}  a  b\n'
    )
    assert read(text.encode()).keys == (
        PolicyKey("alice", ("admin", "writer"), "active", KEY, "a b"),
    )


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("policy-form", "alice"),
        ("policy-form", f"{LINE}\r"),
        ("policy-form", LINE.replace("alice", "ali\0ce")),
        ("policy-form", LINE.replace('"active"', '"active')),
        ("policy-form", LINE.replace("state=", 'state="active",state=')),
        ("policy-form", LINE.replace('"active"', "active")),
        ("policy-option", f"alice {KEY.line()}"),
        ("policy-option", LINE.replace(',state="active"', "")),
        ("policy-option", LINE.replace("state=", 'valid-before="2030",state=')),
        ("policy-role", LINE.replace("admin", "owner")),
        ("policy-role", LINE.replace("admin", "writer")),
        ("policy-role", LINE.replace("admin,writer,publisher", "")),
        ("policy-state", LINE.replace("active", "expired")),
        ("policy-state", LINE.replace('"active"', '""')),
        ("policy-name", LINE.replace("alice", "*")),
        ("policy-name", LINE.replace("alice", "../x")),
        ("policy-name", LINE.replace("alice", "a" * 65)),
        ("policy-name", LINE.replace("alice", "alice@example.org")),
        ("policy-name", LINE.replace("alice", "alice,bob")),
        ("policy-key", LINE.replace("ssh-ed25519", "ssh-rsa")),
        ("policy-key", LINE.replace("AAAAC3", "AAAAC2")),
    ],
)
def test_a_broken_line_is_named(code: str, line: str) -> None:
    found = policy.parse(f"# one\n{policy.render_key(WRITER)}\n{line}\n".encode())
    assert isinstance(found, BrokenPolicy)
    assert [(item.line, item.code) for item in found.problems] == [(3, code)]
    assert found.problems[0].path == ".synapse/policy"


def test_all_problems_are_named() -> None:
    found = policy.parse(f"x\n{LINE}\ny\n{LINE}\n".encode())
    assert isinstance(found, BrokenPolicy)
    assert [(item.line, item.code) for item in found.problems] == [
        (1, "policy-form"),
        (3, "policy-form"),
        (4, "policy-key-twice"),
    ]


def test_a_file_has_a_form_and_a_limit() -> None:
    for code, data in (("policy-form", b"\xff"), ("policy-limit", b"#" * (policy.MAX_BYTES + 1))):
        found = policy.parse(data)
        assert isinstance(found, BrokenPolicy)
        assert [item.code for item in found.problems] == [code]


@pytest.mark.parametrize(
    "item",
    [
        replace(WRITER, name="a b"),
        replace(WRITER, name="a\nb"),
        replace(WRITER, roles=()),
        replace(WRITER, roles=("writer", "admin")),
        replace(WRITER, comment="two\nlines"),
        replace(ADMIN, name="alice@example.org"),
    ],
)
def test_a_key_that_would_not_read_back_is_not_written(item: PolicyKey) -> None:
    with pytest.raises(PolicyKeyError):
        policy.render_key(item)


def test_edits_change_one_line() -> None:
    data = f"# head\n{LINE}\n\n{policy.render_key(WRITER)}\n# end".encode()
    retired = replace(ADMIN, state="retired")
    assert policy.replace_key(data, retired) == data.replace(
        LINE.encode(), policy.render_key(retired).encode()
    )
    assert policy.add_key(data, LOST) == data + f"\n{policy.render_key(LOST)}\n".encode()
    assert policy.add_key(b"", LOST) == f"{policy.render_key(LOST)}\n".encode()
    with pytest.raises(KeyError):
        policy.replace_key(data, LOST)


def test_export_is_plain_and_holds_active_keys_only() -> None:
    assert policy.export(POLICY).decode().splitlines() == [
        f'alice namespaces="git,synapse-report,synapse-checkpoint" {KEY.line("laptop")}',
        f'bob@example.org namespaces="git,synapse-report" {WRITER.key.line()}',
    ]


@pytest.mark.parametrize(
    ("number", "role", "expected"),
    [
        (1, "admin", "allowed"),
        (1, "forge", "role"),
        (2, "writer", "allowed"),
        (2, "admin", "role"),
        (3, "writer", "retired"),
        (4, "admin", "compromised"),
        (9, "admin", "unknown"),
    ],
)
def test_standing(number: int, role: Role, expected: Standing) -> None:
    key = private_key(number).public
    assert policy.standing(POLICY, key, role) == expected
    assert policy.allowed(POLICY, key, role) == (expected == "allowed")


def test_every_parent_must_allow() -> None:
    retired = Policy((replace(ADMIN, state="retired"),))
    lost = Policy((replace(ADMIN, state="compromised"),))
    assert policy.standing_in_all([POLICY, POLICY], KEY, "writer") == "allowed"
    assert policy.standing_in_all([POLICY, retired], KEY, "writer") == "retired"
    assert policy.standing_in_all([POLICY, Policy(())], KEY, "writer") == "unknown"
    assert policy.standing_in_all([retired, lost, POLICY], KEY, "writer") == "compromised"
    assert policy.standing_in_all([], KEY, "writer") == "unknown"


def test_publishers_keep_their_retired_keys() -> None:
    assert [item.state for item in POLICY.with_role("admin")] == [
        "active",
        "retired",
        "compromised",
    ]


NEW = PolicyKey("dave", ("writer",), "active", private_key(5).public)


def with_state(item: PolicyKey, state: KeyState) -> Policy:
    changed = replace(item, state=state)
    return Policy(tuple(changed if each.key == item.key else each for each in POLICY.keys))


@pytest.mark.parametrize(
    ("codes", "new", "signer"),
    [
        ([], Policy((*POLICY.keys, NEW)), 1),
        ([], with_state(WRITER, "compromised"), 1),
        ([], with_state(RETIRED, "active"), 1),
        ([], POLICY, 1),
        (["policy-unsigned"], Policy((*POLICY.keys, NEW)), None),
        (["policy-signer"], Policy((*POLICY.keys, NEW)), 2),
        (["policy-signer"], Policy((*POLICY.keys, NEW)), 3),
        (["policy-signer"], Policy((*POLICY.keys, NEW)), 4),
        (["policy-signer"], Policy((*POLICY.keys, replace(NEW, roles=("admin",)))), 5),
        (["policy-removed"], Policy((ADMIN, RETIRED, LOST)), 1),
        (["policy-removed"], Policy((ADMIN, WRITER, RETIRED)), 1),
        (["policy-reinstated"], with_state(LOST, "active"), 1),
        (["policy-reinstated"], with_state(LOST, "retired"), 1),
        (["policy-no-admin"], with_state(ADMIN, "retired"), 1),
        (["policy-removed"] * 4 + ["policy-no-admin"], Policy(()), 1),
    ],
)
def test_changes(codes: list[str], new: Policy, signer: int | None) -> None:
    key = private_key(signer).public if signer else None
    faults = policy.change_faults(POLICY, new, key)
    assert [item.code for item in faults] == codes
    assert policy.change_allowed(POLICY, new, key) == (not codes)


def test_an_admin_may_hand_over_in_one_change() -> None:
    new = Policy(
        (replace(ADMIN, state="compromised"), *POLICY.keys[1:], replace(NEW, roles=("admin",)))
    )
    assert policy.change_allowed(POLICY, new, KEY)


def test_a_first_policy_counts_only_as_a_root() -> None:
    assert [item.code for item in policy.change_faults(None, POLICY, KEY)] == ["policy-first"]
