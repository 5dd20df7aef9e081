"""Whole processes, timed: wall, processor time and peak memory, as medians of several runs."""

import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import monotonic


@dataclass(frozen=True, slots=True)
class Sample:
    """One process."""

    wall: float
    """Seconds."""
    cpu: float
    """Seconds of user and system time."""
    memory: int
    """Peak resident bytes."""
    status: int


@dataclass(frozen=True, slots=True)
class Figure:
    """The medians of several runs of one command."""

    name: str
    wall: float
    cpu: float
    memory: int
    runs: int


def run_once(command: Sequence[str], cwd: Path, env: Mapping[str, str]) -> Sample:
    """Run a command to its end; its output goes nowhere."""
    with tempfile.TemporaryFile() as sink:
        began = monotonic()
        process = subprocess.Popen(command, cwd=cwd, env=env, stdout=sink, stderr=sink)
        _, status, usage = os.wait4(process.pid, 0)
        wall = monotonic() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    return Sample(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, process.returncode)


def figure(
    name: str,
    command: Sequence[str],
    cwd: Path,
    env: Mapping[str, str],
    *,
    runs: int = 3,
    before: Callable[[], None] | None = None,
) -> Figure:
    """The medians of a command; one that fails is an error, never a time."""
    samples = []
    for _ in range(runs):
        if before is not None:
            before()
        sample = run_once(command, cwd, env)
        if sample.status:
            raise RuntimeError(f"{name}: {list(command)} exited {sample.status}")
        samples.append(sample)
    return Figure(
        name,
        median(s.wall for s in samples),
        median(s.cpu for s in samples),
        max(s.memory for s in samples),
        runs,
    )
