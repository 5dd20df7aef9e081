"""A pool of processes on this machine, which is gone when the work is, however it ended."""

import contextlib
import os
import signal
import threading
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
    pool = ProcessPoolExecutor(workers, initializer=_begin, initargs=(os.getpid(),))
    try:
        with _interrupts_held():
            pool.submit(os.getpid).result()
        yield pool
    except BaseException:
        _stop(pool)
        raise
    pool.shutdown()


def _begin(owner: int) -> None:
    """What a worker does first: leave Ctrl-C to its owner, and end when that is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(owner,), daemon=True).start()


def _end_with(owner: int) -> None:
    """Nobody tells a worker that its owner was killed, so it looks every second."""
    while os.getppid() == owner:
        threading.Event().wait(1)
    os._exit(1)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C counts at the end of this: a worker that just began is not torn by it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if heard:
        raise KeyboardInterrupt


def _stop(pool: ProcessPoolExecutor) -> None:
    """End every worker now, also one that is in the middle of sending a result.

    The pool's own thread would wait for the rest of that result for ever, since this process could
    still write to the pipe itself: that end is closed.
    """
    processes = list((pool._processes or {}).values())
    results = getattr(pool, "_result_queue", None)
    pool.shutdown(wait=False, cancel_futures=True)
    for process in processes:
        process.terminate()
    for process in processes:
        process.join()
    if results is not None:
        with contextlib.suppress(OSError):
            results._writer.close()
