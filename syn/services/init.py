"""`syn init`: make a folder, a repository or a vault a workspace; twice is a no-op."""

import uuid
from dataclasses import dataclass, replace
from pathlib import Path

from syn.canon.digest import sha256
from syn.errors import CannotError
from syn.git import durable
from syn.git.repository import NotARepositoryError, open_repository
from syn.git.write import init_repository
from syn.ledger.build import Draft
from syn.ledger.heads import workspace_heads
from syn.model.config import DEFAULT_INCLUDE, Config
from syn.services.config import FILE_NAME, parse_config, render_config
from syn.services.recall.indexing import Reading, read_workspace
from syn.services.workspace import Surroundings, Workspace
from syn.services.writing.decision import Decision
from syn.services.writing.exclusive import exclusively
from syn.services.writing.recorder import actor, recorder
from syn.services.writing.transaction import record

GITIGNORE = b"index.db*\nscrub.cursor*\n"
ATTRIBUTES = (
    b"# bytes stay bytes on every platform: Synapse hashes them\n"
    b"*.md -text\nsynapse.toml -text\n.synapse/** -text\n"
)


@dataclass(frozen=True, slots=True)
class Initialized:
    """What `syn init` did."""

    root: Path
    workspace: str
    """The workspace's id."""
    written: tuple[str, ...]
    """Files that were written, in order; empty when everything was there."""
    repository: bool
    """Whether the git repository was made too."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What the caller asks of a new workspace; None leaves the default."""

    name: str = ""
    include: tuple[str, ...] = ()
    branch: str = "main"
    commit: bool | None = None
    """None: commit in a repository made here, do not in one that was there."""


def init(start: Path, wishes: Wishes, around: Surroundings) -> Initialized:
    """Make the work tree around `start` (or `start` itself) a workspace.

    Writes only its own files and never one that is there.

    Raises:
        CannotError: the repository cannot be used, or a file not be written.
    """
    start = start.resolve()
    fresh = False
    try:
        repository = open_repository(start)
    except NotARepositoryError:
        start.mkdir(parents=True, exist_ok=True)
        repository = init_repository(start, wishes.branch)
        fresh = True
    if repository.root is None:
        raise CannotError("bare", "a bare repository has no work tree", "run syn init in a clone")
    config, data = _configuration(repository.root, wishes, fresh)
    written = [path for path, content in _files(data) if _write(repository.root, path, content)]
    workspace = Workspace(repository, config, around)
    with exclusively(workspace):
        reading = read_workspace(workspace)
        if not workspace_heads(reading.ledger.ledger.entries(), "config"):
            _record(workspace, reading, written)
    return Initialized(
        root=repository.root,
        workspace=config.id,
        written=tuple(written),
        repository=fresh,
        warnings=_warnings(repository.root, written),
    )


def _configuration(root: Path, wishes: Wishes, fresh: bool) -> tuple[Config, bytes]:
    path = root / FILE_NAME
    if path.exists():
        data = path.read_bytes()
        return parse_config(data), data
    config = Config(
        id=str(uuid.uuid4()),
        name=wishes.name or root.name or "workspace",
        include=wishes.include or DEFAULT_INCLUDE,
        branch=wishes.branch,
        commit=fresh if wishes.commit is None else wishes.commit,
    )
    data = render_config(config)
    return replace(parse_config(data)), data


def _files(config: bytes) -> tuple[tuple[str, bytes], ...]:
    return (
        (FILE_NAME, config),
        (".synapse/.gitignore", GITIGNORE),
        (".gitattributes", ATTRIBUTES),
    )


def _write(root: Path, path: str, content: bytes) -> bool:
    """Write a file that is not there yet."""
    place = root / path
    if place.exists() or place.is_symlink():
        return False
    durable.replace(root, path.encode(), content)
    return True


def _record(workspace: Workspace, reading: Reading, written: list[str]) -> None:
    """The first `config` decision, and with `commit` the first commit of our own files."""
    draft = Draft(
        actor=actor(workspace),
        via="cli",
        action="config",
        review="seen",
        path=FILE_NAME,
        source=sha256((workspace.root / FILE_NAME).read_bytes()),
        reason="syn init",
    )
    decision = Decision(
        drafts=(draft,),
        adopted=tuple(dict.fromkeys([FILE_NAME, *written])),
        message="syn init",
    )
    record(workspace, reading, decision, recorder(workspace))


def _warnings(root: Path, written: list[str]) -> tuple[str, ...]:
    if ".gitattributes" in written:
        return ()
    text = (root / ".gitattributes").read_text("utf-8", "replace")
    if "-text" in text:
        return ()
    return (
        ".gitattributes was there and is left alone: without `*.md -text` and "
        "`.synapse/** -text` git may convert line ends on other platforms",
    )
