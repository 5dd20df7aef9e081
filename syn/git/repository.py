"""Finding and opening a repository, and saying at once what this build cannot read.

Nothing a repository's configuration names is ever run: no hook, filter, fsmonitor or program. The
formats that libgit2 cannot open are told from the configuration's text before it is asked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pygit2
from pygit2.enums import Option, ReferenceType, RepositoryOpenFlag

from syn.errors import CannotError, UsageError
from syn.git.objects import ObjectStore, Surroundings, alternates
from syn.git.parse import is_oid

if TYPE_CHECKING:
    from syn.git.alterations import Alteration

_SYMREF_DEPTH = 5
_REFUSED_EXTENSIONS: Final[dict[str, tuple[str, str]]] = {
    "objectformat": ("object-format", "object format"),
    "compatobjectformat": ("object-format", "compatibility object format"),
    "refstorage": ("reftable", "reference storage"),
}
_DEFAULTS: Final[dict[str, frozenset[str]]] = {
    "objectformat": frozenset({"sha1"}),
    "refstorage": frozenset({"files"}),
}


class NotARepositoryError(CannotError):
    """No git repository at a path or above it."""

    def __init__(self, start: Path) -> None:
        super().__init__(
            "not-a-repository",
            f"no git repository at {start} or above it",
            "run syn init there, or name the folder of a workspace",
        )


class UnsupportedFormatError(CannotError):
    """A repository in a format this build cannot read: `object-format` or `reftable`."""

    def __init__(self, code: str, what: str, value: str, git_dir: Path) -> None:
        super().__init__(
            code,
            f"{what} {value} is not supported by this build ({git_dir})",
            "use a repository with SHA-1 objects and references in files",
        )


class OwnerError(CannotError):
    """A repository that belongs to somebody else."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            "owner",
            f"{path} belongs to another user, so git's safe.directory protects it",
            f"if you trust it: git config --global --add safe.directory {path}",
        )


class CorruptHeadError(CannotError):
    """A HEAD, or the branch it names, that is no reference."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(
            "corrupt-head",
            f"{name} is no reference: {reason}",
            "git reflog shows what it was; git fsck names the damage",
        )


class CorruptRefsError(CannotError):
    """References that cannot be listed: `packed-refs` is damaged."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            "corrupt-refs",
            f"git's references cannot be listed: {reason}",
            "in `packed-refs` of the git folder each line is an id, a blank, a name: remove others",
        )


@dataclass(frozen=True, slots=True)
class Head:
    """What HEAD says."""

    commit: str | None
    """The commit's id; None on an unborn branch."""
    branch: str | None
    """The branch's short name (`main`); None when HEAD is detached."""
    ref: str = ""
    """The full name of the reference a commit would move: `refs/heads/main`, or `HEAD`."""


@dataclass(frozen=True, slots=True)
class Repository:
    """An open repository. `pg` is libgit2's handle, for this package only."""

    root: Path | None
    """The work tree, links resolved; None in a bare repository."""
    git_dir: Path
    """This work tree's own git folder (HEAD, index)."""
    common_dir: Path
    """The folder all work trees share (objects, refs, configuration)."""
    store: ObjectStore
    pg: pygit2.Repository = field(repr=False, compare=False)
    lost_alternates: tuple[str, ...] = ()

    @property
    def is_bare(self) -> bool:
        """Whether there is no work tree."""
        return self.root is None

    @property
    def is_shallow(self) -> bool:
        """Whether history was cut by `--depth`."""
        return bool(self.shallow_commits())

    @property
    def index_path(self) -> Path:
        """Git's index of this work tree; it may be absent."""
        return self.git_dir / "index"

    def shallow_commits(self) -> frozenset[str]:
        """The commits whose parents were left out, as `shallow` names them."""
        try:
            text = (self.common_dir / "shallow").read_text("ascii", "replace")
        except (FileNotFoundError, NotADirectoryError):
            return frozenset()
        return frozenset(line for line in text.split() if is_oid(line))

    def head(self) -> Head:
        """What HEAD says now.

        Raises:
            CorruptHeadError: HEAD or its branch is damaged.
        """
        name = "HEAD"
        for _ in range(_SYMREF_DEPTH):
            try:
                ref = self.pg.lookup_reference(name)
            except KeyError:
                return Head(None, _short(name), name)
            except (pygit2.GitError, ValueError) as error:
                raise CorruptHeadError(name, str(error)) from error
            if ref.type == ReferenceType.DIRECT:
                branch = None if name == "HEAD" else _short(name)
                return Head(str(ref.target), branch, name)
            name = str(ref.target)
        raise CorruptHeadError("HEAD", "its chain of symbolic references is too long")

    def resolve(self, ref: str) -> str:
        """The id of the commit a name stands for (`syn.git.resolve`)."""
        from syn.git.resolve import resolve

        return resolve(self, ref)

    def alterations(self) -> tuple["Alteration", ...]:
        """What in this repository could make git tell another history (`syn.git.alterations`)."""
        from syn.git.alterations import alterations

        return alterations(self)

    def head_tree(self) -> str | None:
        """The tree of HEAD's commit; None on an unborn branch."""
        commit = self.head().commit
        return None if commit is None else self.store.commit(commit).tree


def discover(start: Path) -> Path:
    """The git folder at a path or above it, as git finds it: `.git`, a `.git` file, or bare.

    Raises:
        NotARepositoryError: there is none.
    """
    try:
        found = pygit2.discover_repository(str(start))
    except (KeyError, pygit2.GitError, OSError, ValueError) as error:
        raise NotARepositoryError(start) from error
    if not found:
        raise NotARepositoryError(start)
    return Path(found)


def open_repository(start: Path) -> Repository:
    """Open the repository at a path or above it.

    Raises:
        NotARepositoryError, UnsupportedFormatError, OwnerError, and CannotError with the codes
        `bad-git-config`, `cannot-open`.
    """
    git_dir = discover(start)
    common = _common_dir(git_dir)
    settings = _settings(common / "config")
    _refuse_unsupported(settings, git_dir)
    pg = _open(start, git_dir)
    folders, lost = alternates(common / "objects")
    around = Surroundings(_is_promisor(settings), lost)
    root = None if pg.is_bare else _work_tree(start, pg, linked=git_dir != common)
    store = ObjectStore((common / "objects", *folders), around)
    return Repository(root, git_dir, common, store, pg, lost)


def unknown_ref(ref: str, near: Sequence[str] = ()) -> UsageError:
    """The error for a name that stands for nothing here; near names are suggested."""
    names = "git branch -a and git log show the names there are"
    return UsageError(
        "unknown-ref",
        f"no commit is called {ref!r} here",
        f"did you mean {', '.join(near)}?" if near else names,
    )


def _open(start: Path, git_dir: Path) -> pygit2.Repository:
    # libgit2 knows the format of a partial clone and not the extension's name.
    pygit2.option(Option.SET_EXTENSIONS, ["partialclone"], 1)
    try:
        # From where it was found: a git folder elsewhere does not know its work tree.
        return pygit2.Repository(str(start), RepositoryOpenFlag.DEFAULT)
    except (pygit2.GitError, KeyError, OSError, ValueError) as error:
        text = str(error)
        if "not owned by current user" in text:
            raise OwnerError(_quoted_path(text) or git_dir) from error
        raise CannotError(
            "cannot-open",
            f"git cannot open {git_dir}: {text.removeprefix('.: ')}",
            "git status says whether git can; its configuration names format and extensions",
        ) from error


def _work_tree(start: Path, pg: pygit2.Repository, *, linked: bool) -> Path:
    if linked:
        # Its .git file is where it stands; git's note of its place is old once it was moved.
        for folder in (start.resolve(), *start.resolve().parents):
            if (folder / ".git").is_file():
                return folder
    return Path(str(pg.workdir))


def _common_dir(git_dir: Path) -> Path:
    try:
        text = (git_dir / "commondir").read_text("utf-8", "surrogateescape")
    except (FileNotFoundError, NotADirectoryError):
        return git_dir
    return (git_dir / text.rstrip("\n")).resolve()


def _settings(path: Path) -> dict[str, str]:
    try:
        return {entry.name.lower(): entry.value or "" for entry in pygit2.Config(str(path))}
    except (pygit2.GitError, KeyError, OSError, ValueError) as error:
        raise CannotError(
            "bad-git-config", f"{path} cannot be read: {error}", "correct the git configuration"
        ) from error


def _refuse_unsupported(settings: dict[str, str], git_dir: Path) -> None:
    for name, (code, what) in _REFUSED_EXTENSIONS.items():
        value = settings.get(f"extensions.{name}")
        if value is not None and value.lower() not in _DEFAULTS.get(name, frozenset()):
            raise UnsupportedFormatError(code, what, value, git_dir)


def _is_promisor(settings: dict[str, str]) -> bool:
    return "extensions.partialclone" in settings or any(
        name.startswith("remote.") and name.endswith(".promisor") and value.lower() == "true"
        for name, value in settings.items()
    )


def _short(ref: str) -> str:
    return ref.removeprefix("refs/heads/")


def _quoted_path(text: str) -> Path | None:
    match = re.search(r"'(.*)'", text)
    return Path(match[1]) if match else None
