"""What the invariants look at: frozen values, collected beforehand by `services.proving`.

Evidence says what was read and what could not be read; it never says what that means.
"""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from syn.model.fact import Instant, Unreadable
from syn.model.finding import Finding, InvariantResult, Json
from syn.model.recorded import Recorded
from syn.model.report import CheckpointState


@dataclass(frozen=True, slots=True)
class FactView:
    """What the invariants need of one readable fact."""

    path: str
    id: str
    explicit_id: bool
    payload: str
    source: str
    subject: str | None = None
    field: str | None = None
    value: str | None = None
    status: str | None = None
    valid_from: Instant | None = None
    valid_to: Instant | None = None
    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    lines: tuple[tuple[str, int], ...] = ()
    """Lines of the reserved keys above, as far as they are written."""

    def line_of(self, key: str) -> int:
        """The line of a reserved key, or 1 when it is not written."""
        return next((line for name, line in self.lines if name == key), 1)


@dataclass(frozen=True, slots=True)
class Unread:
    """Evidence that could not be read: never a pass, never an accusation."""

    what: str
    code: str
    message: str
    remedy: str = ""
    wrong: bool = False
    """It is there and shown not to be what its name says: an object of other bytes."""


@dataclass(frozen=True, slots=True)
class ConfigEvidence:
    """The digest of a file that its own decisions record, beside the recorded one."""

    digest: str
    """"" when there is no such file."""
    recorded: tuple[str, ...]
    """Source digests at the heads of its decisions; empty when none was recorded."""


NOT_RECORDED = ConfigEvidence("", ())


IndexState: TypeAlias = Literal["absent", "current", "stale", "unreadable"]


@dataclass(frozen=True, slots=True)
class IndexEvidence:
    """The rebuilt projection beside the live index (INV-1)."""

    projected: str
    """Manifest digest of the projection of today's inputs."""
    scratch: str
    """Manifest digest of a scratch index built from the same rows, or "" when none was built."""
    scratch_reason: str
    """Why a scratch index could not be built, or ""."""
    state: IndexState
    live: str
    """Manifest digest of the live index as dumped, or ""."""
    live_reason: str
    """Why the live index could not be read, or ""."""
    differences: tuple[Finding, ...]
    """Rows of the live index that differ from the projection and count against it."""
    named: bool
    """Whether every difference was named (`--rebuild`), not only counted."""
    faults: str
    """What SQLite's and FTS5's own checks, and the checksums beside the rows, said; "" when they
    hold."""
    anchored: str
    """Manifest digest in the checkpoint that covers these inputs, or ""."""
    anchored_projection: str
    """Projection version of that checkpoint, or ""."""
    projection: str
    """Projection version of this program."""


@dataclass(frozen=True, slots=True)
class LedgerEvidence:
    """The segments as they are parsed, and what they add up to."""

    writers: int
    entries: int
    findings: tuple[Finding, ...]
    """Faults of the segments: chain, canonical form, torn tails, equivocation, heads."""
    recorded: dict[str, Recorded]
    lines: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Where an entry stands: entry hash to (path, line), for the decision heads of facts that are
    not among the readable ones."""


@dataclass(frozen=True, slots=True)
class GrowthEvidence:
    """Whether evidence files only grew along parent edges and from HEAD to the work tree."""

    edges: int
    """Parent edges that were compared."""
    commits: int
    complete: bool
    """Every edge of history was compared (`--deep`), not only those since the ledger began."""
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class CheckpointEvidence:
    """The publishers' logs and notes in `.synapse/heads`, judged under the policy of HEAD."""

    count: int
    findings: tuple[Finding, ...]
    unanchored: int
    """Decisions after the newest checkpoint that covers the state; all of them without one."""
    state: CheckpointState | None = None
    """The checkpoint that covers the state."""
    outside_key: bool = False
    """It is signed under a key that the caller brought."""


@dataclass(frozen=True, slots=True)
class ReceiptEvidence:
    """The stored receipts, each already judged against its own proofs and the ledger."""

    count: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class IdentityEvidence:
    """Signatures of commits and entries since the trust root."""

    root: str
    """The pinned commit, or "" when no trust root is given."""
    commits: int
    entries: int
    signed: int
    unsigned: int
    foreign: int
    """OpenPGP and X.509 signatures: present, not verified."""
    findings: tuple[Finding, ...]
    forge: int = 0
    """Commits that a server signed for others."""
    pinned: bool = False
    """The root comes from outside the repository."""
    first_unsigned: tuple[str, ...] = ()
    """Some commit ids and entry hashes without a signature, sorted."""


@dataclass(frozen=True, slots=True)
class WitnessEvidence:
    """The outcome of comparing today's history with a witness."""

    given: str
    """What `--since` named, or ""."""
    status: str
    """`consistent`, `rewritten`, `behind`, `forked`, `other-workspace`, `cannot-tell`."""
    outside_key: bool
    pinned_commit: bool
    """A bare commit that was pinned before this run."""
    cosigned: bool
    """Somebody who is not the publisher cosigned it under a trusted key."""
    findings: tuple[Finding, ...]
    detail: dict[str, Json] = field(default_factory=dict)
    commit: str = ""
    """The commit that history was held against, once the witness opened."""


@dataclass(frozen=True, slots=True)
class ReplayEvidence:
    """State digests of replays in different legal orders (INV-4)."""

    orders: int
    """Different sequences that were tried; one when there is no choice."""
    digests: tuple[str, ...]
    """Distinct digests; one when replay is deterministic."""
    entries: int
    diverging: tuple[str, ...] = ()
    """Facts whose state differed between two orders, or from what is derived at once; sorted."""
    unordered: tuple[str, ...] = ()
    """Writers whose entries contradict each other, so that there is no legal order; sorted."""


@dataclass(frozen=True, slots=True)
class TransitionEvidence:
    """Versions of facts in history beside the decisions that explain them (INV-10)."""

    facts: int
    versions: int
    findings: tuple[Finding, ...]
    acknowledged: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class CellEvidence:
    """Check words of the index's rows and verdicts over the images (INV-14)."""

    rows: int
    images: int
    pages: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything one run of `syn verify` looks at. None: this run was not asked for it."""

    facts: tuple[FactView, ...]
    """Sorted by the path's UTF-8 bytes."""
    unreadable: tuple[Unreadable, ...]
    warnings: int
    new: tuple[str, ...]
    excluded: int
    config: ConfigEvidence
    ledger: LedgerEvidence
    index: IndexEvidence
    growth: GrowthEvidence
    checkpoints: CheckpointEvidence
    receipts: ReceiptEvidence
    unread: tuple[Unread, ...] = ()
    identity: IdentityEvidence | None = None
    witness: WitnessEvidence | None = None
    replay: ReplayEvidence | None = None
    transitions: TransitionEvidence | None = None
    cells: CellEvidence | None = None
    policy: ConfigEvidence = NOT_RECORDED
    multi: frozenset[str] = frozenset()
    """Fields (or `subject/field`) that may hold several values at once."""
    known: int = 0
    """Facts that are not among `facts`, since all that is asked of them stands already."""
    stands: tuple[InvariantResult, ...] = ()
    """Results that a trusted report gives for inputs that are the same byte for byte."""
