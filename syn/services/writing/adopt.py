"""`syn adopt`: record what people did to the files by hand, as decisions (design 10)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from syn.canon.digest import sha256
from syn.errors import RefusedError, UsageError
from syn.facts.globs import escape
from syn.index.store import Index
from syn.ledger.build import Draft
from syn.ledger.entry import HashedEntry
from syn.ledger.heads import seen, workspace_heads
from syn.model.finding import Json
from syn.model.ledger import Action, Review
from syn.model.problem import Problem
from syn.services.config import FILE_NAME, add_excludes
from syn.services.recall.edits import Edit, Edits, find_edits
from syn.services.recall.fielddiff import changes_json
from syn.services.recall.indexing import Progress, Reading
from syn.services.recall.opening import open_current
from syn.services.workspace import Workspace
from syn.services.writing.adopt_gate import Judgement, check_named, judge_edits
from syn.services.writing.decision import Decision, FileChange
from syn.services.writing.exclusive import exclusively
from syn.services.writing.recorder import actor, recorder
from syn.services.writing.transaction import record
from syn.services.writing.writes import reason_json, refresh

NOTHING_AGAINST = Judgement((), False)
MASS = 10
"""An adopt that records more than one in this many facts as gone needs that said."""


class UnreadableFactsError(RefusedError):
    """Facts that cannot be read are never recorded."""

    def __init__(self, problems: tuple[Problem, ...]) -> None:
        first = problems[0]
        more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
        place = f"{first.path}:{first.line}" if first.line else first.path
        super().__init__(
            "unreadable-facts",
            f"{place}: {first.message}{more}",
            "correct them (syn doctor lists them all), or --skip-unreadable excludes them visibly",
        )
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Adoption:
    """What an adopt would record, for a person to look at."""

    edits: tuple[Edit, ...]
    unreadable: tuple[Problem, ...]
    judgement: Judgement = NOTHING_AGAINST
    """What the gate says of the edits."""

    @property
    def gone(self) -> int:
        """Facts that would be recorded as deleted."""
        return sum(edit.kind == "gone" for edit in self.edits)


@dataclass(frozen=True, slots=True)
class Consent:
    """How far the caller agrees."""

    review: Literal["seen", "unreviewed"]
    reason: str = ""
    skip_unreadable: bool = False
    deletes: bool = False


def plan_adopt(
    workspace: Workspace,
    paths: Iterable[str],
    note: Callable[[str], None],
    progress: Progress | None = None,
) -> Adoption:
    """What `syn adopt PATHS` would record; with no path, everything.

    Raises:
        UsageError: a path names no file that differs from its record and none that is recorded.
    """
    index, reading = open_current(workspace, note, progress, only_reads=True)
    with index:
        return _plan(workspace, reading, index, _clean(paths))


def _clean(paths: Iterable[str]) -> tuple[str, ...]:
    """Paths as people type them, from the root: without `./` and a final `/`."""
    return tuple(dict.fromkeys(path.removeprefix("./").rstrip("/") for path in paths))


def _plan(workspace: Workspace, reading: Reading, index: Index, paths: tuple[str, ...]) -> Adoption:
    plan = _choose(reading, find_edits(reading, index), paths)
    judgement = judge_edits(workspace.repository, reading, index, plan.edits)
    return replace(plan, judgement=judgement)


def _choose(reading: Reading, found: Edits, paths: tuple[str, ...]) -> Adoption:
    if not paths:
        return Adoption(found.edits, found.unreadable)
    for path in paths:
        _known(reading, found, path)
    return Adoption(
        edits=tuple(e for e in found.edits if _under(paths, e.path) or _under(paths, e.was)),
        unreadable=tuple(p for p in found.unreadable if _under(paths, p.path)),
    )


def _known(reading: Reading, found: Edits, path: str) -> None:
    names = (
        *(edit.path for edit in found.edits),
        *(edit.was for edit in found.edits if edit.was),
        *(problem.path for problem in found.unreadable),
        *(entry.path.decode("utf-8", "replace") for entry in reading.files.facts),
        *("synapse.toml", ".synapse/policy"),
    )
    if not any(_under((path,), name) for name in names):
        raise UsageError(
            "unknown-path",
            f"{path}: no fact, new file or folder of facts has this path",
            "syn status lists what can be adopted; facts are what facts.include matches",
        )


def _under(paths: tuple[str, ...], path: str) -> bool:
    return any(path == name or path.startswith(name.rstrip("/") + "/") for name in paths)


def adopt(
    workspace: Workspace,
    shown: Adoption,
    paths: Iterable[str],
    consent: Consent,
    note: Callable[[str], None],
    progress: Progress | None = None,
) -> tuple[HashedEntry, ...]:
    """Record exactly what was shown.

    Returns the entries; none when there is nothing to record.

    Raises:
        UnreadableFactsError: a fact cannot be read, and `skip_unreadable` was not said.
        UnnamedError: the gate holds changes whose paths are not named.
        RefusedError: the files changed after they were shown (`out-of-date`), or too many facts
            would be recorded as gone (`mass-delete`).
    """
    named = _clean(paths)
    with exclusively(workspace):
        index, reading = open_current(workspace, note)
        with index:
            plan = _plan(workspace, reading, index, named)
        if plan != shown:
            raise RefusedError(
                "out-of-date",
                "the files changed after they were shown",
                "look at syn status again and repeat the command",
            )
        if plan.unreadable and not consent.skip_unreadable:
            raise UnreadableFactsError(plan.unreadable)
        _refuse_mass_delete(reading, plan, consent)
        check_named(plan.judgement, named)
        entries = _record(workspace, reading, plan, named, consent, progress)
        if entries:
            refresh(workspace, note)
        return entries


def adoption_json(plan: Adoption) -> dict[str, Json]:
    """What an adopt would record, for programs."""
    fields = dict(plan.judgement.fields)
    return {
        "edits": [
            {
                "kind": edit.kind,
                "id": edit.id,
                "path": edit.path,
                **({"was": edit.was} if edit.was else {}),
                **({"fields": changes_json(fields[edit.path])} if edit.path in fields else {}),
            }
            for edit in plan.edits
        ],
        "class": plan.judgement.verdict.kind,
        "reasons": [
            {**reason_json(reason), "path": path} for path, reason in plan.judgement.reasons
        ],
        "must_be_named": [*dict.fromkeys(path for path, _ in plan.judgement.held)],
    }


def _refuse_mass_delete(reading: Reading, plan: Adoption, consent: Consent) -> None:
    if plan.gone <= 1 or consent.deletes:
        return
    live = sum(not state.deleted for state in reading.ledger.recorded.values())
    if plan.gone * MASS > live:
        raise RefusedError(
            "mass-delete",
            f"{plan.gone} of {live} facts would be recorded as gone",
            "--deletes says that this is meant; syn restore brings files back",
        )


def _record(
    workspace: Workspace,
    reading: Reading,
    plan: Adoption,
    named: tuple[str, ...],
    consent: Consent,
    progress: Progress | None,
) -> tuple[HashedEntry, ...]:
    edits = list(plan.edits)
    changes: tuple[FileChange, ...] = ()
    if plan.unreadable:
        change = _exclude(workspace, plan)
        changes = (change,)
        config = Edit("config", change.path, change.path, source=sha256(change.data or b""))
        edits = [edit for edit in edits if edit.kind != "config"] + [config]
    if not edits:
        return ()
    reviews: list[Review] = [
        "named" if {edit.path, edit.was} & {*named} else consent.review for edit in edits
    ]
    drafts = [
        _draft(workspace, reading, edit, review, consent.reason)
        for edit, review in zip(edits, reviews, strict=True)
    ]
    touched = [path for edit in edits for path in (edit.path, edit.was) if path]
    decision = Decision(
        drafts=tuple(drafts),
        changes=changes,
        adopted=tuple(dict.fromkeys(touched)),
        message=consent.reason or _message(edits),
    )
    # A change of the policy counts only under an admin's signature.
    policy = any(edit.kind == "policy" for edit in edits)
    who = recorder(workspace, "admin") if policy else recorder(workspace)
    return record(workspace, reading, decision, who, progress)


def _exclude(workspace: Workspace, plan: Adoption) -> FileChange:
    """The configuration with the unreadable files in `exclude`, where everybody sees them."""
    data = (workspace.root / FILE_NAME).read_bytes()
    patterns = sorted({escape(problem.path) for problem in plan.unreadable})
    return FileChange(FILE_NAME, add_excludes(data, patterns), sha256(data))


_ACTIONS: dict[str, Action] = {
    "new": "create",
    "unrecorded": "create",
    "changed": "update",
    "reformatted": "update",
    "moved": "move",
    "gone": "delete",
    "forked": "update",
    "config": "config",
    "policy": "policy",
}


def _draft(
    workspace: Workspace, reading: Reading, edit: Edit, review: Review, reason: str
) -> Draft:
    if edit.kind in ("config", "policy"):
        return _control_draft(workspace, reading, edit, review, reason)
    state = reading.ledger.recorded.get(edit.id)
    after, prior = seen(state)
    action = _ACTIONS[edit.kind]
    if action == "move" and state is not None and state.payload != edit.payload:
        action = "update"
    gone = edit.kind == "gone"
    return Draft(
        actor=actor(workspace),
        via="hand",
        action=action,
        review=review,
        fact=edit.id,
        path=edit.path,
        payload="" if gone else edit.payload,
        source="" if gone else edit.source,
        taint="external" if edit.external and not gone else "",
        after=after,
        prior=prior,
        reason=reason,
    )


def _control_draft(
    workspace: Workspace, reading: Reading, edit: Edit, review: Review, reason: str
) -> Draft:
    heads = workspace_heads(reading.ledger.ledger.entries(), edit.kind)
    return Draft(
        actor=actor(workspace),
        via="hand",
        action=_ACTIONS[edit.kind],
        review=review,
        path=edit.path,
        source=edit.source,
        after=tuple(digest for digest, _ in heads),
        prior=tuple("" for _ in heads),
        reason=reason,
    )


def _message(edits: list[Edit]) -> str:
    if len(edits) == 1:
        return f"adopt {edits[0].path}"
    return f"adopt {len(edits)} changes"
