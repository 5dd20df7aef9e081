"""What a result depends on beside its arguments: this program and the libraries it reads with."""

import sys
import unicodedata
from collections.abc import Callable
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

from syn import __version__
from syn.errors import CannotError
from syn.index.rows import PROJECTION

_T = TypeVar("_T")
_LIBRARIES = ("markdown-it-py", "PyYAML")


class OtherProgramError(CannotError):
    """A worker runs another version, whose results may differ: none of them is taken."""

    def __init__(self, theirs: str) -> None:
        super().__init__(
            "engine-version",
            f"expected workers that run {program()}, got one that runs {theirs}",
            "install the same version of synapse-memory, Python and libraries on every worker",
        )

        self._theirs = theirs

    def __reduce__(  # type: ignore[explicit-override]  # typing.override needs Python 3.12
        self,
    ) -> tuple[type["OtherProgramError"], tuple[str]]:
        return OtherProgramError, (self._theirs,)


@cache
def program() -> str:
    """Version, projection, Python, Unicode tables and parsers, on one line."""
    parsers = " ".join(f"{name} {_version(name)}" for name in _LIBRARIES)
    python = ".".join(map(str, sys.version_info[:3]))
    tables = f"Python {python}, Unicode {unicodedata.unidata_version}"
    return f"syn {__version__} (projection {PROJECTION}, {tables}, {parsers})"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"


def run_as(expected: str, task: Callable[..., _T], *arguments: object) -> _T:
    """Run a task on a worker that is this very program.

    Raises:
        OtherProgramError: it is another one.
    """
    if program() != expected:
        raise OtherProgramError(program())
    return task(*arguments)
