"""The page table of a session image: the values both formats share (docs/formats/image.md)."""

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

Format: TypeAlias = Literal["recall.v1", "synapse.image/1"]

RECALL_FORMAT: Final = "recall.v1"
NATIVE_FORMAT: Final = "synapse.image/1"
BUNDLE_FORMAT: Final = "fak.session.v1"

TAINTED = 0
TRUSTED = 1
QUARANTINED = 2

TOMBSTONE = "tombstone_page"
"""The context change that hides a page; the only one in `recall.v1`."""
QUARANTINE = "quarantine_page"
"""The context change that records a seal (`synapse.image/1` only)."""

DURABILITY = frozenset({"turn", "session", "durable", "bounded"})
BOUNDED = "bounded"

MAX_UTILITY = 4.0


@dataclass(frozen=True, slots=True)
class FactRef:
    """The fact a page was made from (`synapse.image/1` only)."""

    id: str
    payload: str
    """`sha256:<hex>` payload digest of the fact when it was handed out."""


class Page(NamedTuple):
    """One row of a page table, as it is written: nothing here has been checked.

    A named tuple, as is `Blob`: a check makes one of each a page, and a dataclass costs five times
    as much.
    """

    step: int
    role: str
    """Name of the tool whose result the page holds."""
    descriptor: str
    digest: str
    """SHA-256 of the body; 64 lower-case hex digits when it is well formed."""
    length: int
    """Claimed length of the body in bytes."""
    taint: int
    sealed: bool
    """The member `quarantined`."""
    qid: str = ""
    """Seal id: `q1`, `q2`, ... in seal order; "" on an unsealed page."""
    reason: str = ""
    durability: str = ""
    valid_to: int = 0
    """Last valid tick of a bounded page; 0 is none."""
    witness: str = ""
    trust_epoch: int = 0
    utility: str = ""
    """The number as it is written; "" is none."""
    word: str = ""
    """The check word as it is written; "" is none."""
    offset: int = -1
    """`synapse.image/1`: first byte of the body in the store; -1 when the body is not held."""
    fact: FactRef | None = None
    written: tuple[tuple[str, str], ...] = ()
    """`recall.v1`: members whose U+FFFD are spelled another way, with their exact token."""


@dataclass(frozen=True, slots=True)
class Change:
    """A context change: it hides or seals a page and deletes nothing."""

    id: str
    step: int
    digest: str
    reason: str
    requested_by: str
    action: str = TOMBSTONE
    witness: str = ""
    trust_epoch: int = 0
    applied: bool = True
    written: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Head:
    """Everything of an image but its pages and bodies."""

    session: str
    marker: int
    """`world_ver`: the number of rows when the image was written."""
    cleared: tuple[tuple[str, bool], ...] = ()
    """Clearances by seal id, in the order they are written."""
    changes: tuple[Change, ...] = ()
    version: str = RECALL_FORMAT


class Blob(NamedTuple):
    """What the store holds under one address, without the bytes themselves."""

    size: int
    line: str
    """First line of the body as a descriptor shows it (`syn.images.descriptor`)."""
    actual: str
    """SHA-256 of the bytes, hex; equals the address when the entry is sound."""
    fault: str = ""
    """"" when sound, else `blob-mismatch`, `blob-malformed` or `address-malformed`."""
    place: int = -1
    """`recall.v1`: first byte of the base64 text in `cas.json`; -1 when there is none."""
    span: int = 0
    """Bytes of that text."""
