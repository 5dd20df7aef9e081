"""Running the real command line in a process of its own."""

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from syn.cli.main import run
from tests.support.workspaces import Place


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed and how it ended."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one JSON object on stdout."""
        return json.loads(self.out)


def syn(place: Place, *words: str, stdin: str = "", env: dict[str, str] | None = None) -> Ran:
    """Run `syn` in a workspace's folder; never raises for its exit status."""
    done = subprocess.run(
        [sys.executable, "-m", "syn", *words],
        cwd=place.root,
        env={**place.env, **(env or {})},
        input=stdin.encode(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    return Ran(done.returncode, done.stdout.decode(), done.stderr.decode())


def syn_here(place: Place, *words: str, stdin: str = "", env: dict[str, str] | None = None) -> Ran:
    """Run the command line in this process: the same code, without the cost of starting Python."""
    out, err = io.StringIO(), io.StringIO()
    given = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        for name in set(os.environ) - {"PYTEST_CURRENT_TEST"}:  # noqa: TID251 - only the place's
            patch.delenv(name)
        for name, value in {**place.env, **(env or {})}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdin", given)
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            status = _status(["-C", str(place.root), *words])
    return Ran(status, out.getvalue(), err.getvalue())


def _status(words: list[str]) -> int:
    try:
        run(words)
    except SystemExit as stopped:
        return stopped.code if isinstance(stopped.code, int) else 1
    return 0
