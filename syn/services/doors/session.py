"""A reader that stays open: for a server that answers many questions (design 14).

What is handed out is checked against its Markdown each time, so an answer never serves old text,
and an agent is only handed what the ledger records. So the workspace is read anew before an answer
when the ledger, the policy, the configuration, HEAD, git's index or our index changed, and when a
hit does not check. Beside that the work tree is listed again while answers go on: after `PATIENCE`
seconds, and never for more than a tenth of the time. What is asked of the files themselves
(`Operation.files`) waits for a listing that is no older than `PATIENCE`.
"""

import contextlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic
from typing import Any, TypeAlias

from syn.errors import SynError
from syn.services.doors.operation import Operation
from syn.services.recall.answers import Answer
from syn.services.recall.indexing import index_path
from syn.services.recall.pagein import Audience
from syn.services.recall.reads import Reader, open_reader
from syn.services.workspace import Surroundings, Workspace

_Stamp: TypeAlias = tuple[str, int, int, int]
PATIENCE = 2.0
"""Seconds after which the work tree is listed again."""
SHARE = 10
"""A listing waits at least this many times as long as the one before it took."""


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
        self._cost = 0.0
        self._listing = False
        self._closed = False

    def run(self, operation: Operation, arguments: dict[str, Any]) -> Answer:
        """Answer one operation; looks again, once, when something handed out did not check.

        Raises:
            SynError: as the operation does, or the workspace cannot be read.
        """
        if operation.needs == "workspace":
            return operation.answer(self._workspace(), **arguments)
        with self._lock:
            answer = operation.answer(self._current(listed=operation.files), **arguments)
            if operation.kind == "read" and _withholds(answer):
                self._forget()
                answer = operation.answer(self._current(listed=False), **arguments)
            return answer

    def warm(self) -> None:
        """Open the workspace before anybody asks; what fails here is said when it is asked."""
        with contextlib.suppress(SynError, OSError), self._lock:
            self._current(listed=False)

    def payload_at(self, path: str) -> str:
        """The payload digest of the fact at a path, as the index of the last answer has it."""
        with self._lock:
            cell = self._reader.index.cell(path) if self._reader is not None else None
        return cell[0].payload_digest if cell else ""

    def close(self) -> None:
        """Release the index; a listing under way ends by itself and is thrown away."""
        with self._lock:
            self._closed = True
            self._forget()

    def _workspace(self) -> Workspace:
        workspace = self._open(self._clock())
        if (workspace.private_dir / "intent.json").exists():
            # Only then: a start pays for each module.
            from syn.services.writing.exclusive import settle

            settle(workspace, self._note)
        return workspace

    def _current(self, *, listed: bool) -> Reader:
        """The reader at hand, or a new one; `listed` asks for a new listing of the files."""
        age = monotonic() - self._read_at
        stale = age >= PATIENCE
        known = self._reader
        if known is None or (listed and stale) or self._mark != _marks(known.workspace):
            known = self._take(self._read())
        elif stale and age >= self._cost * SHARE and not self._listing:
            self._listing = True
            threading.Thread(target=self._list_again, daemon=True).start()
        return replace(known, workspace=replace(known.workspace, around=self._clock()))

    def _read(self) -> "_Read":
        began = monotonic()
        workspace = self._workspace()
        before = _input_stamps(workspace)
        reader = open_reader(workspace, self._note, self._audience)
        mark = (before, _stamps([index_path(workspace)]))
        return _Read(reader, mark, began, monotonic() - began)

    def _take(self, read: "_Read") -> Reader:
        """Answer from a new reading; from the one at hand, which knows more, when both are one."""
        known = self._reader
        if known is not None and read.is_as(known, self._mark):
            read.reader.index.close()
        else:
            self._forget()
            known = self._reader = read.reader
            self._mark, self._read_at, self._cost = read.mark, read.began, read.cost
        return known

    def _list_again(self) -> None:
        """Beside the answers: read the workspace, and let the next answer have it."""
        read: _Read | None = None
        try:
            read = self._read()
        except (SynError, OSError) as error:
            self._note(f"the workspace was not listed again: {error}")
        finally:
            with self._lock:
                self._listing = False
                if read is None:
                    self._read_at = monotonic()
                elif self._closed or read.began < self._read_at:
                    read.reader.index.close()
                else:
                    self._take(read)

    def _forget(self) -> None:
        if self._reader is not None:
            self._reader.index.close()
            self._reader = None


@dataclass(frozen=True, slots=True)
class _Read:
    """A reader, what it was read from, when that began and how many seconds it took."""

    reader: Reader
    mark: object
    began: float
    cost: float

    def is_as(self, other: Reader, mark: object) -> bool:
        """Whether another reader, with this mark, gives the same answers (`Reading.seen`)."""
        seen = self.reader.reading.seen
        return bool(seen) and seen == other.reading.seen and self.mark == mark


def _withholds(answer: Answer) -> bool:
    items = answer.get("items")
    found = items if isinstance(items, list) else [answer]
    return any(
        isinstance(item, dict) and item.get("withheld") not in (None, "clean") for item in found
    )


def _marks(workspace: Workspace) -> object:
    """What tells that others wrote: ledger, configuration, HEAD, git's index, our index."""
    return _input_stamps(workspace), _stamps([index_path(workspace)])


def _input_stamps(workspace: Workspace) -> list[_Stamp]:
    root, repository = workspace.root, workspace.repository
    found = _stamps([root / "synapse.toml", root / ".synapse" / "policy"])
    found += _stamps([repository.git_dir / "HEAD", repository.index_path])
    # Asked before every answer, so segments are listed in the cheapest way.
    with contextlib.suppress(OSError), os.scandir(root / ".synapse" / "ledger") as writers:
        for folder in sorted(writer.path for writer in writers):
            with contextlib.suppress(OSError), os.scandir(folder) as segments:
                found += sorted(_stamp(entry.path, entry.stat()) for entry in segments)
    return found


def _stamps(paths: list[Path]) -> list[_Stamp]:
    """Size, time and inode of each file that is there."""
    found: list[_Stamp] = []
    for path in paths:
        with contextlib.suppress(OSError):
            found.append(_stamp(str(path), path.stat()))
    return found


def _stamp(path: str, stat: os.stat_result) -> _Stamp:
    return path, stat.st_size, stat.st_mtime_ns, stat.st_ino
