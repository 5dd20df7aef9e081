"""Running the real command line in a process of its own."""

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

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
