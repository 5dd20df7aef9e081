"""Plain git hooks that verify before a commit or a push; a hook of somebody else's is kept."""

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from syn.errors import RefusedError, UsageError
from syn.git.hookspath import hooks_path
from syn.services.doors import ourfiles
from syn.services.doors.ourfiles import State
from syn.services.workspace import Workspace

MARK = "# written by syn hooks install"
COMMANDS: dict[str, str] = {
    "pre-commit": "verify --quiet",
    "pre-push": "verify --deep --quiet",
}
"""Hook to what it runs; a hook that fails stops git."""


@dataclass(frozen=True, slots=True)
class Hook:
    """One hook of this repository."""

    name: str
    path: Path
    text: str
    """What ours says."""

    @property
    def state(self) -> State:
        """What stands there now."""
        return ourfiles.state_of(self.path, self.text, MARK)


def hooks(workspace: Workspace, launcher: tuple[str, ...], names: tuple[str, ...]) -> list[Hook]:
    """The hooks of these names, in the folder that git looks in by default.

    Raises:
        UsageError: there is no such hook.
    """
    found = []
    for name in names:
        if name not in COMMANDS:
            known = ", ".join(COMMANDS)
            raise UsageError("unknown-hook", f"no hook {name!r:.40}", f"one of: {known}")
        command = f"{shlex.join(launcher)} {COMMANDS[name]}"
        text = f"#!/bin/sh\n{MARK}\n# Git's own variables would name another work tree's index.\n"
        text += "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE\n"
        text += f"exec {command} </dev/null\n"
        found.append(Hook(name, workspace.repository.common_dir / "hooks" / name, text))
    return found


def refuse_elsewhere(workspace: Workspace) -> None:
    """Refuse where git is told to look for hooks elsewhere: ours would never run.

    Raises:
        RefusedError: `hooks-path`.
    """
    elsewhere = hooks_path(workspace.repository)
    if elsewhere:
        raise RefusedError(
            "hooks-path",
            f"git looks for hooks in {elsewhere} (core.hooksPath), so ours would not run",
            "add `syn verify --quiet` to the hooks there",
        )


def install(hook: Hook) -> bool:
    """Write a hook; False when it stands there already.

    Raises:
        RefusedError: a hook of somebody else's stands there (`foreign-hook`).
        CannotError: it cannot be written.
    """
    state = hook.state
    if state == "foreign":
        command = hook.text.splitlines()[-1].removeprefix("exec ")
        raise RefusedError(
            "foreign-hook",
            f"{hook.path} is not ours and stays as it is",
            f"add this line to it: {command}",
        )
    if state == "installed" and os.access(hook.path, os.X_OK):
        return False
    ourfiles.put(hook.path, hook.text, 0o755)
    return True


def uninstall(hook: Hook) -> bool:
    """Take our hook away; False when there is none, and somebody else's stays.

    Raises:
        RefusedError: a hook of somebody else's stands there.
    """
    match hook.state:
        case "absent":
            return False
        case "foreign":
            raise RefusedError("foreign-hook", f"{hook.path} is not ours and stays as it is")
        case _:
            ourfiles.take_away(hook.path)
            return True
