"""INV-9 against a model that knows every ancestor of everything: random shapes, random retirements.

The model spells the rules of ADR 0024 out with whole sets; the program walks once.
"""

import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.signed import Past, policy

ADMIN = ("ada", 1, "admin,writer")
STATES = ("active", "retired", "compromised")


def _policy(state: str) -> str:
    bob = ("bob", 2, "writer")
    return policy(ADMIN, bob if state == "active" else (*bob, state))  # type: ignore[arg-type]


@dataclass
class World:
    """A history as it is written, beside what the model knows of it."""

    past: Past
    root: str = ""
    state: dict[str, str] = field(default_factory=dict)
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    signer: dict[str, int | None] = field(default_factory=dict)

    def add(self, parents: tuple[str, ...], state: str, signer: int | None) -> str:
        """Write one commit."""
        text = _policy(state)
        commit = self.past.commit(parents, policy=text, signer=signer)
        self.state[commit], self.parents[commit] = state, parents
        self.signer[commit] = signer
        return commit

    def ancestors(self, commit: str) -> set[str]:
        """Itself and everything before it."""
        found, pending = {commit}, [commit]
        while pending:
            for parent in self.parents[pending.pop()]:
                if parent not in found:
                    found.add(parent)
                    pending.append(parent)
        return found

    def late(self, commit: str, head: str) -> bool:
        """Whether bob's signature there is late under the head's policy."""
        if self.state[head] == "compromised":
            return True
        if self.state[head] != "retired":
            return False
        stops = [
            c
            for c in self.ancestors(head) - self.ancestors(self.root)
            if self.state[c] != "active"
            and not any(self.state[p] != "active" for p in self.parents[c])
        ]
        return not stops or any(commit not in self.ancestors(stop) for stop in stops)

    def expected(self, head: str) -> dict[str, set[str]]:
        """Code to commits, by the rules alone."""
        found: dict[str, set[str]] = {"key": set(), "policy": set()}
        for commit in self.ancestors(head) - self.ancestors(self.root):
            before = [self.state[parent] for parent in self.parents[commit]]
            if self.signer[commit] == 2:
                allowed = all(state == "active" for state in before)
                if not allowed or self.late(commit, head):
                    found["key"].add(commit)
            if self.breaks_policy(commit):
                found["policy"].add(commit)
        return found

    def breaks_policy(self, commit: str) -> bool:
        """Whether the change of the policy there keeps its rules."""
        new, parents = self.state[commit], self.parents[commit]
        held = {parent: {self.state[c] for c in self.ancestors(parent)} for parent in parents}
        for parent in parents:
            old = self.state[parent]
            if old == new:
                continue
            followed = any(
                self.state[other] == new and old in held[other] and new not in held[parent]
                for other in parents
            )
            if followed:
                continue
            if self.signer[commit] != 1 or (old == "compromised" and new != "compromised"):
                return True
        return False


@st.composite
def steps(draw: st.DrawFn) -> list[tuple[int, int, str, int | None]]:
    """(first parent, second parent or itself, state or "keep", signer)."""
    count = draw(st.integers(2, 9))
    return [
        (
            draw(st.integers(0, number)),
            draw(st.integers(0, number)),
            draw(st.sampled_from(("keep", "keep", "other", *STATES))),
            draw(st.sampled_from((1, 1, 2, 2, None))),
        )
        for number in range(count)
    ]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps())
def test_the_walk_agrees_with_the_model(plan: list[tuple[int, int, str, int | None]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Past(Path(folder)))
        world.root = world.add((), "active", None)
        commits = [world.root]
        for first, second, state, signer in plan:
            one, two = commits[first], commits[second]
            parents = (one,) if one == two else (one, two)
            kept = {"keep": world.state[one], "other": world.state[two]}
            commits.append(world.add(parents, kept.get(state, state), signer))
        head = commits[-1]
        found = world.past.judge(head, world.root)
        expected = world.expected(head)
        key = {f.subject for f in found.findings if f.code.startswith("commit-key")}
        changed = {f.subject for f in found.findings if f.code.startswith("policy")}
        assert key == expected["key"]
        assert changed == expected["policy"]
        walked = world.ancestors(head) - world.ancestors(world.root)
        assert found.commits == len(walked)
        assert found.unsigned == sum(world.signer[c] is None for c in walked)
