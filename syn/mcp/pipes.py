"""The process's own pipes, taken for the protocol before anything else can print into them."""

import os
import sys
from dataclasses import dataclass
from typing import IO


@dataclass(frozen=True, slots=True)
class Pipes:
    """The protocol's ends of stdin and stdout."""

    source: IO[bytes]
    sink: IO[bytes]


def claim() -> Pipes:
    """Take stdin and stdout; from now on prints go to stderr, and nothing else reads stdin."""
    source, sink = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return Pipes(os.fdopen(source, "rb"), os.fdopen(sink, "wb"))
