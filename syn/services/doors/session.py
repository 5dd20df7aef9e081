"""A reader that stays open: for a server that answers many questions (design 14).

What is handed out is checked against its Markdown each time, so an answer never serves old text.
Whether there are new files is looked up again when the ledger, the configuration, HEAD or the
index file changed, when a hit does not check, and at the latest after `PATIENCE` seconds.
"""

import contextlib
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import monotonic
from typing import Any

from syn.services.doors.operation import Operation
from syn.services.recall.answers import Answer
from syn.services.recall.indexing import index_path
from syn.services.recall.pagein import Audience
from syn.services.recall.reads import Reader, open_reader
from syn.services.workspace import Surroundings, Workspace
from syn.services.writing.exclusive import settle

PATIENCE = 2.0
"""Seconds after which the work tree is listed again."""


class Session:
    """One workspace, read by one audience. Questions to the index are answered one at a time."""

    def __init__(
        self,
        open_workspace: Callable[[Surroundings], Workspace],
        clock: Callable[[], Surroundings],
        audience: Audience,
        note: Callable[[str], None],
    ) -> None:
        """`open_workspace` is called again whenever the workspace has to be read anew."""
        self._open = open_workspace
        self._clock = clock
        self._audience = audience
        self._note = note
        self._lock = threading.Lock()
        self._reader: Reader | None = None
        self._mark: object = None
        self._read_at = 0.0

    def run(self, operation: Operation, arguments: dict[str, Any]) -> Answer:
        """Answer one operation; looks again, once, when something handed out did not check.

        Raises:
            SynError: as the operation does, or the workspace cannot be read.
        """
        if operation.needs == "workspace":
            return operation.answer(self._workspace(), **arguments)
        with self._lock:
            answer = operation.answer(self._current(), **arguments)
            if operation.kind == "read" and _withholds(answer):
                self._forget()
                answer = operation.answer(self._current(), **arguments)
            return answer

    def payload_at(self, path: str) -> str:
        """The payload digest of the fact at a path, as the index of the last answer has it."""
        with self._lock:
            cell = self._reader.index.cell(path) if self._reader is not None else None
        return cell[0].payload_digest if cell else ""

    def close(self) -> None:
        """Release the index."""
        with self._lock:
            self._forget()

    def _workspace(self) -> Workspace:
        workspace = self._open(self._clock())
        settle(workspace, self._note)
        return workspace

    def _current(self) -> Reader:
        fresh = monotonic() - self._read_at < PATIENCE
        if self._reader is not None and fresh and self._mark == _marks(self._reader.workspace):
            now = replace(self._reader.workspace, around=self._clock())
            return replace(self._reader, workspace=now)
        self._forget()
        workspace = self._workspace()
        before = _stamps(_inputs(workspace))
        self._reader = open_reader(workspace, self._note, self._audience)
        self._mark = (before, _stamps([index_path(workspace)]))
        self._read_at = monotonic()
        return self._reader

    def _forget(self) -> None:
        if self._reader is not None:
            self._reader.index.close()
            self._reader = None


def _withholds(answer: Answer) -> bool:
    items = answer.get("items")
    found = items if isinstance(items, list) else [answer]
    return any(
        isinstance(item, dict) and item.get("withheld") not in (None, "clean") for item in found
    )


def _marks(workspace: Workspace) -> object:
    """What tells that others wrote: ledger, configuration, HEAD, git's index, our index."""
    return _stamps(_inputs(workspace)), _stamps([index_path(workspace)])


def _inputs(workspace: Workspace) -> list[Path]:
    root, repository = workspace.root, workspace.repository
    return [
        root / "synapse.toml",
        root / ".synapse" / "policy",
        repository.git_dir / "HEAD",
        repository.index_path,
        *sorted((root / ".synapse" / "ledger").glob("*/*.jsonl")),
    ]


def _stamps(paths: list[Path]) -> list[tuple[Path, int, int, int]]:
    """Size, time and inode of each file that is there."""
    found = []
    for path in paths:
        with contextlib.suppress(OSError):
            status = path.stat()
            found.append((path, status.st_size, status.st_mtime_ns, status.st_ino))
    return found
