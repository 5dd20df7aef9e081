"""What a verification holds the workspace against beside itself: checkpoints and outside keys."""

from dataclasses import dataclass, replace
from functools import partial

from syn.errors import CannotError, RefusedError
from syn.git.parse import blob_id
from syn.git.repository import Repository
from syn.index.rows import PROJECTION
from syn.keys.trust import Trust
from syn.model.finding import Finding
from syn.services.proving.checkpoints import (
    anchor,
    checkpoint_evidence,
    ground_of,
    judge_all,
    roots_fault,
)
from syn.services.proving.collect import Pass
from syn.services.proving.entry_lines import gained
from syn.services.proving.entry_signatures import entry_signature_findings
from syn.services.proving.head_record import facts_root
from syn.services.proving.identity import identity_evidence
from syn.services.proving.receipt_evidence import receipt_evidence
from syn.services.recall.reading import read_plain
from syn.services.trust.outside import PIN, Since
from syn.services.trust.pins import NO_PINS, Pins
from syn.verify.evidence import (
    CheckpointEvidence,
    IdentityEvidence,
    IndexEvidence,
    ReceiptEvidence,
    WitnessEvidence,
)
from syn.verify.level import from_outside


@dataclass(frozen=True, slots=True)
class Outside:
    """What a caller brings from outside the repository to hold it against."""

    trust: Trust | None = None
    """Keys of `--trust`."""
    since: Since | None = None
    """The witness or commit of `--since`."""
    pins: Pins = NO_PINS
    """What is pinned on this machine; empty where it plays no part."""
    root: str = ""
    """The trust root for identities that was given by itself: a full commit id, or ""."""
    root_pinned: bool = False
    """It was written as a full id, or pinned before this run."""

    @property
    def gives_root(self) -> bool:
        """Whether there is a trust root for identities."""
        return bool(self.root or self.since)


NOTHING_FROM_OUTSIDE = Outside()


@dataclass(frozen=True, slots=True)
class Proofs:
    """The evidence that rests on signatures and history."""

    checkpoints: CheckpointEvidence
    receipts: ReceiptEvidence
    anchored: str
    """Manifest digest in the newest signed record over exactly these inputs, or ""."""
    anchored_projection: str
    signatures: tuple[Finding, ...]
    """Signatures of entries that do not hold."""
    witness: WitnessEvidence | None
    identity: IdentityEvidence | None

    def anchor(self, index: IndexEvidence) -> IndexEvidence:
        """INV-1's evidence with the manifest that a checkpoint names."""
        return replace(index, anchored=self.anchored, anchored_projection=self.anchored_projection)


def collect_proofs(
    repository: Repository, head: str, done: Pass, outside: Outside, *, deep: bool
) -> Proofs:
    """Judge what is signed in a snapshot whose commit (or whose work tree's HEAD) is `head`."""
    reading = done.reading
    ground = ground_of(repository, head, reading, deep=deep)
    judged, unread = judge_all(reading, ground)
    record = anchor(judged, done.inputs_hash)
    if record is not None and record.projection == PROJECTION:
        root = done.proven.facts_root if done.proven else facts_root(done)
        unread += roots_fault(judged, done.inputs_hash, root)
    witness = None
    if outside.since is not None:
        from syn.services.trust.comparing import compare  # only `--since` compares

        logs = [item.log for item in judged]
        witness = compare(ground, logs, outside.since, outside.trust, outside.pins)
    return Proofs(
        checkpoints=checkpoint_evidence(judged, unread, outside.trust, partial(_entries, done)),
        receipts=receipt_evidence(reading, ground, judged),
        anchored=record.manifest if record else "",
        anchored_projection=str(record.projection) if record else "",
        signatures=() if done.signed else tuple(entry_signature_findings(reading, ground.policy)),
        witness=witness,
        identity=_identity(repository, head, done, outside, witness),
    )


def _entries(done: Pass) -> int:
    """How many decisions there are."""
    if done.clean is not None:
        return done.clean.entries
    return sum(len(chain.entries) for chain in done.reading.ledger.ledger.chains)


def _identity(
    repository: Repository,
    head: str,
    done: Pass,
    outside: Outside,
    witness: WitnessEvidence | None,
) -> IdentityEvidence | None:
    """INV-9's evidence, where there is a trust root: its own, or that of a consistent witness."""
    sound = witness if witness is not None and witness.status == "consistent" else None
    root, pinned = outside.root, outside.root_pinned
    if not root and sound is not None:
        root, pinned = sound.commit, from_outside(sound)
    if not root or not head:
        return None
    covered = [sound.commit] if sound is not None and from_outside(sound) else []
    if outside.since is not None and outside.since.given == PIN:
        covered += [item.commit for item in outside.pins.witnesses]
    lines = uncommitted_lines(repository, done)
    found = identity_evidence(repository, head, root, lines, covered)
    return replace(found, pinned=pinned)


def uncommitted_lines(repository: Repository, done: Pass) -> tuple[bytes, ...]:
    """The ledger lines of a work tree that HEAD's commit does not hold; none in a commit."""
    found: list[bytes] = []
    snapshot = done.reading.snapshot
    for entry in done.reading.inventory.ledger:
        try:
            data = read_plain(snapshot, entry)
            if blob_id(data) == entry.head_oid:
                continue
            before = repository.store.blob(entry.head_oid) if entry.head_oid else b""
        except (CannotError, RefusedError):
            continue  # named where the ledger is read
        found += gained(before, data)
    return tuple(found)
