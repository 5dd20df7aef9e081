"""How another program starts this one."""

import shutil
import sys


def launcher() -> tuple[str, ...]:
    """A command that finds this program whatever the caller's search path is."""
    program = shutil.which("syn")
    # -P: whoever starts us stands in a repository, and nothing that lies there is this program.
    return (program,) if program else (sys.executable, "-P", "-m", "syn")
