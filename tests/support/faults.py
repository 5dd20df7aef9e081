"""Faults at the system calls of a write: in a child of this process, or under strace."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from syn.git import write as git_write
from syn.services.writing import transaction

KILLED = 137
_CALLS = ("write", "fsync", "rename", "replace", "link", "unlink", "mkdir", "rmdir", "ftruncate")


@dataclass(slots=True)
class Faults:
    """Counts the calls that change the disk and makes one of them fail."""

    at: int
    """Which call, from 1; 0 only counts."""
    error: int = 0
    """An errno; 0 kills the process before the call."""
    count: int = 0

    def strike(self) -> None:
        """Take note of one call, and fail when it is the one."""
        self.count += 1
        if self.count != self.at:
            return
        if not self.error:
            os._exit(KILLED)
        raise OSError(self.error, os.strerror(self.error))


def _wrapped(real: Callable[..., Any], faults: Faults) -> Callable[..., Any]:
    def call(*args: Any, **more: Any) -> Any:
        faults.strike()
        return real(*args, **more)

    return call


@contextlib.contextmanager
def injected(faults: Faults) -> Iterator[None]:
    """Every call of Python that changes the disk, and every object written by libgit2."""
    patch = pytest.MonkeyPatch()
    try:
        for name in _CALLS:
            patch.setattr(os, name, _wrapped(getattr(os, name), faults))
        for module in (git_write, transaction):
            patch.setattr(module, "write_object", _wrapped(git_write.write_object, faults))
        yield
    finally:
        patch.undo()


def in_child(run: Callable[[], object], faults: Faults) -> int:
    """Run in a forked child with a fault; its exit status: 0, 1 when it raised, or `KILLED`."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    status = 1
    try:
        with injected(faults):
            run()
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it is: the parent looks at the disk
        pass
    finally:
        os._exit(status)


def count_calls(run: Callable[[], object]) -> int:
    """How many calls an undisturbed run makes."""
    faults = Faults(0)
    with injected(faults):
        run()
    return faults.count


TRACED = (
    "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,"
    "mkdir,mkdirat,ftruncate,openat"
)
"""System calls that change the disk, and those that begin a change."""


def strace() -> str:
    """The strace program; skips the calling test, saying so, where there is none that may trace."""
    program = shutil.which("strace")
    if program is None:
        pytest.skip("needs strace, which is not here")
    trial = subprocess.run(
        [program, "-f", "-o", os.devnull, "true"], capture_output=True, check=False
    )
    if trial.returncode:
        pytest.skip(f"strace may not trace here: {trial.stderr.decode(errors='replace')[:100]}")
    return program


def traced_calls(command: Sequence[str], cwd: Path, env: dict[str, str]) -> dict[str, int]:
    """How often an undisturbed command makes each of the system calls."""
    log = cwd.with_name(cwd.name + ".strace")
    subprocess.run(
        [strace(), "-f", "--seccomp-bpf", "-qq", "-e", f"trace={TRACED}", "-o", str(log), *command],
        cwd=cwd, env=env, check=True, capture_output=True,
    )  # fmt: skip
    counts: dict[str, int] = {}
    for line in log.read_text(errors="replace").splitlines():
        name = line.split(maxsplit=1)[1].split("(", 1)[0]
        if name != "openat" or "O_CREAT" in line:
            counts[name] = counts.get(name, 0) + 1
    return counts


def traced(
    command: Sequence[str], cwd: Path, env: dict[str, str], call: str, when: int, fault: str
) -> int:
    """Run a command whose n-th call of one kind fails; its exit status, negative when killed."""
    options = ["-f", "--seccomp-bpf", "-qq", "-o", os.devnull, "-e", f"trace={call}"]
    inject = ["-e", f"inject={call}:{fault}:when={when}"]
    done = subprocess.run(
        [strace(), *options, *inject, *command], cwd=cwd, env=env, capture_output=True, check=False
    )
    return done.returncode
