"""Carrying a repair out: a backup first, the least derived first, and a look at everything after.

Each stage takes the repository's lock for itself and looks again at what it was planned on, so a
file that changed in between is left alone.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from syn.errors import RefusedError, SynError
from syn.git import durable
from syn.git.loose import loose_path
from syn.git.write import keep_blobs
from syn.images.repair import apply_repair
from syn.images.store import open_image
from syn.ledger.entry import HashedEntry
from syn.model.finding import Json, Verdict
from syn.model.ledger import Review
from syn.services.patrol.scrub import Budget, Scrub, scrub, scrub_json
from syn.services.recall.indexing import index_path
from syn.services.recall.opening import reindex
from syn.services.repair.lost import damaged_file, put_back
from syn.services.repair.plan import Plan, Step
from syn.services.repair.tail import Tail
from syn.services.workspace import Workspace, find_workspace, stamp
from syn.services.writing.exclusive import exclusively
from syn.services.writing.restore import restore
from syn.services.writing.writes import Terms

Note = Callable[[str], None]
BACKUPS = "backup"
"""Folder below `<common git dir>/synapse` for what a repair replaced."""


@dataclass(slots=True)
class Repaired:
    """What a repair did."""

    plan: Plan
    backup: Path | None = None
    """Where the replaced bytes are; None when nothing was replaced."""
    entries: tuple[HashedEntry, ...] = ()
    """The `restore` decisions."""
    failed: list[Step] = field(default_factory=list)
    """Steps that could not be carried out, as refusals that say why."""
    after: Scrub | None = None

    @property
    def verdict(self) -> Verdict:
        """What the workspace is worth now."""
        return self.plan.verdict if self.after is None else self.after.verdict


def repair(workspace: Workspace, plan: Plan, review: Review, note: Note) -> Repaired:
    """Carry a plan out and scrub again; a stage that fails is said and stops no other."""
    done = Repaired(plan)
    if not plan.does:
        return done
    work = _Work(workspace, done, note)
    work.stage("object", work.objects)
    work.stage("ledger", work.tails)
    work.stage("index", work.index)
    work.stage("fact", lambda: work.facts(review))
    work.stage("image", work.images)
    done.after = scrub(_anew(workspace), Budget())
    return done


def _anew(workspace: Workspace) -> Workspace:
    """The workspace from new handles, which know of no object that was not there before."""
    return find_workspace(workspace.root, workspace.around)


@dataclass(slots=True)
class _Work:
    workspace: Workspace
    done: Repaired
    note: Note

    def stage(self, kind: str, carry_out: Callable[[], None]) -> None:
        """Run one stage; what stops it becomes a refusal of its steps."""
        steps = [s for s in self.done.plan.steps if s.kind == kind and s.action != "refuse"]
        if not steps:
            return
        try:
            carry_out()
        except SynError as error:
            why = f"{error.message}; {error.remedy}".rstrip("; ")
            self.done.failed += [Step("refuse", s.kind, s.subject, error.code, why) for s in steps]

    def objects(self) -> None:
        """Put lost objects back; a damaged loose file goes into the backup."""
        repository = self.workspace.repository
        with exclusively(self.workspace):
            for found in self.done.plan.objects:
                damaged = damaged_file(repository, found.oid)
                if damaged is not None:
                    self._keep(str(loose_path(Path("objects"), found.oid)), damaged)
                put_back(repository, found)
        self.workspace = _anew(self.workspace)

    def tails(self) -> None:
        """Mend torn segments."""
        with exclusively(self.workspace):
            for tail in self.done.plan.tails:
                self._mend(tail)

    def _mend(self, tail: Tail) -> None:
        root = self.workspace.root
        if (root / tail.path).read_bytes() != tail.before:
            raise RefusedError("out-of-date", f"{tail.path} changed meanwhile", "plan again")
        self._keep(tail.path, tail.before)
        if tail.after is None:
            durable.remove(root, tail.path.encode())
        else:
            durable.replace(root, tail.path.encode(), tail.after)

    def index(self) -> None:
        """Derive the index anew; the old file goes into the backup."""
        path = index_path(self.workspace)
        try:
            self._keep("index.db", path.read_bytes())
        except OSError as error:
            self.note(f"the old index is not kept: {error.strerror}")
        reindex(self.workspace, full=True)

    def facts(self, review: Review) -> None:
        """Write recorded bytes back, as one decision; git keeps what stood there."""
        facts = self.done.plan.facts
        with exclusively(self.workspace):
            keep_blobs(self.workspace.repository, (data for data in facts.values() if data))
        terms = Terms(reason="syn repair: recorded bytes", review=review)
        self.done.entries = restore(self.workspace, sorted(facts), terms, self.note).entries

    def images(self) -> None:
        """What `syn image repair` does; each image keeps its own backup."""
        for path, plan in sorted(self.done.plan.images.items()):
            apply_repair(open_image(self.workspace.root / path), plan)

    def _keep(self, name: str, data: bytes) -> None:
        if self.done.backup is None:
            self.done.backup = _backup_folder(self.workspace)
        durable.make_folders(self.done.backup)
        durable.replace(self.done.backup, name.encode(), data)


def _backup_folder(workspace: Workspace) -> Path:
    """A folder that is not there yet, named by the instant."""
    name = "".join(c for c in stamp(workspace.around.now) if c.isalnum())
    folder = workspace.shared_dir / BACKUPS / name
    number = 1
    while folder.exists():
        number += 1
        folder = workspace.shared_dir / BACKUPS / f"{name}-{number}"
    return folder


SCHEMA = "synapse.repair/1"


def repair_json(plan: Plan, done: Repaired | None) -> dict[str, Json]:
    """A plan, and what became of it, as one JSON object."""
    failed = done.failed if done else []
    after = done.after if done else None
    return {
        "schema": SCHEMA,
        "dry_run": done is None,
        "verdict": done.verdict if done else plan.verdict,
        "steps": [_step_json(step) for step in plan.steps],
        "failed": [_step_json(step) for step in failed],
        "backup": str(done.backup) if done and done.backup else None,
        "decisions": [digest for digest, _ in done.entries] if done else [],
        "after": scrub_json(after) if after else None,
    }


def _step_json(step: Step) -> Json:
    return {
        "action": step.action,
        "kind": step.kind,
        "subject": step.subject,
        "code": step.code,
        "detail": step.detail,
    }
