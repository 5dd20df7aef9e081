"""The outcome of one `syn verify`, before anybody renders or signs it (design 9)."""

from dataclasses import dataclass, field
from typing import Literal

from syn.model.config import Profile
from syn.model.finding import InvariantResult, Json, Level, TrustRoot, Verdict


@dataclass(frozen=True, slots=True)
class Subject:
    """What was verified."""

    workspace: str
    """UUID of the workspace."""
    name: str
    git_ref: str
    """What was asked for: a ref as given, or "worktree"."""
    worktree: Literal["clean", "dirty", "none"]
    """`clean`: inputs and evidence of the work tree hash equal HEAD's; `none`: a ref was read."""
    inputs_hash: str
    evidence_hash: str
    commit: str = ""
    """The commit whose tree holds exactly these inputs and this evidence, or ""."""
    tree: str = ""
    """The tree of `commit`, or ""."""
    object_format: Literal["sha1"] = "sha1"


@dataclass(frozen=True, slots=True)
class CheckpointState:
    """The checkpoint that covers the state, as the report shows it."""

    origin: str
    size: int
    root: str
    """`sha256:<hex>` Merkle root over the head records."""
    key: str
    """OpenSSH fingerprint of the publisher's key, or "" when unsigned."""
    commit: str
    """The commit the newest head record speaks of."""
    unanchored: int
    """Decisions after that head record."""
    authorized: bool
    """The key is a publisher under the policy."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything a run says. Equal inputs give equal values but for `local` and `ts`."""

    subject: Subject
    tool_version: str
    profile: Profile
    verdict: Verdict
    level: Level
    level_reason: str
    """Why the next level is not reached."""
    trust_root: TrustRoot
    manifest_digest: str
    invariants: tuple[InvariantResult, ...]
    """Sorted by number; only those that this run was asked for."""
    ts: str
    """RFC 3339 UTC, from the one clock."""
    checkpoint: CheckpointState | None = None
    witness_status: str = "none"
    """`none`, or what the given witness showed: `consistent`, `rewritten`, `behind`, `forked`,
    `other-workspace`, `cannot-tell`."""
    limits: tuple[str, ...] = ()
    """What this run does not prove, one sentence each."""
    local: dict[str, Json] = field(default_factory=dict)
    """What holds on this machine only: live index, work-tree state, tool environment."""
    baseline: str = ""
    """Digest of the trusted report an incremental run started from, or ""."""
