"""A pool of processes on this machine, which is gone when the work is, however it ended."""

import contextlib
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@contextlib.contextmanager
def open_pool(workers: int) -> Iterator[Executor]:
    """A pool of this many processes.

    A terminal sends Ctrl-C to all of them: workers ignore it and are stopped by this process, which
    is the one that says so.
    """
    pool = ProcessPoolExecutor(workers, initializer=_ignore_interrupts)
    try:
        yield pool
        pool.shutdown()
    finally:
        _stop(pool)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _stop(pool: ProcessPoolExecutor) -> None:
    processes = list((pool._processes or {}).values())
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()
