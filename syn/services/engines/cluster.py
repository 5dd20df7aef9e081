"""A Dask cluster as an executor: the only home of `distributed`.

Tasks are the functions that a process pool runs, sent by name: every worker needs this package, and
is asked with each task whether it is this very program. A worker that dies is replaced by another:
the scheduler gives its tasks away again, and a pure function gives the same result there.
"""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from syn.errors import CannotError
from syn.services.engines.program import program, run_as

SCHEME = "dask://"
_PATIENCE = 5
"""Seconds to wait for the scheduler."""
_P = ParamSpec("_P")
_T = TypeVar("_T")


class NoDaskError(CannotError):
    """The extra is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "no-dask",
            "an engine dask://… needs the package distributed",
            "pip install 'synapse-memory[dask]'",
        )


class UnreachableError(CannotError):
    """There is no scheduler, or it has no worker."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(
            "engine-unreachable",
            f"no Dask cluster to work on at {address}: {reason}",
            "start dask scheduler and dask worker there, or leave --engine out",
        )


class Cluster(Executor):
    """The workers of a scheduler, as an executor."""

    def __init__(self, client: Any) -> None:
        self._executor: Any = client.get_executor(pure=False)
        self._max_workers = sum(client.nthreads().values())

    def submit(  # type: ignore[explicit-override]
        self,
        task: Callable[_P, _T],
        /,
        *arguments: _P.args,
        **_: _P.kwargs,
    ) -> Future[_T]:
        """Give a task to some worker that runs this program."""
        future: Future[_T] = self._executor.submit(run_as, program(), task, *arguments)
        return future

    def shutdown(  # type: ignore[explicit-override]
        self, wait: bool = True, *, cancel_futures: bool = False
    ) -> None:
        """Without `wait`, cancel what was not begun; the workers belong to the cluster and stay."""
        self._executor.shutdown(wait=wait and not cancel_futures)


@contextlib.contextmanager
def open_cluster(address: str) -> Iterator[Executor]:
    """Connect to the scheduler at `dask://host:port`.

    Raises:
        NoDaskError: `distributed` is not installed.
        UnreachableError: nobody answers there, or there are no workers.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise NoDaskError from error
    connect: Any = Client  # it is typed in part only
    place = address.removeprefix(SCHEME)
    try:
        client = connect(f"tcp://{place}", timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        raise UnreachableError(address, str(error) or type(error).__name__) from error
    with client:
        if not client.nthreads():
            raise UnreachableError(address, "the scheduler has no workers")
        cluster = Cluster(client)
        try:
            yield cluster
        finally:
            cluster.shutdown(wait=False, cancel_futures=True)
