"""Who may have signed what, decided by position in history alone (design 6, ADR 0024). Pure.

Policies are values, commits are numbers of a graph; no date appears. A policy stands for what a
commit's tree holds: None where there is no file, `BrokenPolicy` where it cannot be read; both allow
nobody anything.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from syn.keys.policy import (
    BrokenPolicy,
    Policy,
    PolicyFault,
    Role,
    Standing,
    allowed,
    change_faults,
    standing,
)
from syn.keys.public import PublicKey

Held: TypeAlias = Policy | BrokenPolicy | None
"""What a commit's tree holds as policy."""

_GRAVITY: tuple[Standing, ...] = ("compromised", "unknown", "retired", "role", "allowed")


@dataclass(frozen=True, slots=True)
class Use:
    """A signature that was allowed where it stands, by a key whose state changed since."""

    node: int
    """The commit, or the commit that first holds the entry."""
    key: PublicKey
    subject: str
    """Commit id or entry hash."""


def role_of(parents: Sequence[Held], key: PublicKey, roles: Iterable[Role]) -> Role | None:
    """The first of these roles in which every parent's policy lets the key act, or None.

    Without any parent nothing was allowed before, so nobody may act.
    """
    if not parents:
        return None
    for role in roles:
        if all(isinstance(held, Policy) and allowed(held, key, role) for held in parents):
            return role
    return None


def why_not(parents: Sequence[Held], key: PublicKey, role: Role) -> Standing:
    """The gravest reason why the key may not act under these policies."""
    found = {
        standing(held, key, role) if isinstance(held, Policy) else "unknown" for held in parents
    }
    return next((item for item in _GRAVITY if item in found), "unknown")


def policy_faults(
    parents: Sequence[Held],
    new: Held,
    signer: PublicKey | None,
    supersedes: Callable[[int, int], bool],
) -> tuple[PolicyFault, ...]:
    """The rules that a commit's policy breaks beside those of its parents.

    Args:
        parents: what each parent holds.
        new: what the commit holds.
        signer: the key whose signature over the commit holds, or None.
        supersedes: whether what parent `a` holds came after what parent `b` holds, in `a`'s own
            history: then a merge that takes `a`'s only follows a change that was judged there.
    """
    if all(held == new for held in parents):
        return ()
    if new is None:
        return (PolicyFault("policy-removed", "the policy was taken away"),)
    if isinstance(new, BrokenPolicy):
        return (PolicyFault(new.problems[0].code, new.problems[0].message),)
    taken = [n for n, held in enumerate(parents) if held == new]
    faults: dict[PolicyFault, None] = {}
    for number, held in enumerate(parents):
        if held == new or any(supersedes(n, number) for n in taken):
            continue
        if isinstance(held, BrokenPolicy):
            fault = PolicyFault("policy-signer", "the policy before cannot be read")
            faults[fault] = None
        else:
            faults.update(dict.fromkeys(change_faults(held, new, signer)))
    return tuple(faults)


def stopped(parents: Sequence[Held], new: Held) -> tuple[PublicKey, ...]:
    """The keys that this commit, and no parent of it, calls retired or compromised."""
    if not isinstance(new, Policy):
        return ()
    before = [held for held in parents if isinstance(held, Policy)]
    return tuple(
        item.key
        for item in new.keys
        if item.state != "active" and not any(_inactive(held, item.key) for held in before)
    )


def _inactive(policy: Policy, key: PublicKey) -> bool:
    found = policy.find(key)
    return found is not None and found.state != "active"


def late_uses(
    uses: Iterable[Use],
    final: Held,
    stops: Mapping[PublicKey, Sequence[int]],
    reach: Callable[[int], set[int]],
    covers: Callable[[PublicKey], set[int]],
) -> tuple[tuple[Use, Standing], ...]:
    """The uses that do not count, though the policies beside them allowed them.

    A key that the final policy calls `retired` counts for what came before every commit that
    retired it; a side branch forked before and merged later did not. One that is `compromised`
    counts only for what an earlier witness covers.

    Args:
        uses: signatures that were allowed where they stand.
        final: the policy of the commit that is verified.
        stops: by key, the commits that retired it or called it compromised, since the trust root.
        reach: a commit and everything before it.
        covers: what witnesses cover that were made before the key was called compromised.
    """
    late: list[tuple[Use, Standing]] = []
    before: dict[PublicKey, set[int] | None] = {}
    for use in uses:
        item = final.find(use.key) if isinstance(final, Policy) else None
        if item is None:
            late.append((use, "unknown"))
        elif item.state == "compromised":
            if use.node not in covers(use.key):
                late.append((use, "compromised"))
        elif item.state == "retired":
            if use.key not in before:
                before[use.key] = _before_all(stops.get(use.key, ()), reach)
            known = before[use.key]
            if known is None or use.node not in known:
                late.append((use, "retired"))
    return tuple(late)


def _before_all(stops: Sequence[int], reach: Callable[[int], set[int]]) -> set[int] | None:
    """What came before every one of these commits; None when there is none to come before."""
    found: set[int] | None = None
    for stop in stops:
        found = reach(stop) if found is None else found & reach(stop)
    return found
