"""Progress bars: on work over a second, only on a terminal, on stderr."""

import contextlib
import sys
from collections.abc import Iterator
from time import monotonic
from typing import Any, Protocol

_PATIENCE = 1.0
"""Seconds of work before a bar appears."""


class Progress(Protocol):
    """Told how far some work is."""

    def __call__(self, done: int, total: int, said: str = "") -> None:
        """`done` of `total` things are done; `said` tells how they turned out."""


@contextlib.contextmanager
def bar(label: str) -> Iterator[Progress | None]:
    """What to tell; None where nobody looks."""
    if not sys.stderr.isatty():
        yield None
        return
    shown = _Bar(label)
    try:
        yield shown.update
    finally:
        shown.close()


class _Bar:
    """Rich's progress bar, loaded and shown only after a second of work."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._began = monotonic()
        self._bar: Any = None
        self._task: Any = None

    def update(self, done: int, total: int, said: str = "") -> None:
        """Show how far the work is, how fast it goes, and what came of it."""
        seconds = monotonic() - self._began
        if self._bar is None:
            if seconds < _PATIENCE:
                return
            self._show()
        rate = f"{done / seconds:,.0f}/s"
        self._bar.update(self._task, completed=done, total=total, rate=rate, said=said)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()

    def _show(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[said]}"),
            console=Console(stderr=True),
            transient=True,
        )
        self._task = self._bar.add_task(self._label, rate="", said="")
        self._bar.start()
