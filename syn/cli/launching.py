"""How another program starts this one."""

import shutil
import sys


def launcher() -> tuple[str, ...]:
    """A command that finds this program whatever the caller's search path is."""
    program = shutil.which("syn")
    return (program,) if program else (sys.executable, "-m", "syn")
