"""Where a fact stands: its record, from the ledger's own entries, and what of it does not hold.

Nothing is taken from the index here. Under a policy the signatures of the entries that decide are
checked as well: those of the decision heads, and those of the clears, which only an admin gives.
A clear that does not count lifts nothing, so that doubt always ends on the stricter side.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from syn.canon import base64
from syn.keys.policy import BrokenPolicy, Policy, PolicyKey
from syn.ledger.entry import HashedEntry, signing_payload
from syn.ledger.heads import recorded, workspace_heads
from syn.model.finding import Finding
from syn.model.ledger import Entry
from syn.model.recorded import Recorded
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import POLICY
from syn.services.trust.policy import policy_of


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why a fact's record does not count as it is written."""

    code: str
    """`ledger-broken`, `policy-gone`, `policy-broken`, `policy-unrecorded`, `signature-bad`,
    `signature-stranger`, `key-compromised`, `clear-unauthorized`."""
    reason: str
    entry: str = ""
    """Hash of the entry it is about, or ""."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What the ledger says of one fact, and what of that does not hold."""

    known: Recorded | None
    """With the quarantines and taints that hold when the clears that do not count are left out."""
    doubts: tuple[Doubt, ...] = ()


def ledger_faults(reading: Reading) -> tuple[Finding, ...]:
    """Why the ledger as a whole proves nothing: a line that is gone may have been a quarantine.

    Broken chains, segments that cannot be read, and lines that HEAD has and the work tree has not.
    """
    shrunk = reading.ledger_files.shrunk
    found = (finding for finding in shrunk if finding.severity != "warning")
    return (*reading.ledger_files.faults, *found)


def standing_of(reading: Reading, fact: str) -> Standing:
    """Where one fact stands in a snapshot."""
    known = reading.ledger_files.recorded(fact)
    doubts = [_broken(found) for found in ledger_faults(reading)[:1]]
    policy = policy_of(reading)
    doubts += policy_doubts(reading)
    if not isinstance(policy, Policy) or known is None:
        return Standing(known, tuple(doubts))
    entries = reading.ledger_files.about(fact)
    clears = [pair for pair in entries if pair[1].action == "clear"]
    judged = [(digest, _clear_doubt(reading, policy, digest, entry)) for digest, entry in clears]
    void = {digest: doubt for digest, doubt in judged if doubt}
    doubts += void.values()
    if void:
        known = recorded(pair for pair in entries if pair[0] not in void).get(fact, known)
    by_hash = dict(entries)
    heads = ((head, by_hash[head]) for head in known.heads if head in by_hash)
    doubts += _head_doubts(policy, heads)
    return Standing(known, tuple(doubts))


def policy_doubts(reading: Reading) -> Iterator[Doubt]:
    """A policy that is gone, cannot be read, or is not the recorded one lets nobody clear."""
    policy = policy_of(reading)
    policies = reading.ledger_files.policies
    if policy is None and policies:
        yield Doubt("policy-gone", "the policy that the ledger records is not there")
    elif isinstance(policy, BrokenPolicy):
        yield Doubt("policy-broken", "the policy cannot be read")
    elif policy is not None and policies:
        heads = {entry.source for _, entry in workspace_heads(policies, "policy")}
        if dict(reading.control).get(POLICY) not in heads:
            yield Doubt("policy-unrecorded", "the policy is not the recorded one")


def _broken(finding: Finding) -> Doubt:
    where = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return Doubt("ledger-broken", f"the ledger does not hold ({finding.code} at {where})")


def _head_doubts(policy: Policy, heads: Iterable[HashedEntry]) -> Iterator[Doubt]:
    for digest, entry in heads:
        if not entry.key:
            continue
        item = key_of(policy, entry.key)
        if item is None:
            yield Doubt("signature-stranger", "its decision is signed by a stranger's key", digest)
        elif not signature_holds(item, digest, entry):
            yield Doubt("signature-bad", "the signature of its decision does not hold", digest)
        elif item.state == "compromised":
            reason = "its decision is signed by a key that is compromised"
            yield Doubt("key-compromised", reason, digest)


def key_of(policy: Policy, fingerprint: str) -> PolicyKey | None:
    """The line of the key with this fingerprint, in whatever state it is."""
    return next((item for item in policy.keys if item.key.fingerprint == fingerprint), None)


def signature_holds(item: PolicyKey, digest: str, entry: Entry) -> bool:
    """Whether the entry with this hash carries this key's signature."""
    signature = base64.decode(entry.sig)
    return signature is not None and item.key.verify(signing_payload(digest), signature)


def _clear_doubt(reading: Reading, policy: Policy, digest: str, entry: Entry) -> Doubt | None:
    """Why a clear does not count: under a policy only an admin gives one (design 12)."""
    item = key_of(policy, entry.key) if entry.key else None
    if item is not None and item.state != "compromised" and "admin" in item.roles:
        if signature_holds(item, digest, entry):
            return None
        return Doubt("signature-bad", "the signature of a clear does not hold", digest)
    if not entry.key and _before_policy(reading, entry):
        return None
    return Doubt("clear-unauthorized", "a clear of it is not an admin's", digest)


def _before_policy(reading: Reading, entry: Entry) -> bool:
    """Whether the writer of this entry wrote the policy later: then nobody could sign it yet.

    Between the chains of two writers there is no order to tell it by (design 5).
    """
    own = [e.seq for _, e in reading.ledger_files.policies if e.writer == entry.writer]
    return entry.seq < min(own, default=0)
