"""The worked example of docs/formats/policy.md, recomputed."""

from syn.keys import policy
from syn.keys.policy import Policy, PolicyKey, Role
from tests.support.examples import examples
from tests.support.proofs import private_key

ROLES: tuple[Role, ...] = ("admin", "writer", "publisher")
POLICY = Policy(
    (
        PolicyKey(
            "alice", ("admin", "writer", "publisher"), "retired", private_key(1).public, "2025"
        ),
        PolicyKey(
            "alice", ("admin", "writer", "publisher"), "active", private_key(2).public, "2026"
        ),
        PolicyKey("bob@example.org", ("writer",), "active", private_key(3).public),
    )
)


def test_policy() -> None:
    shown = examples("policy.md")
    assert policy.parse(shown["policy"].encode()) == POLICY
    assert shown["policy"].encode().endswith(policy.render(POLICY))
    assert shown["export"].encode() == policy.export(POLICY)
