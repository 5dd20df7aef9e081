"""A real Dask cluster of worker processes, in a process of its own, for as long as a test needs it.

As a program it starts one, prints its address and the workers' process ids on one line each, and
ends when its input does.
"""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

WORKERS = 3


@dataclass(frozen=True, slots=True)
class Started:
    """A running cluster."""

    address: str
    """`dask://host:port`."""
    workers: tuple[int, ...]
    """Process ids."""


@contextlib.contextmanager
def started(env: dict[str, str]) -> Iterator[Started]:
    """A cluster that is gone at the end."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.cluster"],
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        pids = process.stdout.readline().split()
        try:
            yield Started(address.replace("tcp://", "dask://"), tuple(map(int, pids)))
        finally:
            process.stdin.close()
            process.wait(timeout=30)


def main() -> None:
    """Run a cluster until standard input ends."""
    from distributed import LocalCluster

    with LocalCluster(  # type: ignore[no-untyped-call]
        n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        print(cluster.scheduler_address)  # noqa: T201 - the protocol of this program
        pids = [worker.pid for worker in cluster.workers.values()]
        print(*pids, flush=True)  # noqa: T201 - the same
        sys.stdin.read()


if __name__ == "__main__":
    main()
