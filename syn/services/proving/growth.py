"""Whether ledger, heads, policy and receipts only grew, along parent edges and to the work tree."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from syn.errors import CannotError, RefusedError
from syn.git.history import changed_paths, parent_of
from syn.git.objects import ObjectStore
from syn.git.parse import Commit, blob_id
from syn.git.repository import Repository
from syn.ledger.growth import growth_faults
from syn.model.finding import Finding
from syn.model.problem import display_path
from syn.services.proving.policy_growth import committed_change, uncommitted_change
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import HEADS, LEDGER, POLICY, RECEIPTS, read_plain
from syn.services.writing.writer import Writers
from syn.verify.evidence import GrowthEvidence

_EVIDENCE = b".synapse"
_ACKNOWLEDGE = (
    "bring the lines back from the parent commit; or, when history cannot lose it, "
    "syn acknowledge {commit} accepts it for the record"
)


@dataclass(slots=True)
class _Walk:
    """One walk over history; memory holds the ids seen and what was found."""

    store: ObjectStore
    acknowledged: frozenset[str]
    edges: int = 0
    commits: int = 0
    findings: list[Finding] = field(default_factory=list)


def history_growth(
    repository: Repository, head: str, acknowledged: frozenset[str], *, deep: bool
) -> GrowthEvidence:
    """Compare the evidence files along parent edges from a commit.

    Without `deep` the walk ends where a commit holds no ledger; with it every edge is compared.
    """
    walk = _Walk(repository.store, acknowledged)
    shallow = repository.shallow_commits()
    seen = {head}
    pending: list[Commit] = []
    if commit := _commit(walk, head):
        pending.append(commit)
    while pending:
        child = pending.pop()
        walk.commits += 1
        ledger = _evidence_tree(walk, child)
        for number, oid in enumerate(child.parents):
            parent = _parent(walk, child, number, shallow)
            if parent is None:
                continue
            # Before the ledger began there is nothing to lose; where it is gone, there was.
            if not deep and not ledger and not _evidence_tree(walk, parent):
                continue
            walk.edges += 1
            _edge(walk, parent, child)
            if oid not in seen:
                seen.add(oid)
                pending.append(parent)
    return GrowthEvidence(walk.edges, walk.commits, deep, tuple(walk.findings))


def _commit(walk: _Walk, oid: str) -> Commit | None:
    try:
        return walk.store.commit(oid)
    except (CannotError, RefusedError) as error:
        walk.findings.append(_unread(oid, error))
        return None


def _parent(walk: _Walk, child: Commit, number: int, shallow: frozenset[str]) -> Commit | None:
    try:
        return parent_of(walk.store, child, number, shallow)
    except (CannotError, RefusedError) as error:
        walk.findings.append(_unread(child.parents[number], error))
        return None


def _unread(subject: str, error: CannotError | RefusedError) -> Finding:
    return Finding(
        code=error.code,
        subject=subject,
        expected="a commit that can be read",
        actual=error.message,
        remedy=error.remedy,
        severity="unknown" if isinstance(error, CannotError) else "failure",
    )


def _evidence_tree(walk: _Walk, commit: Commit) -> str | None:
    """The id of `.synapse/ledger` in a commit, "" when there is none, None when unreadable."""
    try:
        item = walk.store.find(commit.tree, LEDGER.rstrip(b"/"))
    except (CannotError, RefusedError) as error:
        walk.findings.append(_unread(commit.oid, error))
        return None
    return item.oid if item is not None else ""


def _edge(walk: _Walk, parent: Commit, child: Commit) -> None:
    if parent.tree == child.tree:
        return
    try:
        for change in changed_paths(walk.store, parent.tree, child.tree, [_EVIDENCE]):
            old = walk.store.blob(change.old_oid) if change.old_oid else None
            new = walk.store.blob(change.new_oid) if change.new_oid else None
            for found in shrunk(change.path, old, new, f"commit {child.oid[:12]}"):
                walk.findings.append(_judged(walk, found, child.oid))
            if change.path == POLICY and old is not None and new is not None and old != new:
                for found in committed_change(walk.store, child, parent.oid, old, new):
                    walk.findings.append(_judged(walk, found, child.oid))
    except (CannotError, RefusedError) as error:
        walk.findings.append(_unread(child.oid, error))


def _judged(walk: _Walk, finding: Finding, commit: str) -> Finding:
    if commit in walk.acknowledged:
        return replace(finding, code=f"{finding.code}-acknowledged", severity="warning")
    return replace(finding, remedy=_ACKNOWLEDGE.format(commit=commit[:12]))


def shrunk(path: bytes, old: bytes | None, new: bytes | None, where: str) -> Iterator[Finding]:
    """What contradicts that one evidence file only grew.

    Args:
        path: from the root.
        old: bytes before; None when the file was not there.
        new: bytes after; None when it is gone.
        where: the commit or the work tree, for the reader.
    """
    shown = display_path(path)
    if old is None or path.endswith(b".checkpoint"):
        return
    if path.startswith((LEDGER, HEADS)):
        subject = shown.split("/")[2].removesuffix(".jsonl")
        for fault in growth_faults(shown, subject, old, new):
            found = fault.finding()
            yield replace(found, actual=f"{found.actual} in {where}")
    elif path.startswith((RECEIPTS, POLICY)) and new != old and (new is None or path != POLICY):
        yield Finding(
            code="evidence-removed" if new is None else "evidence-rewritten",
            subject=shown,
            path=shown,
            expected="the file as it was before",
            actual=f"{'gone' if new is None else 'changed'} in {where}",
            remedy=f"bring it back: git checkout HEAD -- {shown}",
        )


def worktree_growth(repository: Repository, reading: Reading) -> tuple[Finding, ...]:
    """Compare the work tree's evidence files with HEAD's."""
    tree = repository.head_tree()
    if tree is None:
        return ()
    here = {
        entry.path: entry
        for entry in (
            *reading.inventory.ledger,
            *reading.inventory.policy,
            *reading.inventory.evidence,
        )
    }
    return tuple(_worktree_faults(repository.store, tree, reading, here))


def _worktree_faults(
    store: ObjectStore, tree: str, reading: Reading, here: Mapping[bytes, object]
) -> Iterator[Finding]:
    for change in changed_paths(store, None, tree, [_EVIDENCE]):
        try:
            entry = here.get(change.path)
            data = None
            if entry is not None:
                data = read_plain(reading.snapshot, entry)  # type: ignore[arg-type]
                if blob_id(data) == change.new_oid:
                    continue
            before = store.blob(change.new_oid)
            yield from shrunk(change.path, before, data, "the work tree")
            if change.path == POLICY and data is not None:
                yield from uncommitted_change(reading, before, data)
        except (CannotError, RefusedError) as error:
            yield _unread(display_path(change.path), error)


def unborn_growth(writers: Writers, reading: Reading) -> tuple[Finding, ...]:
    """On an unborn branch the work tree's own record of its tails stands for HEAD."""
    chains = {chain.writer: chain for chain in reading.ledger.ledger.chains}
    found = []
    for writer, (length, head) in sorted(writers.tails.items()):
        chain = chains.get(writer)
        if chain is None or chain.hash_at(length) != head:
            found.append(
                Finding(
                    code="evidence-shrank",
                    subject=writer,
                    path=f".synapse/ledger/{writer}",
                    expected=f"{length} entries that end in {head}",
                    actual=f"{chain.tail.length if chain else 0} entries",
                    remedy="this work tree wrote them: restore the segment from a copy",
                )
            )
    return tuple(found)
