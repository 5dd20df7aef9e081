"""`syn watch`: the index follows the files, and quiet times are used to patrol (design 14).

Nothing that is wrong with a file, the index, the ledger or the configuration ends it: it is told
once, and tried again at the next tick.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from time import monotonic
from typing import Literal, TypeAlias

from syn.errors import CannotError, SynError
from syn.facts.globs import FactGlobs
from syn.index.rows import PROBLEM, ProblemRow
from syn.index.store import open_index
from syn.model.finding import Json
from syn.services.patrol.scrub import Budget, fault_json, scrub
from syn.services.recall.indexing import Reindexed
from syn.services.recall.opening import reindex
from syn.services.workspace import Workspace

EventKind: TypeAlias = Literal[
    "watching", "branch", "reindexed", "unreadable", "readable", "new", "scrubbed", "fault", "error"
]
MAX_NEW = 20
"""New files that are told of one batch of changes."""
RECENT = timedelta(hours=1)
"""What was clean this long ago is not patrolled again yet."""
_OWN = (".synapse/index.db", ".synapse/.syn-tmp-", ".synapse/scrub")
"""Paths that we write ourselves."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened."""

    kind: EventKind
    text: str
    """For people, in one line."""
    detail: dict[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pace:
    """How eager the watch is, in seconds."""

    quiet: float = 30.0
    """Without a change for this long, a patrol begins, and again after as long."""
    scrub: float = 1.0
    """What one patrol may take; 0 makes none."""


class Watcher:
    """Takes batches of changed paths and ticks without any, and says what it did."""

    def __init__(self, open_workspace: Callable[[], Workspace], pace: Pace) -> None:
        """`open_workspace` is called for every batch: configuration and branch may be others."""
        self._open = open_workspace
        self._pace = pace
        self._pending = True
        self._last_error = ""
        self._branch: str | None = None
        self._broken: dict[str, ProblemRow] = {}
        self._told: set[str] = set()
        self._faults: set[tuple[str, str, str]] = set()
        self._calm_since = monotonic()

    def start(self, workspace: Workspace) -> Iterator[Event]:
        """The first look, at a workspace that was opened a moment ago."""
        self._branch = workspace.repository.head().branch
        detail: dict[str, Json] = {"root": str(workspace.root), "branch": self._branch}
        yield Event("watching", f"{workspace.root} on {self._branch or 'no branch'}", detail)
        yield from self._try(lambda: self._follow(workspace, (), tell=True))
        # What changed before the notifications began shows at the first tick.
        self._pending = True

    def changed(self, paths: Iterable[str]) -> Iterator[Event]:
        """What a batch of changes (absolute paths) leads to."""
        self._calm_since = monotonic()
        self._pending = True
        found = tuple(paths)
        yield from self._try(lambda: self._follow(self._open(), found))

    def tick(self) -> Iterator[Event]:
        """A moment without a change: what failed is tried again, and quiet times are used."""
        if self._pending:
            yield from self._try(lambda: self._follow(self._open(), ()))
        if self._pace.scrub and monotonic() - self._calm_since >= self._pace.quiet:
            yield from self._try(lambda: self._patrol(self._open()))
            self._calm_since = monotonic()

    def _try(self, work: Callable[[], Iterator[Event]]) -> Iterator[Event]:
        try:
            yield from work()
        except (SynError, OSError) as error:
            code = error.code if isinstance(error, SynError) else "io"
            message = error.message if isinstance(error, SynError) else str(error)
            remedy = error.remedy if isinstance(error, SynError) else ""
            if message != self._last_error:
                self._last_error = message
                detail: dict[str, Json] = {"code": code, "message": message, "remedy": remedy}
                yield Event("error", f"{message}; tried again when it is quiet", detail)

    def _follow(
        self, workspace: Workspace, paths: tuple[str, ...], *, tell: bool = False
    ) -> Iterator[Event]:
        branch = workspace.repository.head().branch
        if branch != self._branch:
            detail: dict[str, Json] = {"from": self._branch, "to": branch}
            yield Event("branch", f"{self._branch or '-'} -> {branch or '-'}", detail)
            self._branch = branch
        began = monotonic()
        done = reindex(workspace)
        self._pending = False
        self._last_error = ""
        if tell or done.mode != "none":
            yield _reindexed(done, monotonic() - began)
        yield from self._problems(done.path)
        yield from self._new(workspace, done.path, paths)

    def _problems(self, index: Path) -> Iterator[Event]:
        with open_index(index) as found:
            rows = [ProblemRow(*row) for row in found.rows(PROBLEM)]  # type: ignore[arg-type]
        broken = {row.path: row for row in reversed(rows) if row.severity == "problem"}
        for path, row in sorted(broken.items()):
            if self._broken.get(path) != row:
                where = f"{path}:{row.line}" if row.line else path
                detail: dict[str, Json] = {"path": path, "line": row.line, "code": row.code}
                detail |= {"message": row.message, "remedy": row.remedy}
                yield Event("unreadable", f"{where}: {row.message}", detail)
        for path in sorted(self._broken.keys() - broken.keys()):
            yield Event("readable", f"{path}: nothing is wrong with it any more", {"path": path})
        self._broken = broken

    def _new(self, workspace: Workspace, index: Path, paths: tuple[str, ...]) -> Iterator[Event]:
        """Files that nobody decided on: they are not indexed, which is worth a word."""
        globs, root = FactGlobs(workspace.config), workspace.root
        names = sorted({os.path.relpath(path, root) for path in paths} - self._told)
        with open_index(index) as found:
            for name in [name for name in names if globs.match(name) == "fact"][:MAX_NEW]:
                known = found.cell(name) is not None or name in self._broken
                if not known and (root / name).is_file():
                    self._told.add(name)
                    text = f"{name}: new, not indexed until syn adopt records it"
                    yield Event("new", text, {"path": name})

    def _patrol(self, workspace: Workspace) -> Iterator[Event]:
        end = monotonic() + self._pace.scrub
        done = scrub(workspace, Budget(spent=lambda: monotonic() >= end, max_age=RECENT))
        if done.checked:
            text = f"{done.checked:,} of {done.total:,} units, {len(done.faults)} faults"
            detail: dict[str, Json] = {"checked": done.checked, "total": done.total}
            yield Event("scrubbed", text, {**detail, "faults": len(done.faults)})
        for fault in done.faults:
            finding = fault.finding
            key = (finding.code, finding.path, finding.subject)
            if key not in self._faults:
                self._faults.add(key)
                text = f"{fault.cls}  {finding.path}: {finding.code}; {finding.remedy}"
                found = fault_json(fault)
                yield Event("fault", text, found if isinstance(found, dict) else {})


def _reindexed(done: Reindexed, seconds: float) -> Event:
    text = f"{done.read:,} read, {done.removed:,} removed, {done.facts:,} facts"
    return Event(
        "reindexed",
        f"{text} in {seconds:.2f} s",
        {
            "mode": done.mode,
            "read": done.read,
            "removed": done.removed,
            "facts": done.facts,
            "inputs_hash": done.inputs_hash,
        },
    )


def batches(workspace: Workspace, debounce: float, tick: float) -> Iterator[frozenset[str]]:
    """Absolute paths that changed, batch by batch; an empty batch after each `tick` without any.

    Raises:
        CannotError: the extra is not installed, or the system cannot watch the folder.
        KeyboardInterrupt: somebody interrupted.
    """
    try:
        import watchfiles
    except ImportError as error:
        raise CannotError(
            "no-watchfiles",
            "syn watch needs an extra that is not installed",
            "pip install 'synapse-memory[watch]'",
        ) from error
    wanted = _wanted(workspace)
    places = [workspace.root]
    if workspace.root not in workspace.repository.git_dir.parents:
        places.append(workspace.repository.git_dir)
    try:
        for batch in watchfiles.watch(
            *places,
            watch_filter=lambda _, path: wanted(path),
            debounce=max(1, int(debounce * 1000)),
            step=50,
            rust_timeout=max(50, int(tick * 1000)),
            yield_on_timeout=True,
        ):
            yield frozenset(path for _, path in batch)
    except (OSError, RuntimeError) as error:
        raise CannotError(
            "cannot-watch",
            f"{workspace.root} cannot be watched: {error}",
            "raise the system's limit of watches (fs.inotify.max_user_watches), or syn reindex",
        ) from error


def _wanted(workspace: Workspace) -> Callable[[str], bool]:
    """Whether a change of a path can change an answer: facts, folders, and what we keep."""
    root, globs = workspace.root, FactGlobs(workspace.config)
    git = {str(workspace.repository.git_dir / name) for name in ("HEAD", "index")}

    def wanted(path: str) -> bool:
        name = os.path.relpath(path, root)
        if path in git or name in ("synapse.toml", ".gitattributes"):
            return True
        if name.startswith((".git/", "../")):
            return False
        if name.startswith(".synapse/"):
            return not name.startswith(_OWN)
        folder = "." not in name.rpartition("/")[2]
        return folder or name.endswith(".md") or globs.match(name) == "fact"

    return wanted
