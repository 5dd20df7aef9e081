"""Completions at the place where a shell looks for them; somebody else's file is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from syn.errors import RefusedError
from syn.services.doors import ourfiles
from syn.services.doors.ourfiles import State

MARK = "# written by syn completions install"
_AUTOLOADED = """\
# As a function that zsh loads when it is first needed, this is that first time.
[[ ${zsh_eval_context[-1]} == loadautofunc ]] && _syn_completion "$@"
"""


@dataclass(frozen=True, slots=True)
class Completion:
    """The completions of one shell."""

    shell: str
    path: Path
    text: str
    """What ours says."""
    hint: str
    """What the shell needs beside it, in words."""

    @property
    def state(self) -> State:
        """What stands there now."""
        return ourfiles.state_of(self.path, self.text, MARK)


def completion(shell: str, script: str, home: Path, variables: Mapping[str, str]) -> Completion:
    """Where a shell looks, and what stands there when `script` makes it ask."""
    match shell:
        case "bash":
            data = _folder(variables, "XDG_DATA_HOME", home / ".local" / "share")
            folder = _folder(variables, "BASH_COMPLETION_USER_DIR", data / "bash-completion")
            path, text = folder / "completions" / "syn", f"{MARK}\n{script}"
            hint = "a new bash has them where bash-completion is installed; elsewhere add to"
            hint += f' ~/.bashrc: source "{path}"'
        case "fish":
            folder = _folder(variables, "XDG_CONFIG_HOME", home / ".config") / "fish"
            path, text = folder / "completions" / "syn.fish", f"{MARK}\n{script}"
            hint = "a new fish has them"
        case _:
            folder = _folder(variables, "ZDOTDIR", home) / ".zfunc"
            first, _, rest = script.partition("\n")
            path, text = folder / "_syn", f"{first}\n{MARK}\n{rest}{_AUTOLOADED}"
            hint = f'a new zsh has them with this before compinit in .zshrc: fpath+=("{folder}")'
    return Completion(shell, path, text, hint)


def _folder(variables: Mapping[str, str], name: str, default: Path) -> Path:
    """The folder that a variable names, when it is one that shells take: an absolute path."""
    given = Path(variables.get(name, ""))
    return given if given.is_absolute() else default


def install(found: Completion, *, dry_run: bool = False) -> bool:
    """Write the completions; False when they stand there already.

    Raises:
        RefusedError: a file of somebody else's stands there (`foreign-completion`).
        CannotError: it cannot be written.
    """
    _refuse_foreign(found)
    if found.state == "installed":
        return False
    if not dry_run:
        ourfiles.put(found.path, found.text, 0o644)
    return True


def uninstall(found: Completion, *, dry_run: bool = False) -> bool:
    """Take them away; False when there are none, and somebody else's stay.

    Raises:
        RefusedError: a file of somebody else's stands there (`foreign-completion`).
        CannotError: it cannot be removed.
    """
    _refuse_foreign(found)
    if found.state == "absent":
        return False
    if not dry_run:
        ourfiles.take_away(found.path)
    return True


def _refuse_foreign(found: Completion) -> None:
    if found.state == "foreign":
        start = 'eval "$(syn completions {0})"' if found.shell != "fish" else "syn completions {0}"
        raise RefusedError(
            "foreign-completion",
            f"{found.path} is not ours and stays as it is",
            f"move it away, or put into the shell's start: {start.format(found.shell)}"
            + (" | source" if found.shell == "fish" else ""),
        )
