"""An agent that talks to `python -m syn.mcp` over its pipes, line by line."""

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.workspaces import Place

PATIENCE = 90.0
"""Seconds for one answer, on a machine that does a lot beside."""
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "scripted", "version": "1"},
}


class Agent:
    """A client without a library: what it sends and reads is exactly what is on the wire."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._next = 0
        self.lines: list[bytes] = []
        """Every line the server wrote to stdout."""
        self._arrived: queue.Queue[Any] = queue.Queue()
        self._early: dict[Any, Any] = {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The server's process id."""
        return self._process.pid

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            self._arrived.put(json.loads(line))
        self._arrived.put(None)

    def send_line(self, line: bytes) -> None:
        """Put one line on the wire, whatever it holds."""
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        self._process.stdin.flush()

    def send(self, message: Mapping[str, Any]) -> None:
        """Send one JSON message."""
        self.send_line(json.dumps(message).encode())  # noqa: TID251 - a client's own JSON

    def receive(self, identity: Any) -> Any:
        """The answer to one request, whatever came before it."""
        while identity not in self._early:
            found = self._arrived.get(timeout=PATIENCE)
            assert found is not None, "the server left"
            if "id" in found:
                self._early[found["id"]] = found
        return self._early.pop(identity)

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        """One request and its answer: the whole message."""
        identity = self.start(method, params)
        return self.receive(identity)

    def start(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Send a request; its id."""
        self._next += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._next, "method": method}
        self.send({**message, "params": params} if params is not None else message)
        return self._next

    def call(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool; the result, which may be an error result."""
        answer = self.ask("tools/call", {"name": tool, "arguments": arguments})
        assert "result" in answer, answer
        return answer["result"]

    def read(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool that has to succeed; its structured content."""
        result = self.call(tool, **arguments)
        assert not result.get("isError"), result
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]

    def hello(self) -> Any:
        """The handshake."""
        answer = self.ask("initialize", HELLO)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def leave(self) -> int:
        """Close our end; the server's exit status."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        status = self._process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        return status


@contextmanager
def agent(
    place: Place, *words: str, env: Mapping[str, str] | None = None, log: Path | None = None
) -> Iterator[Agent]:
    """A server on a workspace and an agent that said hello; `log` takes the server's stderr."""
    with (log or place.root.parent / "server.log").open("ab") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "syn.mcp", str(place.root), *words],
            env={**place.env, **(env or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
        )
        found = Agent(process)
        try:
            found.hello()
            yield found
        finally:
            if process.poll() is None:
                assert process.stdin is not None
                process.stdin.close()
                try:
                    process.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()
