"""Changing the policy: each change is a decision, signed by an admin (design 6)."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from syn.canon.digest import sha256
from syn.errors import RefusedError, UsageError
from syn.keys import policy as policies
from syn.keys.policy import BrokenPolicy, KeyState, Policy, PolicyKey, change_faults
from syn.keys.public import PublicKey
from syn.ledger.build import Draft
from syn.ledger.entry import HashedEntry
from syn.ledger.heads import workspace_heads
from syn.services.recall.indexing import Reading, read_workspace
from syn.services.recall.reading import POLICY
from syn.services.trust.policy import PATH, head_policy, own_key, policy_of, usable
from syn.services.workspace import Workspace
from syn.services.writing.decision import Decision, FileChange
from syn.services.writing.exclusive import exclusively
from syn.services.writing.recorder import actor, recorder
from syn.services.writing.transaction import record


class PolicyError(RefusedError):
    """A change of the policy that its own rules forbid; the codes are those of `PolicyFault`."""


class NotAdminError(RefusedError):
    """Nobody here may change the policy."""

    def __init__(self) -> None:
        super().__init__(
            "not-admin",
            "no key here is an active admin of the policy at HEAD",
            "an admin makes the change; syn policy show lists them",
        )


def write_first_policy(
    workspace: Workspace, name: str, key: PublicKey, comment: str
) -> tuple[HashedEntry, ...]:
    """Write the policy that names one key admin, writer and publisher; none when there is one."""
    item = PolicyKey(name, ("admin", "writer", "publisher"), "active", key, comment)
    data = policies.render(Policy((item,)))
    with exclusively(workspace):
        reading = read_workspace(workspace)
        if reading.inventory.policy or _ever(reading) or head_policy(workspace) is not None:
            return ()
        return _record(workspace, reading, data, f"policy: {name} may sign")


def _ever(reading: Reading) -> bool:
    return bool(workspace_heads(reading.ledger.ledger.entries(), "policy"))


@dataclass(frozen=True, slots=True)
class Change:
    """What a change of the policy did."""

    item: PolicyKey
    entries: tuple[HashedEntry, ...]
    """Empty when the policy said so already."""


def add_key(workspace: Workspace, item: PolicyKey, reason: str = "") -> Change:
    """Add a key, or give a known one other roles; it may act from the next commit on.

    Raises:
        PolicyError, NotAdminError: the policy's rules or its admins forbid it.
        PolicyKeyError: the name or the roles cannot be written.
    """

    def change(data: bytes, policy: Policy) -> bytes:
        known = policy.find(item.key)
        if known is None:
            return policies.add_key(data, item)
        if known.state != "active":
            raise PolicyError(
                "policy-state",
                f"the key of {known.name} is {known.state}",
                "add another key: a state is not taken back by adding",
            )
        return policies.replace_key(data, item)

    entries = _change(workspace, change, reason or f"policy: {item.name} is {_roles(item)}")
    return Change(item, entries)


def _roles(item: PolicyKey) -> str:
    return ", ".join(item.roles)


def set_state(workspace: Workspace, key: PublicKey, state: KeyState, reason: str = "") -> Change:
    """Retire a key, or say that it is compromised, which nothing takes back.

    Raises:
        PolicyError, NotAdminError: the policy's rules or its admins forbid it.
    """
    known = usable(head_policy(workspace))
    before = known.find(key) if known else None
    if before is None:
        raise UsageError("unknown-key", f"the policy at HEAD has no key {key.fingerprint}")
    item = replace(before, state=state)
    entries = _change(
        workspace,
        lambda data, _: policies.replace_key(data, item),
        reason or f"policy: the key of {item.name} is {state}",
    )
    return Change(item, entries)


def find_key(workspace: Workspace, text: str) -> PolicyKey:
    """The key that a name or a fingerprint means; of a name with several, the active one.

    Raises:
        UsageError: none, or several.
    """
    policy = usable(head_policy(workspace))
    keys = policy.keys if policy else ()
    found = [item for item in keys if text in (item.name, item.key.fingerprint)]
    active = [item for item in found if item.state == "active"]
    chosen = active if len(active) == 1 else found
    if len(chosen) != 1:
        what = "no key" if not found else f"{len(found)} keys"
        raise UsageError(
            "unknown-key",
            f"{what} of the policy at HEAD: {text!r:.80}",
            "syn policy show lists them; the fingerprint names exactly one",
        )
    return chosen[0]


def _change(
    workspace: Workspace, change: Callable[[bytes, Policy], bytes], message: str
) -> tuple[HashedEntry, ...]:
    signer = own_key(workspace, "admin")
    if signer is None:
        raise _no_admin(workspace)
    with exclusively(workspace):
        reading = read_workspace(workspace)
        policy = policy_of(reading)
        if policy is None or policy != head_policy(workspace):
            raise RefusedError(
                "policy-uncommitted",
                f"{PATH} in the work tree is not HEAD's",
                f"commit it, or take it back: git checkout HEAD -- {PATH}",
            )
        if isinstance(policy, BrokenPolicy):
            problem = policy.problems[0]
            raise PolicyError(problem.code, f"{PATH}:{problem.line}: {problem.message}")
        before = (workspace.root / PATH).read_bytes()
        after = change(before, policy)
        if after == before:
            return ()
        _check(policy, after, signer.key)
        return _record(workspace, reading, after, message)


def _no_admin(workspace: Workspace) -> RefusedError:
    if head_policy(workspace) is None:
        return RefusedError("no-policy", "HEAD has no policy", "syn key init writes the first one")
    return NotAdminError()


def _check(policy: Policy, after: bytes, signer: PublicKey) -> None:
    """Refuse here what every verifier would refuse later."""
    new = policies.parse(after)
    if isinstance(new, BrokenPolicy):
        raise PolicyError(new.problems[0].code, new.problems[0].message)
    for fault in change_faults(policy, new, signer):
        raise PolicyError(fault.code, fault.message)


def _record(
    workspace: Workspace, reading: Reading, data: bytes, message: str
) -> tuple[HashedEntry, ...]:
    heads = workspace_heads(reading.ledger.ledger.entries(), "policy")
    base = dict(reading.control).get(POLICY, "")
    draft = Draft(
        actor=actor(workspace),
        via="cli",
        action="policy",
        review="seen",
        path=PATH,
        source=sha256(data),
        after=tuple(digest for digest, _ in heads),
        prior=tuple("" for _ in heads),
        reason=message,
    )
    decision = Decision((draft,), (FileChange(PATH, data, base),), message=message)
    return record(workspace, reading, decision, recorder(workspace, "admin"))
