"""Commits whose faults are accepted for the record, by `acknowledge` decisions (design 6)."""

from syn.canon import base64
from syn.keys.policy import BrokenPolicy, Policy
from syn.ledger.entry import signing_payload
from syn.services.recall.indexing import Reading
from syn.services.trust.policy import usable


def accepted_commits(reading: Reading, policy: Policy | BrokenPolicy | None) -> frozenset[str]:
    """The commits that somebody who may has acknowledged.

    Without a policy any writer's word counts. Under one it takes the signature of a key that the
    policy knows as an admin and does not call compromised; where it stands is INV-9's to judge.
    """
    entries = [
        (digest, entry)
        for digest, entry in reading.ledger_files.of_action("acknowledge")
        if entry.commit
    ]
    if policy is None:
        return frozenset(entry.commit for _, entry in entries)
    known = usable(policy)
    admins = {
        item.key.fingerprint: item.key
        for item in (known.with_role("admin") if known else ())
        if item.state != "compromised"
    }
    return frozenset(
        entry.commit
        for digest, entry in entries
        if entry.sig
        and entry.key in admins
        and admins[entry.key].verify(signing_payload(digest), base64.decode(entry.sig) or b"")
    )
