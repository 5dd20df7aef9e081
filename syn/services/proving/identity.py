"""Evidence for INV-9: who signed every commit and entry since a trust root (design 6, ADR 0024).

One walk finds the commits, a second one, parents first, reads each once: its signature, its policy,
and the ledger lines that no parent holds. What a signature is worth is judged in
`syn.verify.authority`; here bytes are turned into its terms.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from syn.canon import base64
from syn.errors import CannotError, RefusedError
from syn.git.graph import Graph, explore
from syn.git.history import changed_paths
from syn.git.objects import ObjectStore
from syn.git.parse import Commit
from syn.git.repository import Repository
from syn.keys.policy import Policy, Role
from syn.keys.public import PublicKey
from syn.ledger.entry import Defect, decode, signing_payload
from syn.model.finding import Finding, Severity
from syn.model.ledger import Entry
from syn.services.proving.commit_signature import signature_of
from syn.services.proving.entry_lines import LineReader
from syn.services.proving.policy_history import PolicyHistory
from syn.services.recall.reading import HEADS, LEDGER, POLICY, RECEIPTS
from syn.verify.authority import (
    Held,
    Use,
    late_uses,
    policy_faults,
    role_of,
    stopped,
    why_not,
)
from syn.verify.evidence import IdentityEvidence

_ADMIN_ACTIONS = frozenset({"policy", "acknowledge", "clear"})
_RESTORE = "find out who made it; an admin's acknowledge decision accepts it for the record"
_STANDING = {
    "unknown": "a key that no policy of its parents knows",
    "role": "a key without that role",
    "retired": "a retired key",
    "compromised": "a compromised key",
}


@dataclass(slots=True)
class _Tally:
    commits: int = 0
    signed: int = 0
    unsigned: list[str] = field(default_factory=list)
    """Commit ids and entry hashes."""
    foreign: list[str] = field(default_factory=list)
    forge: list[str] = field(default_factory=list)
    entries: set[str] = field(default_factory=set)


def identity_evidence(
    repository: Repository,
    head: str,
    root: str,
    uncommitted: Sequence[bytes],
    covered: Sequence[str],
) -> IdentityEvidence:
    """Judge every commit from `root` (which is trusted) to `head`, and every entry that is new.

    Args:
        repository: where both are.
        head: the verified commit.
        root: a full commit id from outside the repository.
        uncommitted: ledger lines of the work tree that `head` does not hold.
        covered: commits of witnesses, for what a compromised key signed before.
    """
    base = IdentityEvidence(root, 0, 0, 0, 0, 0, ())
    try:
        signatures = _Signatures()
        graph, nodes = explore(
            repository.store, head, root, repository.shallow_commits(), signatures.read
        )
        findings = [*_unread(graph)]
        number = graph.index.get(bytes.fromhex(root))
        if number is None:
            return replace(base, findings=(*findings, *_rootless(graph, head, root)))
        walk = _Walk(repository.store, graph, number, signatures)
        walk.run(nodes)
        walk.lines(uncommitted)
        findings += walk.conclude(head, covered)
    except (CannotError, RefusedError) as error:
        return replace(base, findings=(_error_finding(head, error),))
    tally = walk.tally
    return replace(
        base,
        commits=tally.commits,
        entries=len(tally.entries),
        signed=tally.signed,
        unsigned=len(tally.unsigned),
        foreign=len(tally.foreign),
        forge=len(tally.forge),
        first_unsigned=tuple(sorted(tally.unsigned)[:10]),
        findings=tuple(findings),
    )


def _unread(graph: Graph) -> Iterator[Finding]:
    for error in graph.missing:
        yield _error_finding(error.oid, error)


def _error_finding(subject: str, error: CannotError | RefusedError) -> Finding:
    severity: Severity = "unknown" if isinstance(error, CannotError) else "failure"
    return Finding(
        code=error.code,
        subject=subject,
        expected="a history that can be read",
        actual=error.message,
        remedy=error.remedy,
        severity=severity,
    )


def _rootless(graph: Graph, head: str, root: str) -> Iterator[Finding]:
    if not graph.missing:
        yield Finding(
            code="root-not-ancestor",
            subject=root,
            expected="a history that holds the trust root",
            actual=f"{head} does not descend from it",
            remedy="do not trust this history, unless the root is of another workspace",
        )


class _Signatures:
    """What was read of each commit's signature: a number, and a reason where there is one."""

    UNSIGNED, FOREIGN, BAD = -1, -2, -3

    def __init__(self) -> None:
        self.keys: list[PublicKey] = []
        self.reasons: dict[int, str] = {}
        self._numbers: dict[PublicKey, int] = {}
        self._found: dict[int, int] = {}
        """By node: the key's number, or one of the above."""

    def read(self, node: int, commit: Commit) -> None:
        """Read and verify one commit's signature."""
        found = signature_of(commit)
        if found.key is not None:
            number = self._numbers.setdefault(found.key, len(self.keys))
            if number == len(self.keys):
                self.keys.append(found.key)
            self._found[node] = number
        elif found.kind == "unsigned":
            self._found[node] = self.UNSIGNED
        else:
            self._found[node] = self.FOREIGN if found.kind == "foreign" else self.BAD
            self.reasons[node] = found.reason

    def of(self, node: int) -> int:
        """What was found of a commit that was read."""
        return self._found[node]


class _Walk:
    """One pass over the new commits, parents first."""

    def __init__(
        self, store: ObjectStore, graph: Graph, root: int, signatures: _Signatures
    ) -> None:
        self.tally = _Tally()
        self._store = store
        self._graph = graph
        self._signatures = signatures
        self._lines = LineReader(store)
        self._history = PolicyHistory(store, graph, root)
        self._final = self._history.held(0)
        self._active = frozenset(
            item.key
            for item in (self._final.keys if isinstance(self._final, Policy) else ())
            if item.state == "active"
        )
        self._roles: dict[tuple[tuple[int, ...], PublicKey, tuple[Role, ...]], Role | None] = {}
        self._stops: dict[PublicKey, list[int]] = {}
        self._uses: list[Use] = []
        """By keys that are not active any more: the only ones that can be late."""
        self._findings: list[tuple[int, Finding]] = []
        self._acknowledged: dict[str, list[Use]] = {}

    def run(self, nodes: set[int]) -> None:
        """Look at every new commit; one of whose parents is not here is not judged."""
        for node in self._graph.parents_first(nodes):
            self.tally.commits += 1
            if all(self._graph.trees[parent] for parent in self._graph.parents[node]):
                self._commit(node)

    def _commit(self, node: int) -> None:
        history = self._history
        history.take(node)
        state = history.state(node)
        before = [history.state(parent) for parent in self._graph.parents[node]]
        versions = tuple([item.policy for item in before])
        signer = self._signature(node, versions)
        if not before or any(version != state.policy for version in versions):
            self._policy(node, signer, versions)
        for line in self._lines.added(state.ledger, [item.ledger for item in before]):
            self._line(node, line, versions)

    def _role(self, versions: tuple[int, ...], key: PublicKey, *roles: Role) -> Role | None:
        asked = (versions, key, roles)
        if asked not in self._roles:
            self._roles[asked] = role_of(self._held(versions), key, roles)
        return self._roles[asked]

    def _held(self, versions: tuple[int, ...]) -> list[Held]:
        return [self._history.at(version) for version in versions]

    # Signatures of commits

    def _signature(self, node: int, versions: tuple[int, ...]) -> PublicKey | None:
        """Count or judge a commit's signature; the key whose signature holds."""
        found = self._signatures.of(node)
        if found >= 0:
            key = self._signatures.keys[found]
            self._commit_key(node, key, versions)
            return key
        commit = self._graph.ids[node].hex()
        if found == self._signatures.UNSIGNED:
            self.tally.unsigned.append(commit)
        elif found == self._signatures.FOREIGN:
            self.tally.foreign.append(commit)
        else:
            self._find(
                node,
                code="commit-signature",
                subject=commit,
                expected="a signature that holds, in the one header for it",
                actual=self._signatures.reasons[node],
                remedy=_RESTORE,
            )
        return None

    def _commit_key(self, node: int, key: PublicKey, versions: tuple[int, ...]) -> None:
        self.tally.signed += 1
        role = self._role(versions, key, "writer") or self._narrow_role(node, key, versions)
        if role == "writer" and key in self._active:
            return
        commit = self._graph.ids[node].hex()
        if role is None:
            why = why_not(self._held(versions), key, "writer")
            self._unallowed(node, "commit", commit, key, why)
            return
        if role == "forge":
            self.tally.forge.append(commit)
        if key not in self._active:
            self._uses.append(Use(node, key, commit))

    def _narrow_role(self, node: int, key: PublicKey, versions: tuple[int, ...]) -> Role | None:
        """A role that may sign only commits of its own files; a forge may sign any."""
        role = self._role(versions, key, "admin", "publisher")
        own = (POLICY, LEDGER) if role == "admin" else (HEADS, RECEIPTS, LEDGER)
        if role and len(versions) == 1 and self._touches_only(node, own):
            return role
        return self._role(versions, key, "forge")

    def _touches_only(self, node: int, own: tuple[bytes, ...]) -> bool:
        trees = self._graph.trees
        (parent,) = self._graph.parents[node]
        changed = changed_paths(self._store, trees[parent].hex(), trees[node].hex())
        return all(change.path.startswith(own) for change in changed)

    def _unallowed(self, node: int, what: str, subject: str, key: PublicKey, why: str) -> None:
        self._find(
            node,
            code=f"{what}-key-{why}",
            subject=subject,
            expected="a key that the policy of every parent lets sign this",
            actual=f"{key.fingerprint}, {_STANDING.get(why, why)}",
            remedy=_RESTORE,
        )

    # Changes of the policy

    def _policy(self, node: int, signer: PublicKey | None, versions: tuple[int, ...]) -> None:
        new, parents = self._history.held(node), self._graph.parents[node]
        held = self._held(versions)

        def supersedes(one: int, other: int) -> bool:
            return self._history.supersedes(parents[one], parents[other])

        for fault in policy_faults(held, new, signer, supersedes):
            self._find(
                node,
                code=fault.code,
                subject=self._graph.ids[node].hex(),
                path=POLICY.decode(),
                expected="a change of the policy that its rules allow",
                actual=fault.message,
                remedy=_RESTORE,
            )
        for key in stopped(held, new):
            self._stops.setdefault(key, []).append(node)

    # Entries

    def lines(self, uncommitted: Sequence[bytes]) -> None:
        """Judge lines of the work tree as if a child of the verified commit held them."""
        if uncommitted:
            versions = (self._history.state(0).policy,)
            for line in uncommitted:
                self._line(0, line, versions)

    def _line(self, node: int, line: bytes, versions: tuple[int, ...]) -> None:
        decoded = decode(line)
        if isinstance(decoded, Defect):
            return
        digest, entry = decoded
        first = digest not in self.tally.entries
        self.tally.entries.add(digest)
        if not entry.sig:
            if first and not entry.key:
                self.tally.unsigned.append(digest)
            return
        key = _named(entry.key, self._held(versions))
        if key is None:
            self._find_entry(node, digest, entry, "entry-key-unknown", f"the key {entry.key}")
        elif not key.verify(signing_payload(digest), base64.decode(entry.sig) or b""):
            self._find_entry(node, digest, entry, "entry-signature", "a signature that does not")
        else:
            self._entry_key(node, digest, entry, key, versions)

    def _entry_key(
        self, node: int, digest: str, entry: Entry, key: PublicKey, versions: tuple[int, ...]
    ) -> None:
        self.tally.signed += 1
        roles = _roles(entry)
        if self._role(versions, key, *roles) is None:
            why = why_not(self._held(versions), key, roles[0])
            self._unallowed(node, "entry", digest, key, why)
            return
        use = Use(node, key, digest)
        if key not in self._active:
            self._uses.append(use)
        if entry.action == "acknowledge":
            for named in (entry.commit, *entry.names):
                self._acknowledged.setdefault(named, []).append(use)

    def _find_entry(self, node: int, digest: str, entry: Entry, code: str, actual: str) -> None:
        self._find(
            node,
            code=code,
            subject=digest,
            path=f"{LEDGER.decode()}{entry.writer}",
            expected="a signature that holds, by a key of its parents' policy",
            actual=f"{actual} (seq {entry.seq})",
            remedy=_RESTORE,
        )

    def _find(self, node: int, **members: str) -> None:
        self._findings.append((node, Finding(**members)))  # type: ignore[arg-type]

    # What only the end of the walk decides

    def conclude(self, head: str, covered: Sequence[str]) -> Iterator[Finding]:
        """Every finding; those that an admin acknowledged are warnings, for ever."""
        late = late_uses(
            self._uses,
            self._final,
            self._stops,
            lambda node: self._graph.reach((node,)),
            lambda key: self._history.covered(key, covered),
        )
        stale = {use.subject for use, _ in late}
        for use, why in late:
            what = "entry" if use.subject.startswith("sha256:") else "commit"
            self._unallowed(use.node, what, use.subject, use.key, f"{why}")
        accepted = {
            named
            for named, uses in self._acknowledged.items()
            if named and any(use.subject not in stale for use in uses)
        }
        for node, finding in self._findings:
            commit = self._graph.ids[node].hex()
            if finding.subject in accepted or commit in accepted:
                yield replace(finding, code=f"{finding.code}-acknowledged", severity="warning")
            else:
                yield finding
        yield from self._accept_unsigned(accepted)

    def _accept_unsigned(self, accepted: set[str]) -> Iterator[Finding]:
        """An unsigned commit or entry that an admin acknowledged is listed, and caps nothing."""
        for listed, code in ((self.tally.unsigned, "unsigned"), (self.tally.foreign, "foreign")):
            for subject in [item for item in listed if item in accepted]:
                listed.remove(subject)
                yield Finding(
                    code=f"{code}-acknowledged",
                    subject=subject,
                    expected="a signature under the policy",
                    actual="none that is verified; an admin accepted it",
                    remedy="nothing is to be done: it stays listed",
                    severity="warning",
                )


def _named(fingerprint: str, held: Sequence[Held]) -> PublicKey | None:
    """The key with this fingerprint in one of these policies."""
    found = (
        item.key
        for policy in held
        if isinstance(policy, Policy)
        for item in policy.keys
        if item.key.fingerprint == fingerprint
    )
    return next(found, None)


def _roles(entry: Entry) -> tuple[Role, ...]:
    """The roles that may sign an entry of this action."""
    if entry.action in _ADMIN_ACTIONS:
        return ("admin",)
    return ("writer", "publisher") if entry.action == "receipt" else ("writer",)
