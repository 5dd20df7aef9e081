"""A program that builds an index over an engine and kills one of its workers half-way."""

import os
import signal
import sys
from pathlib import Path

from syn.services.engines.choose import open_engine
from syn.services.recall.opening import reindex
from syn.services.workspace import find_workspace, surroundings


def main(root: str, engine: str, victim: int) -> None:
    """Kill `victim` when a third of the files are done; print how many there were."""
    killed: list[int] = []

    def progress(done: int, total: int) -> None:
        if not killed and done * 3 >= total:
            os.kill(victim, signal.SIGKILL)
            killed.append(done)

    workspace = find_workspace(Path(root), surroundings(os.environ))  # noqa: TID251 - as a port
    with open_engine(engine) as executor:
        done = reindex(workspace, full=True, executor=executor, progress=progress)
    print(done.facts, *killed)  # noqa: T201 - the protocol of this program


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
