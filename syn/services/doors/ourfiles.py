"""Files of ours at places where others have theirs: one that is not ours is never replaced."""

from pathlib import Path
from typing import Literal, TypeAlias

from syn.errors import CannotError
from syn.services.files import write_file

State: TypeAlias = Literal["absent", "installed", "different", "foreign"]


def state_of(path: Path, text: str, mark: str) -> State:
    """What stands at a path; `text` is what ours says today, `mark` what ours always hold.

    Raises:
        CannotError: it cannot be read.
    """
    try:
        found = path.read_text("utf-8", "backslashreplace")
    except FileNotFoundError:
        return "foreign" if path.is_symlink() else "absent"
    except OSError as error:
        raise CannotError("cannot-read", f"{path}: {error.strerror}") from error
    if found == text:
        return "installed"
    return "different" if mark in found else "foreign"


def put(path: Path, text: str, mode: int) -> None:
    """Write ours, with the folders on its way.

    Raises:
        CannotError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, text.encode())
        path.chmod(mode)
    except OSError as error:
        raise CannotError("cannot-write", f"{path}: {error.strerror}") from error


def take_away(path: Path) -> None:
    """Remove ours.

    Raises:
        CannotError: it stays.
    """
    try:
        path.unlink()
    except OSError as error:
        raise CannotError("cannot-write", f"{path}: {error.strerror}") from error
