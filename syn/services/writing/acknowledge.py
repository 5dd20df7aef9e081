"""`syn acknowledge`: accept, for the record, a fault that history cannot lose (design 6)."""

import contextlib
from collections.abc import Sequence

from syn.errors import UsageError
from syn.git.resolve import resolve
from syn.ledger.build import Draft
from syn.ledger.entry import HashedEntry
from syn.services.recall.indexing import Reading, read_workspace
from syn.services.trust.policy import head_policy, own_key
from syn.services.trust.policy_change import NotAdminError
from syn.services.workspace import Workspace
from syn.services.writing.decision import Decision
from syn.services.writing.exclusive import exclusively
from syn.services.writing.recorder import actor, recorder
from syn.services.writing.transaction import record
from syn.services.writing.undo import find_decision


def acknowledge(
    workspace: Workspace, subjects: Sequence[str], reason: str
) -> tuple[HashedEntry, ...]:
    """Record that these commits (by any name) and entries (by hash) are accepted as they are.

    Raises:
        UsageError: one of them is not here, or none was given.
        NotAdminError: there is a policy, and no key here is its admin.
    """
    if not subjects:
        raise UsageError("nothing-named", "expected a commit or an entry hash")
    with exclusively(workspace):
        require_admin(workspace)
        reading = read_workspace(workspace)
        drafts = tuple(_draft(workspace, reading, subject, reason) for subject in subjects)
        message = reason or f"acknowledge {', '.join(subjects)}"[:200]
        decision = Decision(drafts, message=message)
        return record(workspace, reading, decision, recorder(workspace, "admin"))


def require_admin(workspace: Workspace) -> None:
    """Refuse where there is a policy and no key here is its admin.

    Raises:
        NotAdminError: that is so.
    """
    if head_policy(workspace) is not None and own_key(workspace, "admin") is None:
        raise NotAdminError


def _draft(workspace: Workspace, reading: Reading, subject: str, reason: str) -> Draft:
    commit = ""
    if not subject.startswith("sha256:"):
        with contextlib.suppress(UsageError):
            commit = resolve(workspace.repository, subject)
    entries = dict(reading.ledger.ledger.entries())
    names = () if commit else (find_decision(entries, subject)[0],)
    return Draft(
        actor=actor(workspace),
        via="cli",
        action="acknowledge",
        review="named",
        commit=commit,
        names=names,
        reason=reason,
    )
