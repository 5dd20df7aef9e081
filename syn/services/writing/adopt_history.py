"""`syn adopt --history`: accept for the record the versions that were committed without one.

An acknowledgement hides nothing: what it names stays listed for ever, and fails a strict run.
"""

from dataclasses import dataclass

from syn.errors import CannotError, RefusedError
from syn.ledger.build import Draft
from syn.ledger.entry import HashedEntry
from syn.ledger.transitions import Version
from syn.services.proving.versions import WORKTREE, judge_versions
from syn.services.recall.indexing import Reading, read_workspace
from syn.services.workspace import Workspace
from syn.services.writing.acknowledge import require_admin
from syn.services.writing.decision import Decision
from syn.services.writing.exclusive import exclusively
from syn.services.writing.recorder import actor, recorder
from syn.services.writing.transaction import record


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
        NotAdminError: there is a policy, and no key here is its admin.
    """
    with exclusively(workspace):
        require_admin(workspace)
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
        decision = Decision(drafts, message=message)
        return record(workspace, reading, decision, recorder(workspace, "admin"))


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
