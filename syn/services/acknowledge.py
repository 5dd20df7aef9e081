"""`syn acknowledge` and `syn adopt --history`: accept for the record what history cannot lose.

An acknowledgement hides nothing: what it names stays listed for ever, and fails a strict run.
"""

from collections.abc import Callable
from dataclasses import dataclass

from syn.errors import CannotError, RefusedError, UsageError
from syn.git.resolve import resolve
from syn.ledger.build import Draft
from syn.ledger.entry import HashedEntry
from syn.ledger.transitions import Version
from syn.services.exclusive import exclusively
from syn.services.indexing import Reading, read_workspace
from syn.services.recorder import actor, recorder
from syn.services.transaction import Decision, record
from syn.services.undo import find_decision
from syn.services.versions import WORKTREE, judge_versions
from syn.services.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Unrecorded:
    """Versions in history that no decision explains and none acknowledges."""

    versions: tuple[Version, ...]


def plan_history(workspace: Workspace) -> Unrecorded:
    """What `syn adopt --history` would acknowledge.

    Raises:
        CannotError: some of history cannot be read, so nobody can tell what is in it.
    """
    return _plan(workspace, read_workspace(workspace))


def _plan(workspace: Workspace, reading: Reading) -> Unrecorded:
    head = workspace.repository.head().commit or ""
    judged = judge_versions(workspace.repository, reading, head, live=True)
    if judged.unread:
        first = judged.unread[0]
        raise CannotError(
            "history-unread",
            f"{first.subject}: {first.actual}",
            first.remedy or "fetch the whole history, then repeat",
        )
    found = [v for v in judged.versions if v.verdict == "unrecorded" and v.commit != WORKTREE]
    return Unrecorded(tuple(found))


def adopt_history(workspace: Workspace, shown: Unrecorded, reason: str) -> tuple[HashedEntry, ...]:
    """Acknowledge exactly the versions that were shown, as one decision.

    Raises:
        RefusedError: there are others now (`out-of-date`).
    """
    with exclusively(workspace):
        reading = read_workspace(workspace)
        if _plan(workspace, reading) != shown:
            raise RefusedError(
                "out-of-date",
                "history has other versions than those that were shown",
                "look at them again and repeat the command",
            )
        if not shown.versions:
            return ()
        drafts = tuple(_draft(workspace, version, reason) for version in shown.versions)
        message = reason or f"acknowledge {len(drafts)} unrecorded version{'s' * (len(drafts) > 1)}"
        return record(workspace, reading, Decision(drafts, message=message), recorder(workspace))


def _draft(workspace: Workspace, version: Version, reason: str) -> Draft:
    return Draft(
        actor=actor(workspace),
        via="hand",
        action="acknowledge",
        review="named",
        fact=version.fact,
        path=version.path,
        payload=version.payload,
        reason=reason,
        commit=version.commit,
    )


def acknowledge(
    workspace: Workspace, name: str, reason: str, note: Callable[[str], None]
) -> tuple[HashedEntry, ...]:
    """Accept the fault of one commit, or of one decision, by its name.

    Raises:
        UsageError: no commit and no decision is called that.
    """
    with exclusively(workspace):
        reading = read_workspace(workspace)
        commit, names = _named(workspace, reading, name)
        draft = Draft(
            actor=actor(workspace),
            via="cli",
            action="acknowledge",
            review="named",
            reason=reason,
            commit=commit,
            names=names,
        )
        note(f"acknowledges {'commit ' + commit if commit else 'decision ' + names[0]}")
        message = reason or f"acknowledge {(commit or names[0])[:19]}"
        return record(workspace, reading, Decision((draft,), message=message), recorder(workspace))


def _named(workspace: Workspace, reading: Reading, name: str) -> tuple[str, tuple[str, ...]]:
    entries = dict(reading.ledger.ledger.entries())
    if not name.startswith("sha256:"):
        try:
            return resolve(workspace.repository, name), ()
        except UsageError:
            pass
    return "", (find_decision(entries, name)[0],)
