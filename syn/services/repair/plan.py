"""What a repair would do: one step for each thing it can prove, and a refusal for everything else.

Derived data is derived again from its source. Bytes come back when they hash to what names them. A
torn tail of the ledger is mended when no checkpoint covers it. The rest is for a person: a plan
never turns a tampered thing clean.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from syn.errors import CannotError, RefusedError, UsageError
from syn.images.repair import Plan as ImagePlan
from syn.images.repair import plan_repair as plan_image
from syn.images.store import Image, open_image
from syn.model.finding import Verdict
from syn.model.problem import display_path
from syn.model.recorded import Recorded
from syn.services.patrol.evidence import TORN
from syn.services.patrol.fault import CellFault, Kind
from syn.services.patrol.look import Look
from syn.services.patrol.scrub import Budget, Scrub, scrub
from syn.services.recall.indexing import INDEX, read_workspace
from syn.services.recall.reading import LEDGER
from syn.services.repair.lost import find_objects
from syn.services.repair.sources import FoundObject, Replica, find_source
from syn.services.repair.tail import Tail, torn_tail
from syn.services.workspace import Workspace

Action: TypeAlias = Literal["rebuild", "restore", "fetch", "mend", "repair-image", "refuse"]
"""`rebuild`: derive the index again · `restore`: recorded bytes into the work tree, as a decision ·
`fetch`: a git object, byte for byte · `mend`: the torn last line of a segment · `repair-image`:
what `syn image repair` does · `refuse`: a person decides."""

EDITS = frozenset({"payload-changed", "id-changed"})
"""Codes of what may be a hand edit: taken back only when its path was named."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that is done, or refused, and why."""

    action: Action
    kind: Kind
    subject: str
    """A path, an object's id."""
    code: str
    """The finding that it answers; of a refusal, why it is refused."""
    detail: str = ""
    """Where bytes come from, what is cut off, what a person can do."""


@dataclass(slots=True)
class Plan:
    """The steps, and the values they need."""

    scrub: Scrub
    steps: list[Step] = field(default_factory=list)
    objects: list[FoundObject] = field(default_factory=list)
    tails: list[Tail] = field(default_factory=list)
    facts: dict[str, bytes] = field(default_factory=dict)
    """Ids of facts to restore, with bytes that git here does not have, or empty ones."""
    images: dict[str, ImagePlan] = field(default_factory=dict)
    rebuild: bool = False

    @property
    def does(self) -> bool:
        """Whether it changes anything."""
        return any(step.action != "refuse" for step in self.steps)

    @property
    def asks(self) -> bool:
        """Whether it touches more than derived data, so that a person has to agree."""
        return any(step.action not in ("refuse", "rebuild") for step in self.steps)

    @property
    def verdict(self) -> Verdict:
        """What the workspace is worth before anything is done."""
        return self.scrub.verdict


def plan_repair(
    workspace: Workspace, names: Sequence[str] = (), replicas: Sequence[Replica] = ()
) -> Plan:
    """Scrub, and plan what can be done about each fault; writes nothing but the scrub's cursor.

    Args:
        workspace: where to look.
        names: only these facts, paths or folders; a named edit is taken back.
        replicas: clones that may have what is lost here.

    Raises:
        CannotError: the workspace cannot be read.
    """
    plan = Plan(scrub(workspace, Budget()))
    faults = [found for found in plan.scrub.faults if _wanted(found, names)]
    _objects(plan, workspace, faults, replicas)
    others = [found for found in faults if found.kind != "object"]
    if not others:
        return plan
    with Look(workspace) as look:
        _Planner(plan, look, tuple(names), replicas).plan(others)
    return plan


def check_names(workspace: Workspace, names: Iterable[str]) -> None:
    """Raise `UsageError` for a name that is no fact's id, and no path or folder of anything here.

    Raises:
        UsageError: `unknown-path`.
    """
    reading = read_workspace(workspace)
    paths = {state.path for state in reading.ledger.recorded.values()}
    entries = (*reading.files.facts, *reading.inventory.evidence, *reading.inventory.ledger)
    paths |= {display_path(entry.path) for entry in entries} | {INDEX}
    for name in names:
        folder = name.rstrip("/") + "/"
        if name in reading.ledger.recorded or name in paths:
            continue
        if not any(path.startswith(folder) for path in paths):
            raise UsageError("unknown-path", f"{name}: nothing here has this id or path", "")


def _wanted(found: CellFault, names: Sequence[str]) -> bool:
    path = found.finding.path
    return not names or any(
        name in (path, found.finding.subject) or path.startswith(name.rstrip("/") + "/")
        for name in names
    )


def _objects(
    plan: Plan, workspace: Workspace, faults: list[CellFault], replicas: Sequence[Replica]
) -> None:
    objects = [found for found in faults if found.kind == "object"]
    if not objects:
        return
    elsewhere = find_objects(workspace, replicas)
    named = {found.finding.subject: found.finding.path for found in objects}
    for oid, item in sorted(elsewhere.found.items()):
        plan.objects.append(item)
        where = f"{named[oid]}: " if oid in named else ""
        detail = f"{where}{item.kind} of {len(item.data)} bytes from {item.origin}"
        plan.steps.append(Step("fetch", "object", oid, "object-lost", detail))
    for found in objects:
        oid = found.finding.subject
        if oid not in elsewhere.found:
            remedy = "--from a clone that has it; then git fsck"
            plan.steps.append(_refuse(found, "nowhere", f"no copy of {oid} here: {remedy}"))


def _refuse(found: CellFault, code: str, detail: str) -> Step:
    subject = found.finding.path or found.finding.subject
    return Step("refuse", found.kind, subject, code, detail)


@dataclass(slots=True)
class _Planner:
    plan_: Plan
    look: Look
    names: tuple[str, ...]
    replicas: Sequence[Replica]
    _done: set[str] = field(default_factory=set)

    def plan(self, faults: Iterable[CellFault]) -> None:
        for found in faults:
            if found.cls == "stale" and found.kind == "fact":
                continue  # other bytes of the same meaning: nothing is lost
            for step in self._step(found):
                # Of an image each page has a step of its own, which only the detail names.
                detail = step.detail if found.kind == "image" else ""
                key = f"{step.action} {step.subject} {step.code} {detail}"
                if key not in self._done:
                    self._done.add(key)
                    self.plan_.steps.append(step)

    def _step(self, found: CellFault) -> Iterator[Step]:
        match found.kind:
            case "index":
                yield self._index(found)
            case "ledger":
                yield self._ledger(found)
            case "fact":
                yield self._fact(found)
            case "image":
                yield from self._image(found)
            case "receipt" | "object":
                yield _refuse(found, found.finding.code, found.finding.remedy)

    def _index(self, found: CellFault) -> Step:
        if found.finding.code in ("index-locked", "ledger-shrank"):
            return _refuse(found, found.finding.code, found.finding.remedy)
        if self._broken_ledger:
            # The old index knows how far the ledger once went; a new one would not.
            detail = "the ledger that it is derived from does not hold: syn verify"
            return _refuse(found, "ledger-broken", detail)
        self.plan_.rebuild = True
        return Step("rebuild", "index", INDEX, "derived", "from the Markdown and the ledger")

    def _ledger(self, found: CellFault) -> Step:
        finding = found.finding
        if found.cls != "repairable" or finding.code != TORN:
            return _refuse(found, found.cls, finding.remedy)
        tail = torn_tail(self.look, finding.path)
        if tail is None:
            return _refuse(found, "tail-committed", f"git checkout HEAD -- {finding.path}")
        self.plan_.tails.append(tail)
        return Step("mend", "ledger", finding.path, TORN, tail.detail)

    def _fact(self, found: CellFault) -> Step:
        finding = found.finding
        if found.cls != "erasure":
            return _refuse(found, finding.code, finding.remedy)
        known = self.look.recorded_at.get(finding.path)
        refusal = self._unrestorable(found, known)
        if refusal is not None or known is None:
            return refusal or _refuse(found, "unrecorded", finding.remedy)
        source = find_source(self.look, known.fact, known.source, self.replicas)
        if source is None:
            detail = f"no bytes here hash to {known.source}: --from a clone, or a backup"
            return _refuse(found, "bytes-lost", detail)
        self.plan_.facts[known.fact] = b"" if source.here else source.data
        detail = f"{len(source.data)} bytes from {source.origin} that hash to {known.source}"
        return Step("restore", "fact", finding.path, finding.code, detail)

    def _unrestorable(self, found: CellFault, known: Recorded | None) -> Step | None:
        """Why the recorded bytes are not simply written back."""
        finding = found.finding
        path = finding.path
        if self._broken_ledger:
            detail = "the ledger that names the bytes does not hold: syn verify"
            return _refuse(found, "ledger-broken", detail)
        if known is None or known.forked:
            return _refuse(found, "unrecorded", finding.remedy)
        if path in self.look.reading.files.refused:
            return _refuse(found, finding.code, finding.remedy)
        if finding.code in EDITS and not self.names:
            detail = f"syn adopt {path} records it; syn repair {path} takes it back"
            return _refuse(found, "hand-edit", detail)
        if finding.code == "fact-missing" and (new := self._moved_to(known)):
            return _refuse(found, "hand-move", f"it lies at {new} now: syn adopt records the move")
        return None

    @property
    def _broken_ledger(self) -> bool:
        faults = self.plan_.scrub.faults
        ledger = LEDGER.decode()
        return any(
            item.kind == "ledger"
            and item.cls != "repairable"
            and item.finding.path.startswith(ledger)
            for item in faults
        )

    def _moved_to(self, known: Recorded) -> str:
        """Where the file of a missing fact seems to have been moved by hand, or ""."""
        files = self.look.reading.files
        taken = self.look.recorded_at
        for entry in (*files.new_entries, *files.facts):
            path = entry.path.decode("utf-8", "backslashreplace")
            if path in taken or entry.path in files.new_problems or entry.kind != "file":
                continue
            try:
                view = self.look.project(path, self.look.reading.snapshot.read(entry)).view
            except (CannotError, RefusedError):
                continue
            if view is not None and (view.payload == known.payload or view.id == known.fact):
                return path
        return ""

    def _image(self, found: CellFault) -> Iterator[Step]:
        path = found.finding.path
        if path in self.plan_.images or found.cls == "stale":
            return
        try:
            plan = plan_image(open_image(self._root / path), self._copies(path))
        except (CannotError, RefusedError) as error:
            yield _refuse(found, error.code, error.remedy)
            return
        self.plan_.images[path] = plan
        for step in plan.steps:
            action: Action = "refuse" if step.action == "leave" else "repair-image"
            what = f"{step.subject}: {step.action} {step.detail}".rstrip()
            yield Step(action, "image", path, step.code, what)
        if not plan.steps:
            yield _refuse(found, found.finding.code, found.finding.remedy)

    @property
    def _root(self) -> Path:
        return self.look.workspace.root

    def _copies(self, path: str) -> list[Image]:
        """The same image in the clones, as far as it can be opened there."""
        found = []
        for replica in self.replicas:
            if replica.workspace.repository.root is None:
                continue
            try:
                found.append(open_image(replica.workspace.root / path))
            except (CannotError, RefusedError, UsageError):
                continue
        return found
