"""`--engine`: what runs the pure parts of the work."""

import contextlib
import re
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor

from syn.errors import CannotError, UsageError

_PROCESSES = re.compile(r"processes(?::([1-9][0-9]{0,3}))?\Z")
_DASK = re.compile(r"dask://[^/\s]+:[0-9]{1,5}\Z")


class EngineError(UsageError):
    """`--engine` names none."""

    def __init__(self, text: str) -> None:
        super().__init__(
            "engine",
            "--engine: expected here, processes, processes:N or dask://host:port, "
            f"got {text!r:.60}",
        )


class BrokenEngineError(CannotError):
    """A worker died and nobody took over its work: nothing is concluded."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "engine-broken",
            f"the engine stopped before the work was done: {reason}",
            "run the command again; without --engine everything runs in one process",
        )


@contextlib.contextmanager
def open_engine(text: str) -> Iterator[Executor | None]:
    """The engine of this name; None is this process.

    Raises:
        EngineError: there is no such engine.
        CannotError: it cannot be reached, or it broke.
    """
    if text in ("", "here"):
        yield None
        return
    with _opened(text) as executor:
        try:
            yield executor
        except (BrokenExecutor, CancelledError) as error:
            raise BrokenEngineError(str(error) or type(error).__name__) from error
        except Exception as error:
            if type(error).__name__ == "KilledWorker":  # distributed is not imported for its name
                raise BrokenEngineError(str(error)) from error
            raise


def _opened(text: str) -> contextlib.AbstractContextManager[Executor]:
    match = _PROCESSES.match(text)
    if match:
        from syn.services.engines.pool import open_pool, processors  # pools take long to load

        return open_pool(int(match[1]) if match[1] else processors())
    if _DASK.match(text):
        from syn.services.engines.cluster import open_cluster

        return open_cluster(text)
    raise EngineError(text)
