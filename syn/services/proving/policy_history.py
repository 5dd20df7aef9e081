"""Which policy every commit of a graph holds, and which of two came after the other."""

from collections.abc import Sequence
from dataclasses import dataclass

from syn.git.graph import Graph
from syn.git.objects import ObjectStore
from syn.keys.policy import Policy
from syn.keys.public import PublicKey
from syn.services.trust.policy import parse_policy
from syn.verify.authority import Held


@dataclass(frozen=True, slots=True)
class TreeState:
    """What of a commit's tree decides: its policy's number and its ledger's tree."""

    policy: int
    ledger: str
    """Tree id of `.synapse/ledger`, or ""."""


class PolicyHistory:
    """Read on demand; most commits share the tree of `.synapse` with another one."""

    def __init__(self, store: ObjectStore, graph: Graph, root: int) -> None:
        """`root` is the trusted commit's node."""
        self._store = store
        self._graph = graph
        self._policies: list[Held] = []
        self._versions: dict[str, int] = {}
        """Blob id to number of the policy; "" where there is no file."""
        self._shared: dict[str, TreeState] = {}
        self._states: dict[bytes, TreeState] = {}
        """By the commit's tree."""
        self._seen: dict[int, int] = {}
        """By commit, the policies that its history since the root held, one bit each."""
        self._ancient = 0
        """Policies of commits before the root."""
        if graph.trees[root]:
            self._seen[root] = 1 | self._bit(self.state(root).policy)

    def held(self, node: int) -> Held:
        """The policy of a commit."""
        return self._policies[self.state(node).policy]

    def take(self, node: int) -> None:
        """Note what a commit's history holds; its parents were taken before it."""
        seen = self._bit(self.state(node).policy)
        for parent in self._graph.parents[node]:
            seen |= self._seen.get(parent, 0) or self._old(parent)
        self._seen[node] = seen

    def _old(self, parent: int) -> int:
        """A parent that is before the root: its policy is one of the root's own past."""
        bit = self._bit(self.state(parent).policy)
        self._ancient |= bit
        return bit

    @staticmethod
    def _bit(version: int) -> int:
        # Bit 0 says that the trust root is in a commit's history.
        return 2 << version

    def state(self, node: int) -> TreeState:
        """What of a commit's tree decides."""
        tree = self._graph.trees[node]
        state = self._states.get(tree)
        if state is None:
            own = self._store.find(tree.hex(), b".synapse")
            key = own.oid if own is not None and own.kind == "tree" else ""
            state = self._states[tree] = self._shared.get(key) or self._read_state(key)
        return state

    def at(self, version: int) -> Held:
        """The policy with this number."""
        return self._policies[version]

    def _read_state(self, own: str) -> TreeState:
        policy = self._store.find(own, b"policy") if own else None
        ledger = self._store.find(own, b"ledger") if own else None
        blob = policy.oid if policy is not None and policy.kind == "file" else ""
        number = self._versions.get(blob)
        if number is None:
            number = self._versions[blob] = len(self._policies)
            self._policies.append(parse_policy(self._store.blob(blob)) if blob else None)
        state = TreeState(number, ledger.oid if ledger and ledger.kind == "tree" else "")
        self._shared[own] = state
        return state

    def supersedes(self, one: int, other: int) -> bool:
        """Whether the policy at `one` came after that at `other`, in the history of `one`."""
        mine, theirs = self._seen.get(one, 0), self._seen.get(other, 0)
        mine |= self._ancient if mine & 1 else 0
        newer, older = self.state(one).policy, self.state(other).policy
        return bool(mine & self._bit(older)) and not theirs & self._bit(newer)

    def covered(self, key: PublicKey, covered: Sequence[str]) -> set[int]:
        """What witnesses cover whose own policy did not call the key compromised yet."""
        starts = []
        for commit in covered:
            node = self._graph.index.get(bytes.fromhex(commit))
            if node is None or not self._graph.trees[node]:
                continue
            held = self.held(node)
            item = held.find(key) if isinstance(held, Policy) else None
            if item is not None and item.state != "compromised":
                starts.append(node)
        return self._graph.reach(starts)
