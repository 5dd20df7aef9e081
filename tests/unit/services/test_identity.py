"""INV-9: signatures by position in history, on histories written object by object."""

from pathlib import Path

import pytest

from syn.git.parse import add_signature
from syn.keys import sshsig
from tests.support.proofs import private_key
from tests.support.signed import POLICY, Past, codes, forged, policy

ALICE = ("alice", 1, "admin,writer,publisher")
BOB = ("bob", 2, "writer")
BASE = policy(ALICE, BOB)
RETIRED = policy(ALICE, (*BOB, "retired"))
LOST = policy(ALICE, (*BOB, "compromised"))


@pytest.fixture
def past(tmp_path: Path) -> Past:
    return Past(tmp_path)


@pytest.fixture
def root(past: Past) -> str:
    """A trusted commit: alice may do everything, bob writes."""
    return past.commit(policy=BASE)


def test_signed_and_allowed(past: Past, root: str) -> None:
    one = past.commit([root], signer=1, files={"facts/a.md": "a"})
    two, _ = past.decided(one, signer=2, by=2)
    found = past.judge(two, root)
    assert (found.commits, found.entries, found.signed) == (2, 1, 3)
    assert (found.unsigned, found.foreign, found.forge) == (0, 0, 0)
    assert found.findings == ()


def test_nothing_since_the_root(past: Past, root: str) -> None:
    found = past.judge(root, root)
    assert (found.commits, found.findings) == (0, ())


def test_unsigned_is_counted(past: Past, root: str) -> None:
    head, digest = past.decided(root)
    found = past.judge(head, root)
    assert found.unsigned == 2
    assert found.first_unsigned == tuple(sorted((head, digest)))
    assert found.findings == ()


@pytest.mark.parametrize(
    "armor",
    [
        "-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n",
        "-----BEGIN SIGNED MESSAGE-----\nMII=\n-----END SIGNED MESSAGE-----\n",
    ],
)
def test_other_formats_are_present_and_not_verified(past: Past, root: str, armor: str) -> None:
    plain = past.commit([root])
    head = past.again(plain, add_signature(past.raw(plain), armor))
    found = past.judge(head, root)
    assert (found.foreign, found.unsigned, found.findings) == (1, 0, ())


def _signed(past: Past, root: str) -> tuple[str, bytes]:
    commit = past.commit([root], signer=1)
    return commit, past.raw(commit)


def test_bad_signatures_fail(past: Past, root: str) -> None:
    commit, raw = _signed(past, root)
    plain = past.commit([root])
    unsigned = past.raw(plain)
    armor = sshsig.sign(private_key(1), unsigned, "git")
    wrong = [
        forged(raw),
        raw.replace(b"at 17", b"at 18"),
        raw.replace(b"\n\nat", b"\ngpgsig-sha256 junk\n\nat"),
        raw.replace(b"\n\nat", b"\ngpgsigfoo junk\n\nat"),
        raw.replace(b"\n\nat", b"\ngpgsig junk\n\nat"),
        add_signature(unsigned, sshsig.sign(private_key(1), unsigned, "file")),
        add_signature(unsigned, armor + armor),
        add_signature(unsigned, "-----BEGIN NONSENSE-----\n"),
        add_signature(unsigned, f"junk\n{armor}"),
        unsigned.replace(b"\n\nat", b"\ngpgsig-sha256 x\n\nat"),
    ]
    for bytes_ in wrong:
        assert bytes_ != raw
        found = past.judge(past.again(commit, bytes_), root)
        assert codes(found) == {"commit-signature": "failure"}, bytes_


def test_an_unknown_key_fails(past: Past, root: str) -> None:
    head = past.commit([root], signer=9)
    assert codes(past.judge(head, root)) == {"commit-key-unknown": "failure"}


def test_roles_bound_what_a_commit_touches(past: Past) -> None:
    carol, dora = ("carol", 3, "publisher"), ("dora", 4, "admin")
    root = past.commit(policy=policy(ALICE, carol, dora))
    heads = past.commit([root], signer=3, files={".synapse/heads/carol.jsonl": "x\n"})
    grown = past.commit([heads], signer=4, policy=policy(ALICE, carol, dora, BOB))
    assert past.judge(grown, root).findings == ()
    for signer in (3, 4):
        fact = past.commit([root], signer=signer, files={"facts/a.md": "a"})
        assert codes(past.judge(fact, root)) == {"commit-key-role": "failure"}


def test_a_forge_signs_for_others(past: Past) -> None:
    root = past.commit(policy=policy(ALICE, ("forge", 5, "forge")))
    head = past.commit([root], signer=5, files={"facts/a.md": "a"})
    found = past.judge(head, root)
    assert (found.forge, found.findings) == (1, ())


# Position decides


def test_a_retired_key_counts_for_what_came_before(past: Past, root: str) -> None:
    before = past.commit([root], signer=2)
    retired = past.commit([before], signer=1, policy=RETIRED)
    head = past.commit([retired], signer=1)
    assert past.judge(head, root).findings == ()


def test_a_retired_key_may_retire_itself(past: Past) -> None:
    both = policy(ALICE, ("zoe", 6, "admin,writer"))
    root = past.commit(policy=both)
    head = past.commit(
        [root], signer=6, policy=policy(ALICE, ("zoe", 6, "admin,writer", "retired"))
    )
    assert past.judge(head, root).findings == ()


@pytest.mark.parametrize("date", [None, 1_000_000_000])
def test_a_retired_key_counts_for_nothing_after_whatever_the_date(
    past: Past, root: str, date: int | None
) -> None:
    retired = past.commit([root], signer=1, policy=RETIRED)
    head = past.commit([retired], signer=2, date=date)
    assert codes(past.judge(head, root)) == {"commit-key-retired": "failure"}


def test_a_side_branch_does_not_escape_a_retirement(past: Past, root: str) -> None:
    side = past.commit([root], signer=2, files={"facts/b.md": "b"})
    retired = past.commit([root], signer=1, policy=RETIRED)
    assert past.judge(side, root).findings == ()
    merged = past.commit([retired, side], signer=1, files={"facts/b.md": "b"})
    found = past.judge(merged, root)
    assert codes(found) == {"commit-key-retired": "failure"}
    assert found.findings[0].subject == side


def test_a_branch_from_before_the_root_does_not_escape_either(past: Past) -> None:
    old = past.commit(policy=BASE)
    root = past.commit([old], signer=1, policy=RETIRED)
    side = past.commit([old], signer=2, files={"facts/b.md": "b"})
    merged = past.commit([root, side], signer=1)
    assert codes(past.judge(merged, root)) == {"commit-key-retired": "failure"}


def test_a_merge_by_an_active_key_before_the_retirement_is_fine(past: Past, root: str) -> None:
    side = past.commit([root], signer=2, files={"facts/b.md": "b"})
    merged = past.commit([root, side], signer=1, files={"facts/b.md": "b"})
    head = past.commit([merged], signer=1, policy=RETIRED)
    assert past.judge(head, root).findings == ()


def test_a_compromised_key_counts_only_for_what_a_witness_covers(past: Past, root: str) -> None:
    early = past.commit([root], signer=2, files={"facts/b.md": "b"})
    late = past.commit([early], signer=2, files={"facts/c.md": "c"})
    head = past.commit([late], signer=1, policy=LOST)
    found = past.judge(head, root)
    assert codes(found) == {"commit-key-compromised": "failure"}
    assert {f.subject for f in found.findings} == {early, late}
    covered = past.judge(head, root, covered=[early])
    assert {f.subject for f in covered.findings} == {late}
    assert past.judge(head, root, covered=[late]).findings == ()
    after = past.judge(head, root, covered=[head])
    assert {f.subject for f in after.findings} == {early, late}


# The policy's own history


def test_a_key_is_not_used_where_it_is_added(past: Past, root: str) -> None:
    more = policy(ALICE, BOB, ("eve", 7, "admin,writer"))
    head = past.commit([root], signer=7, policy=more)
    assert codes(past.judge(head, root)) == {
        "commit-key-unknown": "failure",
        "policy-signer": "failure",
    }
    added = past.commit([root], signer=1, policy=more)
    used = past.commit([added], signer=7)
    assert past.judge(used, root).findings == ()


@pytest.mark.parametrize(
    ("signer", "text", "code"),
    [
        (None, RETIRED, "policy-unsigned"),
        (2, RETIRED, "policy-signer"),
        (1, policy(ALICE), "policy-removed"),
        (1, policy((*ALICE, "retired"), BOB), "policy-no-admin"),
        (1, "nonsense\n", "policy-form"),
        (1, "", "policy-removed"),
    ],
)
def test_changes_of_the_policy(
    past: Past, root: str, signer: int | None, text: str, code: str
) -> None:
    head = past.commit([root], signer=signer, policy=text)
    found = past.judge(head, root)
    assert code in codes(found)
    assert found.findings[0].path == POLICY


def test_a_compromised_key_is_never_reinstated(past: Past, root: str) -> None:
    lost = past.commit([root], signer=1, policy=LOST)
    head = past.commit([lost], signer=1, policy=BASE)
    assert codes(past.judge(head, root)) == {"policy-reinstated": "failure"}


def test_a_broken_policy_allows_nobody(past: Past, root: str) -> None:
    broken = past.commit([root], signer=1, policy="nonsense\n")
    head = past.commit([broken], signer=1)
    assert "commit-key-unknown" in codes(past.judge(head, root))


def test_a_first_policy_counts_only_as_a_root(past: Past) -> None:
    root = past.commit(files={"facts/a.md": "a"})
    first = past.commit([root], policy=BASE)
    head = past.commit([first], signer=1)
    assert codes(past.judge(head, root)) == {"policy-first": "failure"}
    assert past.judge(head, first).findings == ()


def test_a_merge_needs_every_parents_policy(past: Past, root: str) -> None:
    more = policy(ALICE, BOB, ("carl", 8, "writer"))
    one = past.commit([root], signer=1, policy=more)
    other = past.commit([root], signer=2, files={"facts/b.md": "b"})
    by_carl = past.commit([one, other], signer=8, files={"facts/b.md": "b"})
    assert codes(past.judge(by_carl, root)) == {"commit-key-unknown": "failure"}
    by_bob = past.commit([one, other], signer=2, files={"facts/b.md": "b"})
    assert past.judge(by_bob, root).findings == ()


def test_a_merge_may_not_fall_back_to_an_older_policy(past: Past, root: str) -> None:
    newer = past.commit([root], signer=1, policy=policy(ALICE, (*BOB, "retired")))
    older = past.commit([root], signer=1, files={"facts/b.md": "b"})
    zed = past.commit([older, newer], signer=2, policy=BASE)
    assert "policy-signer" in codes(past.judge(zed, root))


def test_a_merge_of_two_changes_needs_an_admin(past: Past, root: str) -> None:
    carl, dan = ("carl", 8, "writer"), ("dan", 10, "writer")
    one = past.commit([root], signer=1, policy=policy(ALICE, BOB, carl))
    two = past.commit([root], signer=1, policy=policy(ALICE, BOB, dan))
    both = policy(ALICE, BOB, carl, dan)
    assert past.judge(past.commit([one, two], signer=1, policy=both), root).findings == ()
    assert codes(past.judge(past.commit([one, two], signer=2, policy=both), root)) == {
        "policy-signer": "failure"
    }


def test_an_old_branch_is_merged_by_a_writer(past: Past) -> None:
    old = past.commit(policy=policy(ALICE))
    side = past.commit([old], signer=1, files={"facts/b.md": "b"})
    root = past.commit([old], signer=1, policy=policy(ALICE, BOB))
    merged = past.commit([root, side], signer=1, files={"facts/b.md": "b"})
    assert past.judge(merged, root).findings == ()


# Entries


def test_an_entry_stands_where_it_was_first_committed(past: Past, root: str) -> None:
    before, _ = past.decided(root, signer=2, by=2)
    retired = past.commit([before], signer=1, policy=RETIRED)
    after, digest = past.decided(retired, "w2", signer=2, by=1)
    found = past.judge(after, root)
    assert codes(found) == {"entry-key-retired": "failure"}
    assert found.findings[0].subject == digest


def test_entries_with_bad_or_unknown_signatures(past: Past, root: str) -> None:
    head, _ = past.decided(root, signer=9, by=1)
    assert codes(past.judge(head, root)) == {"entry-key-unknown": "failure"}
    _, files = past.entry(root, signer=2)
    path, text = next(iter(files.items()))
    start = text.index('"sig":"') + 7
    other = "A" if text[start] != "A" else "B"
    damaged = text[:start] + other + text[start + 1 :]
    head = past.commit([root], signer=1, files={path: damaged})
    assert codes(past.judge(head, root)) == {"entry-signature": "failure"}


def test_some_actions_are_an_admins(past: Past, root: str) -> None:
    for action, more in (
        ("policy", {"path": POLICY, "source": "sha256:" + "1" * 64}),
        ("acknowledge", {"commit": root}),
        ("clear", {"fact": "a", "names": ("sha256:" + "2" * 64,)}),
    ):
        head, _ = past.decided(root, signer=2, by=2, action=action, **more)  # type: ignore[arg-type]
        assert codes(past.judge(head, root)) == {"entry-key-role": "failure"}
        head, _ = past.decided(root, signer=1, by=2, action=action, **more)  # type: ignore[arg-type]
        assert past.judge(head, root).findings == ()


def test_a_line_of_the_work_tree_is_judged_as_heads_child(past: Past, root: str) -> None:
    _, files = past.entry(root, signer=2)
    line = next(iter(files.values())).encode().rstrip(b"\n")
    assert past.judge(root, root, lines=[line]).findings == ()
    retired = past.commit([root], signer=1, policy=RETIRED)
    found = past.judge(retired, root, lines=[line])
    assert codes(found) == {"entry-key-retired": "failure"}


def test_what_both_parents_hold_is_not_new_in_a_merge(past: Past, root: str) -> None:
    one, _ = past.decided(root, "w1", signer=1, by=1)
    two, _ = past.decided(root, "w2", signer=2, by=2)
    merged = past.commit([one, two], signer=1, files=dict(past.files[two]))
    found = past.judge(merged, root)
    assert (found.entries, found.findings) == (2, ())


# What is accepted, and what cannot be told


def test_an_admin_accepts_what_history_cannot_lose(past: Past, root: str) -> None:
    unsigned = past.commit([root], files={"facts/a.md": "a"})
    bad = past.commit([unsigned], signer=9)
    by_bob, _ = past.decided(bad, signer=2, by=2, action="acknowledge", commit=bad)
    assert codes(past.judge(by_bob, root))["commit-key-unknown"] == "failure"
    head, _ = past.decided(bad, signer=1, by=1, action="acknowledge", commit=bad)
    head, _ = past.decided(head, signer=1, by=1, action="acknowledge", commit=unsigned)
    found = past.judge(head, root)
    assert codes(found) == {
        "commit-key-unknown-acknowledged": "warning",
        "unsigned-acknowledged": "warning",
    }
    assert found.unsigned == 0


def test_history_without_the_root(past: Past, root: str) -> None:
    other = past.commit(policy=BASE, files={"facts/z.md": "z"})
    assert codes(past.judge(other, root)) == {"root-not-ancestor": "failure"}


def _forget(past: Past, commit: str) -> None:
    (past.path / "objects" / commit[:2] / commit[2:]).unlink()


def test_a_missing_commit_accuses_nobody(past: Past, root: str) -> None:
    one = past.commit([root], signer=1)
    two = past.commit([one], signer=2)
    head = past.commit([two], signer=1)
    _forget(past, one)
    found = past.judge(head, root)
    assert set(codes(found).values()) == {"unknown"}


def test_a_missing_root_accuses_nobody(past: Past, root: str) -> None:
    head = past.commit([root], signer=1)
    _forget(past, root)
    assert set(codes(past.judge(head, root)).values()) == {"unknown"}


def test_a_shallow_boundary_accuses_nobody(past: Past, root: str) -> None:
    one = past.commit([root], signer=1)
    head = past.commit([one], signer=2)
    (past.path / "shallow").write_text(f"{head}\n")
    _forget(past, one)
    assert codes(past.judge(head, root)) == {"shallow": "unknown"}
