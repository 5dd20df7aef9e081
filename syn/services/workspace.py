"""One workspace: wires the adapters, and reads the clock and the surroundings once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from syn.errors import CannotError, UsageError
from syn.facts.globs import FactGlobs
from syn.git.repository import Repository, open_repository
from syn.git.resolve import resolve
from syn.git.snapshot import Snapshot, commit_snapshot
from syn.git.worktree import Lost, worktree_snapshot
from syn.model.config import Config
from syn.services.config import FILE_NAME, parse_config

TS_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a port knows of the machine: its clock reading, its folders, its variables."""

    now: datetime
    """The instant this command runs at, for everything a decision is stamped with."""
    report_time: datetime
    """The same, or what `SOURCE_DATE_EPOCH` says: for reports, never for a decision."""
    config_dir: Path
    """The user's `synapse` configuration: keys, pins."""
    cache_dir: Path
    """The user's cache: indexes of read-only workspaces and of commits."""
    variables: Mapping[str, str] = field(default_factory=dict)


def surroundings(variables: Mapping[str, str]) -> Surroundings:
    """Read the clock and the user's folders; `SYNAPSE_NOW` (RFC 3339) sets the clock.

    Raises:
        UsageError: `SYNAPSE_NOW` or `SOURCE_DATE_EPOCH` is not an instant.
    """
    import platformdirs

    now = _instant(variables, "SYNAPSE_NOW") or datetime.now(UTC)  # noqa: TID251 - the one clock
    epoch = variables.get("SOURCE_DATE_EPOCH", "")
    if epoch and not epoch.isdigit():
        raise UsageError("clock", f"SOURCE_DATE_EPOCH: expected seconds, got {epoch!r:.40}")
    return Surroundings(
        now=now,
        report_time=datetime.fromtimestamp(int(epoch), UTC) if epoch else now,
        config_dir=_directory(variables, "SYNAPSE_CONFIG_DIR", platformdirs.user_config_path),
        cache_dir=_directory(variables, "SYNAPSE_CACHE_DIR", platformdirs.user_cache_path),
        variables=dict(variables),
    )


def _instant(variables: Mapping[str, str], name: str) -> datetime | None:
    text = variables.get(name, "")
    if not text:
        return None
    try:
        value = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError("clock", f"{name}: expected RFC 3339, got {text!r:.40}") from error
    if value.tzinfo is None:
        raise UsageError("clock", f"{name}: expected an offset such as Z, got {text!r:.40}")
    return value.astimezone(UTC)


def _directory(variables: Mapping[str, str], name: str, default: object) -> Path:
    if variables.get(name):
        return Path(variables[name])
    assert callable(default)  # noqa: S101 - narrows platformdirs' two spellings for mypy
    return Path(default("synapse", appauthor=False))


def stamp(instant: datetime) -> str:
    """An instant as ledgers and reports write it: UTC, microseconds, fixed width."""
    return instant.astimezone(UTC).strftime(TS_FORMAT)


@dataclass(frozen=True, slots=True)
class Workspace:
    """An open workspace. Holds no data of facts; every read is of one snapshot."""

    repository: Repository
    config: Config
    """Of the work tree, or of HEAD in a bare repository."""
    around: Surroundings

    @property
    def root(self) -> Path:
        """The work tree.

        Raises:
            CannotError: a bare repository has none.
        """
        if self.repository.root is None:
            raise CannotError(
                "bare",
                "a bare repository has no work tree",
                "name a commit: syn verify --ref HEAD, syn at HEAD -- list",
            )
        return self.repository.root

    @property
    def private_dir(self) -> Path:
        """`<work-tree git dir>/synapse`: writer id, intent, tails."""
        return self.repository.git_dir / "synapse"

    @property
    def shared_dir(self) -> Path:
        """`<common git dir>/synapse`: lock, pending proposals."""
        return self.repository.common_dir / "synapse"

    def snapshot(self, ref: str = "", lost: Lost | None = None) -> Snapshot:
        """The work tree, or the tree of the commit that `ref` names.

        `lost` takes what of HEAD and of git's index a work tree is listed without.

        Raises:
            UsageError: there is no such commit.
        """
        if ref:
            return commit_snapshot(self.repository, resolve(self.repository, ref))
        if self.repository.root is None:
            return commit_snapshot(self.repository, resolve(self.repository, "HEAD"))
        return worktree_snapshot(self.repository, wanted=_inputs(self.config), lost=lost)


def _inputs(config: Config) -> Callable[[bytes], bool]:
    """Whether a path is one of ours: only there do git's attributes matter to anybody."""
    globs = FactGlobs(config)

    def wanted(path: bytes) -> bool:
        own = path.startswith((b".synapse/", b"synapse.toml", b"images/"))
        return own or globs.match(path.decode("utf-8", "surrogateescape")) == "fact"

    return wanted


def find_workspace(start: Path, around: Surroundings) -> Workspace:
    """The workspace whose work tree holds `start`.

    Raises:
        UsageError: there is none here (`no-workspace`).
        CannotError: the repository or `synapse.toml` cannot be read.
    """
    repository = open_repository(start)
    data = _config_bytes(repository)
    if data is None:
        place = repository.root or repository.git_dir
        raise UsageError(
            "no-workspace",
            f"no {FILE_NAME} at {place}: not a workspace yet",
            "run `syn init` there",
        )
    return Workspace(repository, parse_config(data), around)


def _config_bytes(repository: Repository) -> bytes | None:
    if repository.root is not None:
        try:
            return (repository.root / FILE_NAME).read_bytes()
        except FileNotFoundError:
            return None
    if repository.head().commit is None:
        return None
    snapshot = commit_snapshot(repository, resolve(repository, "HEAD"))
    entry = snapshot.find(FILE_NAME.encode())
    return None if entry is None else snapshot.read(entry)
