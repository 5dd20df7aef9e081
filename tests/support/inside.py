"""Running the command line inside this process: the same code as `syn`, a tenth of the time.

The statuses themselves are tested in subprocesses (`tests.support.cli`).
"""

import contextlib
import io
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from syn.cli.main import _status
from tests.support.cli import Ran
from tests.support.workspaces import Place

_ENVIRON = os.environ  # noqa: TID251 - the process that the command runs in


def inside(place: Place, *words: str, env: Mapping[str, str] | None = None) -> Ran:
    """Run `syn` on a workspace, with its environment and nothing else of ours."""
    out, err = io.StringIO(), io.StringIO()
    with (
        _environment({**place.env, **(env or {})}, place.root),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        status = _status(list(words))
    return Ran(status, out.getvalue(), err.getvalue())


def done(place: Place, *words: str) -> Ran:
    """`inside`, for a command that has to succeed."""
    ran = inside(place, *words)
    assert ran.status == 0, (words, ran.out, ran.err)
    return ran


@contextlib.contextmanager
def _environment(variables: Mapping[str, str], folder: Path) -> Iterator[None]:
    before, where = dict(_ENVIRON), Path.cwd()
    _ENVIRON.clear()
    _ENVIRON.update(variables)
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(where)
        _ENVIRON.clear()
        _ENVIRON.update(before)
