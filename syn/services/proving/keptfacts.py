"""The file of kept projections: written as they come, read once from end to end, always hashed."""

import hashlib
from pathlib import Path
from typing import IO, Any

from syn.errors import CannotError
from syn.services.proving import memo
from syn.services.recall.projecting import Projected


class BaselineError(CannotError):
    """What was kept cannot be started from; the run derives everything anew, and says why."""

    def __init__(self, reason: str) -> None:
        super().__init__("baseline", reason, "syn verify --incremental keeps a new one")


class Growing:
    """The projections of this run, as they come."""

    def __init__(self, file: IO[bytes] | None, path: Path) -> None:
        self._file = file
        self.path = path
        self._state = hashlib.sha256()

    @property
    def digest(self) -> str:
        """Of what was written so far."""
        return f"sha256:{self._state.hexdigest()}"

    def write(self, line: bytes) -> None:
        """Add a line; where the file cannot take it, `close` says so."""
        self._state.update(line)
        if self._file is not None:
            try:
                self._file.write(line)
            except OSError:
                self._file = None

    def close(self) -> bool:
        """Whether everything was written."""
        if self._file is None:
            return False
        try:
            self._file.close()
        except OSError:
            return False
        return True


class Kept:
    """The projections of the baseline, read once from end to end, and hashed on the way.

    Whoever takes a line must call `finish` before anything that came of it counts.
    """

    def __init__(self, file: IO[bytes], digest: str, environment: bytes) -> None:
        self._file = file
        self._digest = digest
        self._state = hashlib.sha256()
        self._line = self._next()
        if self._line != environment:
            raise BaselineError("the kept projections were made by other rules or libraries")
        self._values: list[Any] = [""]

    def _next(self) -> bytes:
        line = self._file.readline()
        self._state.update(line)
        return line

    def find(self, path: str) -> tuple[bytes, list[Any]]:
        """The line of a path, and its values; values that fit no file when there is none."""
        try:
            while self._line and memo.path_of(self._values) < path:
                self._line = self._next()
                self._values = memo.values_of(self._line) if self._line else [""]
            there = memo.path_of(self._values) == path
        except (ValueError, IndexError, TypeError) as error:
            raise decayed() from error
        return (self._line, self._values) if there else (b"", ["", "", "", ""])

    @staticmethod
    def parsed(values: list[Any], *, whole: bool = True) -> Projected:
        """The projection behind a line's values."""
        try:
            return memo.parse(values, whole=whole)
        except (ValueError, IndexError, TypeError) as error:
            raise decayed() from error

    def finish(self) -> None:
        """Read what is left, and hold all of it against the digest that is signed."""
        while self._next():
            pass
        if f"sha256:{self._state.hexdigest()}" != self._digest:
            raise decayed()


def decayed() -> BaselineError:
    """What is kept is not what was signed."""
    return BaselineError("the kept projections are not those that the report signs")
