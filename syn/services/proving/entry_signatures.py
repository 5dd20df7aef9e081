"""Signatures of entries by themselves: an entry that names a key has a signature that holds.

Whether that key was allowed where the entry stands is INV-9's; here the keys of the policy are
looked at in any state, and no history is needed.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from syn.canon import base64
from syn.keys.policy import BrokenPolicy, Policy
from syn.ledger.entry import signing_payload
from syn.ledger.segments import place
from syn.model.finding import Finding
from syn.services.recall.indexing import Reading
from syn.services.trust.policy import usable

if TYPE_CHECKING:
    from syn.model.ledger import Entry


def entry_signature_findings(
    reading: Reading, policy: Policy | BrokenPolicy | None
) -> Iterator[Finding]:
    """Entries whose signature does not hold, and keys that the policy does not know.

    An entry that names a key and has no signature is named where segments are read.
    """
    known = usable(policy)
    keys = {item.key.fingerprint: item.key for item in known.keys} if known else {}
    unknown: dict[tuple[str, str], list[Entry]] = {}
    for digest, entry in reading.ledger.ledger.entries():
        if not entry.sig:
            continue
        key = keys.get(entry.key)
        if key is None:
            unknown.setdefault((entry.writer, entry.key), []).append(entry)
        elif not key.verify(signing_payload(digest), base64.decode(entry.sig) or b""):
            path, line = place(entry)
            yield Finding(
                code="signature-bad",
                subject=entry.writer,
                path=path,
                line=line,
                expected=f"a signature of {entry.key} over {digest}",
                actual="one that does not match",
                remedy=f"restore the line: git checkout HEAD -- {path}",
            )
    for (writer, name), entries in unknown.items():
        path, line = place(entries[0])
        yield Finding(
            code="signature-unknown-key",
            subject=writer,
            path=path,
            line=line,
            expected="a key that the policy holds, in whatever state",
            actual=f"{name}, on {len(entries)} entries from here on",
            remedy="restore .synapse/policy: keys are never taken off it",
        )
