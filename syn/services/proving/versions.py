"""History as INV-10 asks for it: what every commit holds of each fact, and how long its ledger is.

The walk is children before parents. Trees are compared by id, so a commit costs what it changed; a
commit whose tree holds no ledger costs nothing but its own reading.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.facts.globs import FactGlobs
from syn.facts.parse import parse
from syn.git.history import changed_paths, walk
from syn.git.parse import Commit, blob_id
from syn.git.repository import Repository
from syn.git.snapshot import iter_tree
from syn.ledger.faults import Fault
from syn.ledger.legality import legality_faults
from syn.ledger.replay import replay
from syn.ledger.segments import SEGMENT_SIZE, parse_segment_path, place
from syn.ledger.transitions import Change, Seen, Side, Step, Tails, Transitions, Version
from syn.model.config import Config
from syn.model.fact import Fact
from syn.model.finding import Finding
from syn.services.config import parse_config
from syn.services.recall.indexing import Reading, tails_of
from syn.services.recall.reading import CONFIG, LEDGER
from syn.verify.evidence import ReplayEvidence, TransitionEvidence

if TYPE_CHECKING:
    from syn.git.objects import MissingObjectError

WORKTREE = "worktree"
_NO_LEDGER: Tails = {}
_CACHED = 16_384
"""Contents whose payload is remembered between commits."""


@dataclass(slots=True)
class Judged:
    """What a walk over history found."""

    versions: list[Version] = field(default_factory=list)
    """Versions that no decision explains, newest commit first."""
    checked: int = 0
    unread: list[Finding] = field(default_factory=list)
    """Commits, trees and blobs that could not be read."""


def judge_versions(repository: Repository, reading: Reading, head: str, *, live: bool) -> Judged:
    """Judge every version of every fact since the first decision on it.

    Args:
        repository: where history is.
        reading: the snapshot whose ledger explains the versions.
        head: the commit to start from, or "" on an unborn branch.
        live: the reading is of the work tree, which counts as HEAD's child.
    """
    found = Judged()
    transitions = Transitions(reading.ledger.ledger.entries())
    history = _History(repository, reading.config, found)
    if live:
        found.versions += transitions.step(_worktree_step(repository, reading, history, head))
    if head:
        for commit in history.commits(head):
            found.versions += transitions.step(history.step(commit))
    found.checked = transitions.checked
    return found


@dataclass(frozen=True, slots=True)
class _Tree:
    """One commit's tree, as far as INV-10 looks at it."""

    oid: str
    config: Config
    globs: FactGlobs
    ledger: Tails


class _History:
    def __init__(self, repository: Repository, config: Config, found: Judged) -> None:
        self._repository = repository
        self._store = repository.store
        self._default = (config, FactGlobs(config))
        self._found = found
        self._configs: dict[str, tuple[Config, FactGlobs]] = {}
        self._ledgers: dict[str, Tails] = {"": _NO_LEDGER}
        self._writers: dict[str, int] = {}
        self._seen = lru_cache(_CACHED)(self._read)
        self.tree = lru_cache(256)(self._tree)

    def commits(self, head: str) -> Iterator[Commit]:
        """Every commit from `head` down, children first; what is missing is noted once."""
        missing: list[MissingObjectError] = []
        shallow = self._repository.shallow_commits()
        yield from walk(self._store, [head], shallow=shallow, missing=missing)
        for error in missing[:1]:
            self._note(error.oid, error)

    def step(self, commit: Commit) -> Step:
        """A commit beside its parents; one that cannot be read has no changes, and says so."""
        here = self._side(commit)
        parents = [self._parent(oid) for oid in commit.parents]
        sides = tuple(
            Side(oid, tree.ledger if tree else _NO_LEDGER)
            for oid, tree in zip(commit.parents, parents, strict=True)
        )
        changes: tuple[Change, ...] = ()
        if here is not None and here.ledger and None not in parents:
            try:
                changes = tuple(self._changes(here, [tree for tree in parents if tree]))
            except (CannotError, RefusedError) as error:
                self._note(commit.oid, error)
        return Step(Side(commit.oid, here.ledger if here else _NO_LEDGER), sides, changes)

    def _side(self, commit: Commit) -> _Tree | None:
        try:
            return self.tree(commit.tree)
        except (CannotError, RefusedError) as error:
            self._note(commit.oid, error)
            return None

    def _parent(self, oid: str) -> _Tree | None:
        try:
            return self.tree(self._store.commit(oid).tree)
        except (CannotError, RefusedError):
            return None  # noted once, as missing or when its own turn comes

    def _changes(self, here: _Tree, parents: list[_Tree]) -> Iterator[Change]:
        """Paths of facts whose content differs from that in every parent."""
        differing: dict[bytes, int] = {}
        for parent in parents:
            for path, *_ in changed_paths(self._store, parent.oid, here.oid):
                differing[path] = differing.get(path, 0) + 1
        if not parents:
            differing = dict.fromkeys((path for path, _ in iter_tree(self._store, here.oid)), 0)
        for path, count in differing.items():
            if count == len(parents):
                change = self.change(path, here, parents)
                if change is not None:
                    yield change

    def change(self, path: bytes, here: _Tree, parents: list[_Tree]) -> Change | None:
        """One path, when it is a fact's in any of the trees."""
        now = self.seen(path, here)
        before = tuple(self.seen(path, parent) for parent in parents)
        if not now.payload and not any(side.payload for side in before):
            return None
        return Change(path.decode(), now, before)

    def seen(self, path: bytes, tree: _Tree) -> Seen:
        """What a tree holds at a path; nothing where the path is none of a fact there."""
        try:
            text = path.decode()
        except UnicodeDecodeError:
            return Seen()
        if tree.globs.match(text) != "fact":
            return Seen()
        item = self._store.find(tree.oid, path)
        if item is None or item.kind == "tree":
            return Seen()
        if item.kind != "file":
            return Seen(f"{item.kind} {item.oid}")
        return self._seen(text, item.oid, tree.config)

    def _read(self, path: str, oid: str, config: Config) -> Seen:
        return content_of(path, self._store.blob(oid), config)

    def _tree(self, oid: str) -> _Tree:
        config, globs = self._config(oid)
        return _Tree(oid, config, globs, self._ledger(oid))

    def _config(self, tree: str) -> tuple[Config, FactGlobs]:
        item = self._store.find(tree, CONFIG)
        if item is None or item.kind != "file":
            return self._default
        if item.oid not in self._configs:
            try:
                config = parse_config(self._store.blob(item.oid))
                self._configs[item.oid] = (config, FactGlobs(config))
            except CannotError:
                self._configs[item.oid] = self._default
        return self._configs[item.oid]

    def _ledger(self, tree: str) -> Tails:
        """How many entries each writer has in a tree; one object per ledger."""
        item = self._store.find(tree, LEDGER.rstrip(b"/"))
        oid = item.oid if item is not None and item.kind == "tree" else ""
        if oid not in self._ledgers:
            self._ledgers[oid] = {
                writer.name.decode(): self._length(writer.oid)
                for writer in self._store.tree(oid)
                if writer.kind == "tree"
            }
        return self._ledgers[oid]

    def _length(self, folder: str) -> int:
        """Entries in a writer's folder: full files, and the lines of the last one."""
        if folder not in self._writers:
            names = {
                known[1]: item.oid
                for item in self._store.tree(folder)
                if (known := parse_segment_path(f".synapse/ledger/w/{item.name.decode()}"))
            }
            last = max(names, default=0)
            lines = self._store.blob(names[last]).count(b"\n") if names else 0
            self._writers[folder] = max(0, last - 1) * SEGMENT_SIZE + lines
        return self._writers[folder]

    def _note(self, subject: str, error: CannotError | RefusedError) -> None:
        self._found.unread.append(
            Finding(
                code=error.code,
                subject=subject,
                expected="a commit whose tree can be read",
                actual=error.message,
                remedy=error.remedy,
                severity="unknown" if isinstance(error, CannotError) else "failure",
            )
        )


def content_of(path: str, data: bytes, config: Config) -> Seen:
    """What a file's bytes are to INV-10."""
    parsed = parse(path, data, config)
    if isinstance(parsed, Fact):
        return Seen(parsed.payload_digest, parsed.id if parsed.explicit_id else "")
    return Seen(sha256(data))


def _worktree_step(repository: Repository, reading: Reading, history: _History, head: str) -> Step:
    """The work tree as HEAD's child: the files that are not HEAD's."""
    tails = {writer: int(str(tail[0])) for writer, tail in tails_of(reading).items()}
    parents = [history.tree(repository.store.commit(head).tree)] if head else []
    changes = []
    present = set()
    for entry in reading.files.facts:
        present.add(entry.path)
        try:
            data = reading.snapshot.read(entry)
        except (CannotError, RefusedError):
            continue  # INV-2 says so
        if blob_id(data) != entry.head_oid:
            now = content_of(entry.path.decode(), data, reading.config)
            before = tuple(history.seen(entry.path, parent) for parent in parents)
            changes.append(Change(entry.path.decode(), now, before))
    for parent in parents:
        for path, _ in iter_tree(repository.store, parent.oid):
            if path not in present and (seen := history.seen(path, parent)).payload:
                changes.append(Change(path.decode(), Seen(), (seen,)))
    sides = tuple(Side(head, parent.ledger) for parent in parents)
    return Step(Side(WORKTREE, tails), sides, tuple(changes))


# Evidence: what the invariants look at.


def transition_evidence(
    repository: Repository, reading: Reading, head: str, *, live: bool
) -> TransitionEvidence:
    """What history and the ledger say of each other (INV-10)."""
    judged = judge_versions(repository, reading, head, live=live)
    entries = list(reading.ledger.ledger.entries())
    named = {name for _, e in entries if e.action == "acknowledge" for name in e.names}
    accepted = {place(entry) for digest, entry in entries if digest in named}
    faults = [_fault(fault, accepted) for fault in legality_faults(entries)]
    # What stands in the work tree and is not recorded is INV-2's to say.
    versions = [_version(v) for v in judged.versions if v.commit != WORKTREE]
    found = [*faults, *versions]
    return TransitionEvidence(
        facts=len(reading.ledger.recorded),
        versions=judged.checked,
        findings=(*(f for f in found if f.severity == "failure"), *judged.unread),
        acknowledged=tuple(f for f in found if f.severity == "warning"),
    )


def _fault(fault: Fault, accepted: set[tuple[str, int]]) -> Finding:
    finding = fault.finding()
    if (fault.path, fault.line) in accepted:
        return replace(finding, code=f"{finding.code}-acknowledged", severity="warning")
    return finding


def _version(version: Version) -> Finding:
    states = (f"{path} {payload}".strip() or "no such fact" for path, payload in version.recorded)
    code = {
        "unrecorded": "unrecorded-version",
        "acknowledged": "version-acknowledged",
        "expunged": "version-expunged",
    }[version.verdict]
    return Finding(
        code=code,
        subject=version.fact,
        path=version.path,
        expected=" or ".join(states),
        actual=f"{version.payload or 'no such fact'} in commit {version.commit}",
        remedy="syn adopt --history acknowledges it for the record"
        if version.verdict == "unrecorded"
        else "",
        severity="failure" if version.verdict == "unrecorded" else "warning",
    )


def replay_evidence(reading: Reading) -> ReplayEvidence:
    """The journal replayed in several legal orders (INV-4)."""
    done = replay(reading.ledger.ledger.entries(), reading.ledger.recorded)
    return ReplayEvidence(
        orders=done.orders,
        digests=(done.digest,),
        entries=done.entries,
        diverging=done.diverging,
        unordered=done.unordered,
    )
