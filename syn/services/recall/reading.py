"""What a snapshot holds, by role, and the ledger in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.facts.globs import FactGlobs
from syn.facts.twins import path_problems
from syn.git.parse import blob_id
from syn.git.snapshot import Snapshot, SnapshotEntry
from syn.git.worktree import WorktreeSnapshot
from syn.ledger import heads, links, segments
from syn.ledger.entry import HashedEntry
from syn.ledger.growth import growth_faults
from syn.ledger.segments import Ledger
from syn.model.config import Config
from syn.model.fact import Fact, Parsed
from syn.model.finding import Finding
from syn.model.problem import Problem, display_path
from syn.model.recorded import Recorded

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
class FactFiles:
    """The candidates of an inventory, told apart by what the ledger and the tree say of them."""

    facts: tuple[SnapshotEntry, ...]
    """Tracked or recorded files, in path order; their names are sound."""
    new_entries: tuple[SnapshotEntry, ...]
    """Neither tracked nor recorded: listed, not indexed."""
    new_problems: dict[bytes, tuple[Problem, ...]]
    """What is wrong with the names of new files."""
    refused: dict[str, tuple[Problem, ...]]
    """Display path to what is wrong with the name or the kind of file."""
    excluded: int

    @property
    def new(self) -> tuple[str, ...]:
        """The paths of the new files, escaped where they have to be."""
        return tuple(display_path(entry.path) for entry in self.new_entries)


@dataclass(frozen=True, slots=True)
class LedgerView:
    """The whole ledger of one snapshot, decoded."""

    ledger: Ledger
    recorded: dict[str, Recorded]
    findings: tuple[Finding, ...]
    moved: Mapping[str, str]
    """Path to fact id, where the id is the default of a path that the fact was moved from."""

    @property
    def paths(self) -> frozenset[str]:
        """The paths at which a fact is recorded."""
        return frozenset(s.path for s in self.recorded.values() if s.path and not s.deleted)


def _moved(entries: Iterable[HashedEntry], recorded: Mapping[str, Recorded]) -> dict[str, str]:
    once = {entry.fact for _, entry in entries if entry.fact and entry.path == f"{entry.fact}.md"}
    states = (recorded[fact] for fact in sorted(once) if fact in recorded)
    return {s.path: s.fact for s in states if s.path and s.path != f"{s.fact}.md"}


class LedgerFiles:
    """The bytes of every segment of one snapshot; decoded as a whole only when that is asked."""

    def __init__(
        self,
        snapshot: Snapshot,
        entries: Iterable[SnapshotEntry],
        ws: str,
        lost: Iterable[SnapshotEntry] = (),
    ) -> None:
        """Read every file under `.synapse/ledger/`; what cannot be read becomes a finding.

        `lost` are the files that HEAD has there and the work tree has not.
        """
        self._ws = ws
        self._snapshot = snapshot
        self._files: list[tuple[str, bytes]] = []
        self._ahead: list[tuple[SnapshotEntry, bytes | None]] = [(entry, None) for entry in lost]
        self._unread: list[Finding] = []
        digests: list[tuple[bytes, str]] = []
        heads_only = True
        for entry in entries:
            path = display_path(entry.path)
            try:
                data = read_plain(snapshot, entry)
            except (CannotError, RefusedError) as error:
                self._unread.append(unreadable_finding(path, error))
                continue
            digests.append((entry.path, sha256(data)))
            if blob_id(data) != entry.head_oid:
                heads_only = False
                self._ahead.append((entry, data))
            self._files.append((path, data))
        self.digests = tuple(digests)
        """(path, digest) of every file that could be read."""
        self.heads = heads_only
        """Whether every file is HEAD's blob at its path."""

    @cached_property
    def view(self) -> LedgerView:
        """Every entry and what they add up to. Linear in the entries: about 20 us each."""
        ledger = segments.read(self._ws, self._files)
        entries = list(ledger.entries())
        faults = (*ledger.faults, *links.link_faults(entries))
        recorded = heads.recorded(entries)
        return LedgerView(
            ledger=ledger,
            recorded=recorded,
            moved=_moved(entries, recorded),
            findings=(*(fault.finding() for fault in faults), *self._unread),
        )

    @cached_property
    def shrunk(self) -> tuple[Finding, ...]:
        """Where this ledger is not HEAD's with whole lines appended: decisions were cut off."""
        found: list[Finding] = []
        for entry, data in self._ahead:
            if not entry.head_oid:
                continue
            path = display_path(entry.path)
            try:
                old = self._snapshot.read(entry._replace(kind="file", on_disk=False))
            except (CannotError, RefusedError) as error:
                found.append(unreadable_finding(path, error))
                continue
            subject = path.split("/")[2]
            found += (fault.finding() for fault in growth_faults(path, subject, old, data))
        return tuple(found)

    def recorded_at(self, paths: Iterable[str]) -> frozenset[str]:
        """Which of the paths a fact is recorded at; decodes only when the text may name one."""
        wanted = [path for path in paths if self._mentions("path", path)]
        return frozenset(wanted) & self.view.paths if wanted else frozenset()

    def about(self, fact: str) -> tuple[HashedEntry, ...]:
        """The entries on one fact; their hashes are computed from the bytes as they are now."""
        return self._by_fact.get(fact, ())

    @cached_property
    def policies(self) -> tuple[HashedEntry, ...]:
        """The `policy` decisions."""
        entries = self.view.ledger.entries()
        return tuple(pair for pair in entries if pair[1].action == "policy")

    @cached_property
    def _by_fact(self) -> dict[str, tuple[HashedEntry, ...]]:
        groups: dict[str, list[HashedEntry]] = {}
        for digest, entry in self.view.ledger.entries():
            if entry.fact:
                groups.setdefault(entry.fact, []).append((digest, entry))
        return {fact: tuple(found) for fact, found in groups.items()}

    def _mentions(self, name: str, text: str) -> bool:
        member = _member(name, text)
        return any(member in data for _, data in self._files)


def _member(name: str, text: str) -> bytes:
    """How a member stands in canonical JSON; ids and paths are text without lone surrogates."""
    return canonical.encode({name: text})[1:-1]


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


def sort_facts(inventory: Inventory, ledger: LedgerFiles) -> FactFiles:
    """Tell facts, new files and refused names apart."""
    untracked = (e.path for e in inventory.candidates if not e.tracked)
    names = (path.decode("utf-8", "replace") for path in untracked)
    recorded = {path.encode() for path in ledger.recorded_at(names)}
    problems = path_problems((entry.path, entry.kind) for entry in inventory.candidates)
    facts = [e for e in inventory.candidates if e.tracked or e.path in recorded]
    new = [e for e in inventory.candidates if not (e.tracked or e.path in recorded)]
    return FactFiles(
        facts=tuple(entry for entry in facts if entry.path not in problems),
        new_entries=tuple(new),
        new_problems={e.path: problems[e.path] for e in new if e.path in problems},
        refused={problems[e.path][0].path: problems[e.path] for e in facts if e.path in problems},
        excluded=inventory.excluded,
    )
