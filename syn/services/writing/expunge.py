"""`syn expunge`: the bytes of a fact go, and a decision says so (design 10).

What can be cleared here is cleared: the work tree, what git keeps for syn, the queue, the index.
What the history of git holds is named, with the steps that take it out; nothing rewrites it here.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from syn.canon.digest import sha256
from syn.errors import RefusedError, UsageError
from syn.facts.parse import parse
from syn.git.history import changed_paths, walk
from syn.git.repository import Repository
from syn.git.write import kept_sources
from syn.ledger.build import Draft
from syn.ledger.heads import seen
from syn.model.fact import Fact
from syn.model.ledger import FACT_ACTIONS, Entry
from syn.model.recorded import Recorded
from syn.services.recall.indexing import Reading, index_path, read_workspace
from syn.services.recall.opening import reindex
from syn.services.recall.reading import stored_bytes
from syn.services.recall.reads import did_you_mean, near_names
from syn.services.workspace import Workspace
from syn.services.writing.contents import LostBytesError
from syn.services.writing.decision import Decision, FileChange
from syn.services.writing.desk import disk_bytes
from syn.services.writing.exclusive import exclusively
from syn.services.writing.pending import fact_of
from syn.services.writing.proposals import Proposal, queue
from syn.services.writing.recorder import actor, recorder
from syn.services.writing.transaction import record


@dataclass(frozen=True, slots=True)
class Expunge:
    """What an expunge would clear, for a person to look at."""

    fact: str
    path: str
    """Where the fact stands or stood last."""
    current: bool
    """Whether its file goes too; else only what it said before."""
    decisions: tuple[str, ...]
    """Entry hashes whose bytes go, sorted."""
    sources: tuple[str, ...]
    """Digests of the bytes that go, sorted."""
    kept: int
    """How many of them git keeps for syn."""
    proposals: tuple[str, ...]
    """Files of the queue that speak of the fact."""
    history: tuple[str, ...]
    """Ids of blobs with these bytes that the history of HEAD holds, sorted."""


def plan_expunge(workspace: Workspace, name: str, *, old_only: bool) -> Expunge:
    """What expunging a fact would clear.

    Raises:
        UsageError: no decision was made on such a fact, or nothing of it would go.
    """
    return _plan(workspace, read_workspace(workspace), name, old_only=old_only)


def _plan(workspace: Workspace, reading: Reading, name: str, *, old_only: bool) -> Expunge:
    state = _state(reading, name)
    decisions = _decisions(reading, state.fact)
    paths = sorted({entry.path for entry in decisions.values() if entry.path})
    keep = {state.source} if old_only else set()
    if old_only:
        decisions = {d: e for d, e in decisions.items() if e.source not in keep}
    sources = {entry.source for entry in decisions.values() if entry.source}
    if not old_only:
        sources |= set(_on_disk(reading, state.path))
    kept = _kept_of(workspace, reading, state.fact, sources, keep)
    if not sources and not kept:
        raise UsageError(
            "nothing-to-expunge", f"{state.fact}: there are no other bytes than those it has now"
        )
    return Expunge(
        fact=state.fact,
        path=state.path or paths[0],
        current=not old_only,
        decisions=tuple(sorted(d for d, e in decisions.items() if e.source)),
        sources=tuple(sorted(sources | kept)),
        kept=len(kept),
        proposals=tuple(_proposals(workspace, state.fact)),
        history=tuple(sorted(set(_blobs(workspace.repository, paths, sources | kept)))),
    )


def _state(reading: Reading, name: str) -> Recorded:
    recorded = reading.ledger.recorded
    found = recorded.get(name) or next((s for s in recorded.values() if s.path == name), None)
    if found is None:
        raise UsageError(
            "unknown-fact",
            f"no decision was made on a fact with the id {name}",
            did_you_mean(near_names(name, recorded))
            or "what was never recorded is only a file: remove it, and git's copies of it",
        )
    return found


def _decisions(reading: Reading, fact: str) -> dict[str, Entry]:
    return {
        digest: entry
        for digest, entry in reading.ledger.ledger.entries()
        if entry.fact == fact and entry.action in FACT_ACTIONS
    }


def _on_disk(reading: Reading, path: str) -> Iterator[str]:
    entry = reading.snapshot.find(path.encode()) if path else None
    if entry is not None and entry.kind == "file":
        data = disk_bytes(reading.snapshot, entry)
        yield sha256(data)
        yield sha256(stored_bytes(reading.snapshot, path, data))


def _kept_of(
    workspace: Workspace, reading: Reading, fact: str, sources: set[str], keep: set[str]
) -> set[str]:
    """Kept bytes of a fact: those that were recorded, and those that only stood in its file."""
    found = set()
    for source, data in kept_sources(workspace.repository):
        if source in keep:
            continue
        parsed = parse(f"{fact}.md", data, reading.config)
        named = isinstance(parsed, Fact) and parsed.explicit_id and parsed.id == fact
        if source in sources or named:
            found.add(source)
    return found


def _proposals(workspace: Workspace, fact: str) -> Iterator[str]:
    for item in queue(workspace):
        if isinstance(item, Proposal) and any(fact_of(c) == fact for c in item.changes):
            yield item.file


def _blobs(repository: Repository, paths: list[str], sources: set[str]) -> Iterator[str]:
    """Blobs in the history of HEAD, at the fact's paths, that hash to one of the digests."""
    head = repository.head().commit
    if head is None:
        return
    store, shallow = repository.store, repository.shallow_commits()
    prefixes = [path.encode() for path in paths]
    seen_blobs: set[str] = set()
    for commit in walk(store, [head], shallow=shallow, missing=[]):
        trees: list[str | None] = [None]
        if commit.parents and commit.oid not in shallow:
            trees = [store.commit(parent).tree for parent in commit.parents]
        for tree in trees:
            for change in changed_paths(store, tree, commit.tree, prefixes):
                for oid in (change.old_oid, change.new_oid):
                    if oid and oid not in seen_blobs:
                        seen_blobs.add(oid)
                        if sha256(store.blob(oid)) in sources:
                            yield oid


def expunge(
    workspace: Workspace, shown: Expunge, reason: str, note: Callable[[str], None]
) -> tuple[str, ...]:
    """Clear exactly what was shown and record that it is gone; returns the entries' hashes.

    Raises:
        RefusedError: it would clear something else now.
    """
    with exclusively(workspace):
        reading = read_workspace(workspace)
        plan = _plan(workspace, reading, shown.fact, old_only=not shown.current)
        if plan != shown:
            raise RefusedError(
                "out-of-date",
                f"{shown.fact}: what would go changed after it was shown",
                "look at it again and repeat the command",
            )
        decision = _decision(workspace, reading, plan, reason)
        entries = record(workspace, reading, decision, recorder(workspace))
        _clear_index(workspace, note)
    return tuple(digest for digest, _ in entries)


def _decision(workspace: Workspace, reading: Reading, plan: Expunge, reason: str) -> Decision:
    state = reading.ledger.recorded[plan.fact]
    after, prior = seen(state)
    draft = Draft(
        actor=actor(workspace),
        via="cli",
        action="expunge",
        review="named",
        fact=plan.fact,
        path=plan.path,
        after=after,
        prior=prior,
        reason=reason,
        names=plan.decisions,
    )
    if not plan.current and not state.deleted:
        draft = replace(draft, payload=state.payload, source=state.source)
    rejects = [
        Draft(
            actor=draft.actor,
            via="cli",
            action="reject",
            review="named",
            fact=plan.fact,
            proposal=f"sha256:{file.removesuffix('.json')}",
            reason=f"expunged with {plan.fact}",
        )
        for file in plan.proposals
    ]
    change = _removal(workspace, plan)
    return Decision(
        drafts=(draft, *rejects),
        changes=(change,) if change else (),
        message=reason or f"expunge {plan.fact}",
        discard=plan.proposals,
        forget=plan.sources,
    )


def _removal(workspace: Workspace, plan: Expunge) -> FileChange | None:
    path = workspace.root / plan.path
    if not plan.current or not path.exists():
        return None
    return FileChange(plan.path, None, sha256(path.read_bytes()))


def _clear_index(workspace: Workspace, note: Callable[[str], None]) -> None:
    """Build the index anew: free pages of the old file may hold what was expunged."""
    try:
        index_path(workspace).unlink(missing_ok=True)
        reindex(workspace, full=True)
    except (LostBytesError, OSError) as error:
        note(f"the index was not built anew: {error}; delete {index_path(workspace)}")


def steps(plan: Expunge) -> list[str]:
    """What a person does about the copies that git's history and other clones hold."""
    lines = ["1. Revoke the secret: whoever has a clone has it already."]
    if plan.history:
        lines += [
            "2. Take these blobs out of every branch and tag (git-filter-repo, in a fresh clone):",
            *(f"     {oid}" for oid in plan.history),
            "     git filter-repo --strip-blobs-with-ids FILE-WITH-THESE-IDS",
            "   then push with --force, and let every clone be made anew.",
        ]
    else:
        lines.append("2. The history of HEAD does not hold these bytes; other branches may.")
    return [
        *lines,
        "3. Let git forget what nothing names any more:",
        "     git reflog expire --expire=now --all && git gc --prune=now",
        "4. A rewritten history is another one: publish a new checkpoint and witness",
        "     syn checkpoint && syn witness publish; syn verify --deep lists the versions that "
        "this decision names as expunged.",
    ]
