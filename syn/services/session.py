"""A reader that stays open: for a server that answers many questions (design 14).

What is handed out is checked against its Markdown each time, so an answer never serves old text.
Whether there are new files is looked up again when the ledger, the configuration, HEAD or the
index file changed, when a hit does not check, and at the latest after `PATIENCE` seconds.
"""

import contextlib
import threading
from collections.abc import Callable
from time import monotonic
from typing import Any

from syn.services.answers import Answer
from syn.services.indexing import index_path
from syn.services.operations import Operation
from syn.services.pagein import Audience
from syn.services.reads import Reader, open_reader
from syn.services.workspace import Workspace

PATIENCE = 2.0
"""Seconds after which the work tree is listed again."""


class Session:
    """One workspace, read by one audience. Calls are answered one at a time."""

    def __init__(
        self,
        open_workspace: Callable[[], Workspace],
        audience: Audience,
        note: Callable[[str], None],
    ) -> None:
        """`open_workspace` is called again whenever the workspace has to be read anew."""
        self._open = open_workspace
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
        with self._lock:
            answer = operation.run(self._current(), **arguments)
            if _withholds(answer):
                self._forget()
                answer = operation.run(self._current(), **arguments)
            return answer

    def close(self) -> None:
        """Release the index."""
        with self._lock:
            self._forget()

    def _current(self) -> Reader:
        fresh = monotonic() - self._read_at < PATIENCE
        if self._reader is not None and fresh and self._mark == _mark(self._reader.workspace):
            return self._reader
        self._forget()
        workspace = self._open()
        self._reader = open_reader(workspace, self._note, self._audience)
        self._mark = _mark(workspace)
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


def _mark(workspace: Workspace) -> object:
    """Sizes and times of what tells that others wrote: ledger, configuration, HEAD, index."""
    root = workspace.root
    watched = [
        root / "synapse.toml",
        root / ".synapse" / "policy",
        workspace.repository.git_dir / "HEAD",
        workspace.repository.index_path,
        index_path(workspace),
        *sorted((root / ".synapse" / "ledger").glob("*/*.jsonl")),
    ]
    marks = []
    for path in watched:
        with contextlib.suppress(OSError):
            status = path.stat()
            marks.append((path, status.st_size, status.st_mtime_ns, status.st_ino))
    return marks
