"""Decisions: the lines of the ledger (design 5, docs/formats/ledger.md)."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

FactAction: TypeAlias = Literal[
    "create", "update", "supersede", "close", "move", "delete", "undo", "restore", "expunge"
]
OtherAction: TypeAlias = Literal[
    "reject", "quarantine", "clear", "config", "policy", "receipt", "acknowledge"
]
Action: TypeAlias = FactAction | OtherAction
Via: TypeAlias = Literal["cli", "mcp", "import", "hand"]
Review: TypeAlias = Literal["seen", "unreviewed", "named"]

FACT_ACTIONS: frozenset[str] = frozenset(
    {"create", "update", "supersede", "close", "move", "delete", "undo", "restore", "expunge"}
)
OTHER_ACTIONS: frozenset[str] = frozenset(
    {"reject", "quarantine", "clear", "config", "policy", "receipt", "acknowledge"}
)


@dataclass(frozen=True, slots=True)
class Entry:
    """One decision on one fact (or on the workspace). Absent optional fields are "" or empty."""

    writer: str
    seq: int
    prev: str
    """`sha256:` hash of the writer's entry before, or its genesis hash."""
    ts: str
    """`2026-04-15T10:00:00.000000Z`; never orders anything."""
    actor: str
    via: Via
    action: Action
    review: Review | Literal[""] = ""
    batch: str = ""
    """`<writer>:<seq>` of the first line of the decision this line belongs to; "" on a single
    line."""
    fact: str = ""
    path: str = ""
    payload: str = ""
    """Payload digest after; "" after a delete."""
    source: str = ""
    """Source digest after; "" after a delete."""
    taint: str = ""
    """Why the content is not to be trusted ("external", an id it was inherited from), or ""."""
    after: tuple[str, ...] = ()
    """Entry hashes of this fact's decision heads that the writer saw, sorted."""
    prior: tuple[str, ...] = ()
    """The payloads at `after`, in the same order."""
    proposal: str = ""
    reason: str = ""
    names: tuple[str, ...] = ()
    """Entry hashes this decision is about: what an `undo` reverses, what a `clear` lifts;
    sorted."""
    commit: str = ""
    """`acknowledge`: the commit whose version or fault is accepted."""
    key: str = ""
    """OpenSSH SHA-256 fingerprint of the signing key, or ""."""
    sig: str = ""
    """Base64 Ed25519 signature over the entry hash, or ""."""
