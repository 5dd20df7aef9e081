"""The server from cold: seconds from the start of `syn mcp` to each of its first answers.

Then many searches over the same pipes: p50, p95 and the slowest, in ms of wall time.
"""

import json
import os
import random  # noqa: TID251 - seeded below: every run asks the same questions
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from tests.bench.generate import WORDS
from tests.bench.measure import Figure

QUESTIONS = 1_000
_CLIENT = {"name": "bench", "version": "1"}
_OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}


@dataclass(frozen=True, slots=True)
class Start:
    """One cold start, in seconds from before the process was made."""

    opened: float
    """Until the answer to `initialize`."""
    answered: float
    """Until the answer to the first search."""
    cpu: float
    """Processor time of the server and all it started, to its end."""
    memory: int
    """Peak resident bytes of the greater of its two processes."""


class Client:
    """The least that speaks the protocol: one request, one answer, lines of JSON."""

    def __init__(self, command: list[str], cwd: Path, env: Mapping[str, str]) -> None:
        self.began = perf_counter()
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The result of one request; an error stops the bench."""
        self._number += 1
        self._send({"id": self._number, "method": method, "params": params})
        assert self._process.stdout is not None
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        result: dict[str, Any] = found["result"]
        if found["id"] != self._number or result.get("isError"):
            raise RuntimeError(f"{method}: {found}")
        return result

    def open(self) -> None:
        """The handshake."""
        self.ask("initialize", _OPENING)
        self._send({"method": "notifications/initialized"})

    def search(self, words: str) -> dict[str, Any]:
        """The answer to one search."""
        return self.ask("tools/call", {"name": "search", "arguments": {"words": words}})

    def close(self) -> tuple[float, int]:
        """Leave; the processor seconds and the peak bytes of the server."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        if self._process.returncode:
            raise RuntimeError(f"the server left with {self._process.returncode}")
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        line = json.dumps({"jsonrpc": "2.0", **message})  # noqa: TID251 - a client's line
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()


def cold_start(root: Path, env: Mapping[str, str]) -> Start:
    """One server, from its start to its first search and its end."""
    client = Client([sys.executable, "-m", "syn", "-C", str(root), "mcp"], root, env)
    client.open()
    opened = perf_counter() - client.began
    client.search("refund")
    answered = perf_counter() - client.began
    cpu, memory = client.close()
    return Start(opened, answered, cpu, memory)


def cold_starts(root: Path, env: Mapping[str, str], runs: int) -> Start:
    """The medians of several cold starts; the first one fills the system's caches."""
    cold_start(root, env)
    found = [cold_start(root, env) for _ in range(runs)]
    return Start(
        median(start.opened for start in found),
        median(start.answered for start in found),
        median(start.cpu for start in found),
        max(start.memory for start in found),
    )


def mcp_figures(root: Path, env: Mapping[str, str], runs: int) -> list[Figure]:
    """Two rows: until the handshake is answered, and until the first search is."""
    start = cold_starts(root, env, runs)
    return [
        Figure("syn mcp (cold, handshake)", start.opened, start.cpu, start.memory, runs),
        Figure("syn mcp (cold, first search)", start.answered, start.cpu, start.memory, runs),
    ]


def search_times(root: Path, env: Mapping[str, str], count: int = QUESTIONS) -> list[float]:
    """Milliseconds of wall time of that many searches for one or two words, sorted."""
    chance = random.Random(1)
    client = Client([sys.executable, "-m", "syn", "-C", str(root), "mcp"], root, env)
    client.open()
    client.search("refund")
    times = []
    for number in range(count):
        words = " ".join(chance.sample(WORDS, 1 + number % 2))
        began = perf_counter()
        client.search(words)
        times.append((perf_counter() - began) * 1000)
    client.close()
    return sorted(times)


def main(root: str, runs: int = 5) -> None:
    """Print both for one workspace."""
    env = dict(os.environ)  # noqa: TID251 - a port
    start = cold_starts(Path(root), env, runs)
    print(f"initialize answered after {start.opened:.2f} s, a search after {start.answered:.2f} s")
    print(f"{start.cpu:.2f} s of processor, {start.memory / 1e6:.0f} MB")
    times = search_times(Path(root), env)
    at = [times[len(times) // 2], times[len(times) * 95 // 100], times[-1]]
    print("{} searches: p50 {:.1f} ms, p95 {:.1f} ms, slowest {:.0f} ms".format(len(times), *at))


if __name__ == "__main__":
    main(sys.argv[1])
