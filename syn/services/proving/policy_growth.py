"""Changes of the policy along one edge of history: signed by an admin of the policy before (INV-3).

No trust root is needed for that: whoever may write, but holds no admin's key, cannot let a key in
without a finding. What the first policy is worth, and what merges fall back to, is INV-9's.
"""

from collections.abc import Iterator

from syn.canon import base64
from syn.canon.digest import sha256
from syn.git.objects import ObjectStore
from syn.git.parse import Commit
from syn.keys.policy import BrokenPolicy, Policy, change_faults
from syn.keys.public import PublicKey
from syn.ledger.entry import signing_payload
from syn.ledger.heads import workspace_heads
from syn.model.finding import Finding
from syn.services.proving.commit_signature import signature_of
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import POLICY
from syn.services.trust.policy import PATH, parse_policy


def committed_change(
    store: ObjectStore, child: Commit, parent: str, old: bytes, new: bytes
) -> Iterator[Finding]:
    """What is wrong with a commit's policy beside a parent's; a merge may take any parent's."""
    others = [oid for oid in child.parents if oid != parent]
    for other in others:
        item = store.find(store.commit(other).tree, POLICY)
        if item is not None and store.blob(item.oid) == new:
            return
    signer = signature_of(child).key
    yield from _faults(old, new, signer, f"commit {child.oid[:12]}")


def uncommitted_change(reading: Reading, old: bytes, new: bytes) -> Iterator[Finding]:
    """What is wrong with the work tree's policy beside HEAD's: a decision has to record it."""
    yield from _faults(old, new, _recorder(reading, old, sha256(new)), "the work tree")


def _recorder(reading: Reading, old: bytes, source: str) -> PublicKey | None:
    """The key of HEAD's policy that signed a decision which records these bytes."""
    policy = parse_policy(old)
    known = policy.keys if isinstance(policy, Policy) else ()
    keys = {item.key.fingerprint: item.key for item in known}
    for digest, entry in workspace_heads(reading.ledger_files.policies, "policy"):
        key = keys.get(entry.key)
        signature = base64.decode(entry.sig) if entry.sig else None
        if (
            key is not None
            and signature is not None
            and entry.source == source
            and key.verify(signing_payload(digest), signature)
        ):
            return key
    return None


def _faults(old: bytes, new: bytes, signer: PublicKey | None, where: str) -> Iterator[Finding]:
    before, after = parse_policy(old), parse_policy(new)
    if isinstance(after, BrokenPolicy):
        for problem in after.problems:
            yield _finding(problem.code, f"{problem.message} in {where}", problem.line)
        return
    if after is None or before is None or isinstance(before, BrokenPolicy):
        if signer is None:
            yield _finding("policy-unsigned", f"a repair that nobody signed in {where}")
        return
    for fault in change_faults(before, after, signer):
        yield _finding(fault.code, f"{fault.message} in {where}")


def _finding(code: str, actual: str, line: int = 0) -> Finding:
    return Finding(
        code=code,
        subject="policy",
        path=PATH,
        line=line,
        expected="a change that an admin of the policy before signed, within its rules",
        actual=actual,
        remedy=f"take it back: git checkout HEAD -- {PATH}; an admin makes it with syn policy",
    )
