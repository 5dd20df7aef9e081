"""What a snapshot holds, by role."""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from syn.errors import CannotError, RefusedError
from syn.facts.globs import FactGlobs
from syn.facts.twins import path_problems
from syn.git.snapshot import Snapshot, SnapshotEntry
from syn.git.worktree import WorktreeSnapshot
from syn.model.config import Config
from syn.model.fact import Fact, Parsed
from syn.model.finding import Finding
from syn.model.problem import Problem, display_path

if TYPE_CHECKING:
    from syn.services.recall.ledgerfiles import LedgerFiles

CONFIG = b"synapse.toml"
POLICY = b".synapse/policy"
LEDGER = b".synapse/ledger/"
HEADS = b".synapse/heads/"
RECEIPTS = b".synapse/receipts/"
IMAGES = b"images/"


@dataclass(slots=True)
class Inventory:
    """The entries of one snapshot, each list sorted by path bytes."""

    config: list[SnapshotEntry] = field(default_factory=list)
    """`synapse.toml`, when it is there."""
    ledger: list[SnapshotEntry] = field(default_factory=list)
    lost: list[SnapshotEntry] = field(default_factory=list)
    """Tracked segments of the ledger that are not on disk."""
    lost_images: list[SnapshotEntry] = field(default_factory=list)
    """Tracked files of images that are not on disk."""
    policy: list[SnapshotEntry] = field(default_factory=list)
    evidence: list[SnapshotEntry] = field(default_factory=list)
    """Heads, receipts and images."""
    candidates: list[SnapshotEntry] = field(default_factory=list)
    """Everything that matches the include globs and none of the exclude globs."""
    excluded: int = 0
    """Files that match an include glob and an exclude glob, or are ignored by git."""
    nested: list[bytes] = field(default_factory=list)
    """Submodules and repositories in the work tree: not entered."""
    links: list[bytes] = field(default_factory=list)
    """Symbolic links where folders of facts could be: not followed."""
    missing: int = 0
    """Tracked inputs and evidence files that are not on disk."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The facts of a listing at hand, in path order."""

    facts: tuple[SnapshotEntry, ...]

    def __len__(self) -> int:
        return len(self.facts)

    def find(self, path: bytes) -> SnapshotEntry | None:
        """The fact at a path, or None."""
        at = bisect_left(self.facts, path, key=attrgetter("path"))
        return self.facts[at] if at < len(self.facts) and self.facts[at].path == path else None


class Facts(Protocol):
    """Tracked or recorded files whose names are sound: listed already, or when that is asked."""

    @property
    def facts(self) -> tuple[SnapshotEntry, ...]:
        """All, in path order."""

    def __len__(self) -> int: ...

    def find(self, path: bytes) -> SnapshotEntry | None:
        """The fact at a path, or None."""


@dataclass(frozen=True, slots=True)
class FactFiles:
    """The candidates of an inventory, told apart by what the ledger and the tree say of them."""

    known: Facts
    new_entries: tuple[SnapshotEntry, ...]
    """Neither tracked nor recorded: listed, not indexed."""
    new_problems: dict[bytes, tuple[Problem, ...]]
    """What is wrong with the names of new files."""
    refused: dict[str, tuple[Problem, ...]]
    """Display path to what is wrong with the name or the kind of file."""
    excluded: int

    @property
    def facts(self) -> tuple[SnapshotEntry, ...]:
        """Tracked or recorded files, in path order; their names are sound."""
        return self.known.facts

    @property
    def new(self) -> tuple[str, ...]:
        """The paths of the new files, escaped where they have to be."""
        return tuple(display_path(entry.path) for entry in self.new_entries)


def under_recorded_id(parsed: Parsed, moved: Mapping[str, str]) -> Parsed:
    """A fact without an id of its own keeps, after a move, the one it is recorded with.

    That id was its first path (design 3.2); the files alone do not say so any more.
    """
    if isinstance(parsed, Fact) and not parsed.explicit_id and parsed.path in moved:
        return replace(parsed, id=moved[parsed.path])
    return parsed


def take_inventory(snapshot: Snapshot, config: Config) -> Inventory:
    """Sort the entries of a snapshot by what they are for; one pass."""
    globs = FactGlobs(config)
    found = Inventory()
    for entry in snapshot.entries():
        path = entry.path
        if path.startswith(b".synapse/"):
            _own(found, entry)
        elif path == CONFIG:
            found.config.append(entry)
        else:
            _other(found, entry, globs)
    return found


def _own(found: Inventory, entry: SnapshotEntry) -> None:
    if entry.kind == "missing":
        found.missing += entry.path.startswith((LEDGER, POLICY, HEADS, RECEIPTS))
        if entry.path.startswith(LEDGER):
            found.lost.append(entry)
    elif entry.path.startswith(LEDGER):
        found.ledger.append(entry)
    elif entry.path == POLICY:
        found.policy.append(entry)
    elif entry.path.startswith((HEADS, RECEIPTS)):
        found.evidence.append(entry)


def _other(found: Inventory, entry: SnapshotEntry, globs: FactGlobs) -> None:
    path = entry.path.decode("utf-8", "surrogateescape")
    match = globs.match(path)
    if entry.kind == "gitlink":
        found.nested.append(entry.path)
    if entry.kind == "symlink" and match == "other" and globs.leads_to_facts(path):
        found.links.append(entry.path)
    if entry.kind == "missing":
        found.missing += match == "fact" or entry.path.startswith(IMAGES)
        if entry.path.startswith(IMAGES):
            found.lost_images.append(entry)
    elif match == "excluded" or (match == "fact" and entry.ignored and not entry.tracked):
        found.excluded += 1
    elif match == "fact":
        found.candidates.append(entry)
    elif entry.path.startswith(IMAGES) and not entry.ignored:
        found.evidence.append(entry)


def read_plain(snapshot: Snapshot, entry: SnapshotEntry) -> bytes:
    """The bytes of an entry that has to be a plain file.

    Raises:
        CannotError: it is a symbolic link, a repository of its own, or cannot be read.
    """
    if entry.kind != "file":
        raise CannotError(
            "not-a-file",
            f"{entry.path.decode('utf-8', 'backslashreplace')}: expected a file, "
            f"got a {entry.kind}",
            "put the file itself there",
        )
    return snapshot.read(entry)


def stored_bytes(snapshot: Snapshot, path: str, data: bytes) -> bytes:
    """What git would store for a file of the work tree, which is what is recorded (design 2)."""
    if isinstance(snapshot, WorktreeSnapshot):
        return snapshot.to_git(path.encode(), data)
    return data


def unreadable_finding(subject: str, error: CannotError | RefusedError) -> Finding:
    """Evidence that cannot be read is unknown; an object that hashes to another id is wrong."""
    return Finding(
        code=error.code,
        subject=subject,
        path=subject,
        expected="a file that can be read",
        actual=error.message,
        remedy=error.remedy,
        severity="unknown" if isinstance(error, CannotError) else "failure",
    )


def sort_facts(inventory: Inventory, ledger: "LedgerFiles") -> FactFiles:
    """Tell facts, new files and refused names apart."""
    untracked = (e.path for e in inventory.candidates if not e.tracked)
    names = (path.decode("utf-8", "replace") for path in untracked)
    recorded = {path.encode() for path in ledger.recorded_at(names)}
    problems = path_problems((entry.path, entry.kind) for entry in inventory.candidates)
    facts = [e for e in inventory.candidates if e.tracked or e.path in recorded]
    new = [e for e in inventory.candidates if not (e.tracked or e.path in recorded)]
    return FactFiles(
        known=Listed(tuple(entry for entry in facts if entry.path not in problems)),
        new_entries=tuple(new),
        new_problems={e.path: problems[e.path] for e in new if e.path in problems},
        refused={problems[e.path][0].path: problems[e.path] for e in facts if e.path in problems},
        excluded=inventory.excluded,
    )
