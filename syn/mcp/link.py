"""The server's end of the line to its worker: questions out, replies back, one JSON object a line.

The worker reads the memory while the server speaks the protocol (ADR 0037). Should it end, what was
asked of it is an error, and the next question starts another.
"""

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

from syn.errors import CannotError


class WorkerGoneError(CannotError):
    """The worker ended before it replied."""

    def __init__(self, status: int | None) -> None:
        message = f"the process that reads the memory ended with status {status}"
        super().__init__("internal", message, "ask again: another one is started")
        self.status = status


class Link:
    """One worker at a time. Safe for several threads."""

    def __init__(self, words: Sequence[str], again: Sequence[str]) -> None:
        """Start the worker; `words` are its command line, `again` that of one in its place."""
        self._again = again
        self._lock = threading.Lock()
        self._count = 0
        self._worker = _Worker(words)

    def wait(self) -> None:
        """Wait until the worker that was started first can read.

        Raises:
            WorkerGoneError: it ended instead, and said why on stderr.
        """
        self._worker.send(0, {"ask": "ready"}).result()

    def ask(self, question: str, **details: Any) -> Any:
        """What the worker replies; waits for it.

        Raises:
            WorkerGoneError: it ended before.
        """
        with self._lock:
            self._count += 1
            if self._worker.gone.is_set():
                self._worker = _Worker(self._again)
            slot = self._worker.send(self._count, {"ask": question, **details})
        return slot.result()

    def close(self) -> None:
        """Let the worker finish what it is at, and wait for its end."""
        with self._lock:
            self._worker.close()


class _Worker:
    """One process, and who waits for its replies."""

    def __init__(self, words: Sequence[str]) -> None:
        # -P: clients start us in a project, and nothing that lies there is this program.
        command = [sys.executable, "-P", "-m", "syn.mcp.worker", *words]
        self._process = subprocess.Popen(  # noqa: S603 - ourselves, no shell
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None  # noqa: S101 - a pipe was asked for
        assert self._process.stdout is not None  # noqa: S101 - the same
        self._sink, self._source = self._process.stdin, self._process.stdout
        self._waiting: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self.gone = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def send(self, number: int, message: dict[str, Any]) -> "Future[Any]":
        """Put a question on the line; the place of its reply."""
        line = json.dumps({"n": number, **message}).encode() + b"\n"  # noqa: TID251 - not hashed
        slot: Future[Any] = Future()
        with self._lock:
            if self.gone.is_set():
                raise WorkerGoneError(self._process.poll())
            self._waiting[number] = slot
        # Where it is gone, the reader sees that too and tells whoever waits.
        with contextlib.suppress(OSError):
            self._sink.write(line)
            self._sink.flush()
        return slot

    def _read(self) -> None:
        for line in self._source:
            self._take(line)
        self._source.close()
        status = self._process.wait()
        with self._lock:
            self.gone.set()
        for slot in self._waiting.values():
            slot.set_exception(WorkerGoneError(status))

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
            number, reply = message["n"], message["reply"]
        except (ValueError, TypeError, KeyError):
            # A library that printed before the worker took its pipes.
            sys.stderr.write(line.decode("utf-8", "backslashreplace"))
            return
        with self._lock:
            slot = self._waiting.pop(number, None)
        if slot is not None:
            slot.set_result(reply)

    def close(self) -> None:
        """Close its stdin, which tells it to leave, and wait until it did."""
        with contextlib.suppress(OSError):
            self._sink.close()
        self._reader.join()
