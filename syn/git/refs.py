"""Moving a reference by compare-and-swap, durably, with git's reflog."""

import contextlib
import os
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import ReferenceType

from syn.errors import RefusedError, UsageError
from syn.git.alterations import references
from syn.git.durable import make_folders
from syn.git.locks import Guarded, check_lock, publish
from syn.git.parse import Ident
from syn.git.repository import CorruptHeadError, Repository

_ZERO: Final = "0" * 40
_LOGGED: Final = ("refs/heads/", "refs/remotes/", "refs/notes/")


class RefMovedError(RefusedError):
    """A reference is not where the write began."""

    def __init__(self, ref: str, expected: str | None, actual: str | None) -> None:
        super().__init__(
            "ref-moved",
            f"{ref}: expected {expected or 'no commit'}, got {actual or 'no commit'}",
            "somebody else moved it: try again",
        )


def read_ref(repo: Repository, ref: str) -> str | None:
    """The id a direct reference names, or None when there is no such reference.

    Raises:
        CorruptHeadError: the reference is damaged, or symbolic.
    """
    try:
        found = repo.pg.lookup_reference(ref)
    except KeyError:
        return None
    except (pygit2.GitError, ValueError) as error:
        raise CorruptHeadError(ref, str(error)) from error
    if found.type != ReferenceType.DIRECT:
        raise CorruptHeadError(ref, "expected an object id, got a symbolic reference")
    return str(found.target)


def check_ref_lock(repo: Repository, ref: str) -> None:
    """Raise `LockedError` when somebody else holds the lock of a reference."""
    check_lock(_guarded(repo, ref))


def check_new_ref(repo: Repository, ref: str) -> None:
    """Whether a reference of this name can be made.

    Raises:
        UsageError: `bad-ref-name`.
        RefusedError: `ref-conflict`: another reference has a part of its name as its own.
    """
    if not pygit2.reference_is_valid_name(ref):
        raise UsageError("bad-ref-name", f"{ref!r} is no name of a reference")
    for name in references(repo):
        other = name.decode("utf-8", "surrogateescape")
        if other.startswith(ref + "/") or ref.startswith(other + "/"):
            raise RefusedError("ref-conflict", f"{ref} cannot be made beside {other}")


def move_ref(
    repo: Repository, ref: str, new: str, old: str | None, who: Ident, message: str
) -> None:
    """Point a reference (`refs/heads/main`, or a detached `HEAD`) to `new`, from `old`.

    `old` is None when the reference must not be there yet.

    Raises:
        RefMovedError: it does not say `old`; nothing was done.
        LockedError: another program holds its lock; nothing was done.
        CannotError: it cannot be written.
    """
    guarded = _guarded(repo, ref)
    if old is None:
        check_new_ref(repo, ref)
    _make_room(guarded.target)

    def still_valid() -> None:
        actual = read_ref(repo, ref)
        if actual != old:
            raise RefMovedError(ref, old, actual)
        _log(repo, ref, f"{old or _ZERO} {new} {_stamp(who)}\t{message}\n")

    publish(guarded, f"{new}\n".encode(), still_valid)


def _guarded(repo: Repository, ref: str) -> Guarded:
    base = repo.git_dir if ref == "HEAD" else repo.common_dir
    return Guarded(base / ref, base / "synapse")


def _make_room(target: Path) -> None:
    # A packed branch has no file, and may have no folder; git leaves empty folders behind too.
    make_folders(target.parent)
    with contextlib.suppress(OSError):
        target.rmdir()


def _log(repo: Repository, ref: str, line: str) -> None:
    head = repo.head()
    paths = [(repo.git_dir if ref == "HEAD" else repo.common_dir) / "logs" / ref]
    if ref not in {"HEAD", ""} and head.ref == ref:
        paths.append(repo.git_dir / "logs" / "HEAD")
    for path in paths:
        if path.exists() or _wants_log(repo, ref):
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            descriptor = os.open(path, flags, 0o666)
            try:
                os.write(descriptor, line.encode())
            finally:
                os.close(descriptor)


def _wants_log(repo: Repository, ref: str) -> bool:
    try:
        setting = str(repo.pg.config["core.logallrefupdates"]).lower()
    except KeyError:
        setting = "false" if repo.is_bare else "true"
    if setting == "always":
        return True
    return setting == "true" and (ref == "HEAD" or ref.startswith(_LOGGED))


def _stamp(who: Ident) -> str:
    return f"{who.text} {who.seconds} {who.offset}"
