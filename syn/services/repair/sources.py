"""Where lost bytes may come from: this repository, its work tree, and clones that are named.

Bytes count when they hash to what names them and never otherwise, so a source needs no trust.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError, UsageError
from syn.git.parse import ObjectType, blob_id
from syn.git.repository import Repository
from syn.services.patrol.look import Look
from syn.services.workspace import Workspace, find_workspace
from syn.services.writing.contents import find_bytes


class OtherWorkspaceError(UsageError):
    """A clone of another workspace."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            "other-workspace",
            f"{path} is not a clone of this workspace: its synapse.toml has another id",
            "name a clone of this one",
        )


@dataclass(frozen=True, slots=True)
class Replica:
    """A clone that may have what is lost here."""

    name: str
    workspace: Workspace


@dataclass(frozen=True, slots=True)
class Found:
    """Bytes that hash to what names them, and where they were."""

    data: bytes
    origin: str
    """`git` (HEAD, its history, or what is kept), `work tree`, or a replica's name."""
    here: bool
    """Whether git has them in this repository."""


def open_replicas(workspace: Workspace, paths: Iterable[Path]) -> tuple[Replica, ...]:
    """The clones at these paths.

    Raises:
        OtherWorkspaceError: one is of another workspace.
        UsageError, CannotError: one is no workspace, or cannot be read.
    """
    found = []
    for path in paths:
        other = find_workspace(path, workspace.around)
        if other.config.id != workspace.config.id:
            raise OtherWorkspaceError(path)
        found.append(Replica(str(path), other))
    return tuple(found)


def find_source(look: Look, fact: str, source: str, replicas: Sequence[Replica]) -> Found | None:
    """The bytes that a decision on a fact recorded, wherever it ever lay."""
    entries = look.reading.ledger_files.about(fact)
    paths = sorted({entry.path for _, entry in entries if entry.path})
    repository = look.workspace.repository
    for path in paths:
        data = _bytes(repository, path, source)
        if data is not None:
            return Found(data, "git", here=True)
    for replica in replicas:
        for path in paths:
            data = _bytes(replica.workspace.repository, path, source)
            if data is None:
                data = _on_disk(replica.workspace, path, source)
            if data is not None:
                return Found(data, replica.name, here=False)
    return None


def _bytes(repository: Repository, path: str, source: str) -> bytes | None:
    try:
        return find_bytes(repository, path, source)
    except (CannotError, RefusedError):
        return None


def _on_disk(workspace: Workspace, path: str, source: str) -> bytes | None:
    """A file of a clone's work tree, when it is the one that is wanted."""
    if workspace.repository.root is None:
        return None
    try:
        snapshot = workspace.snapshot()
        entry = snapshot.find(path.encode())
        data = snapshot.read(entry) if entry is not None else b""
    except (CannotError, RefusedError):
        return None
    return data if entry is not None and sha256(data) == source else None


@dataclass(frozen=True, slots=True)
class FoundObject:
    """A git object that is lost here and was found elsewhere, byte for byte."""

    oid: str
    kind: ObjectType
    data: bytes
    origin: str


class Elsewhere:
    """Reads objects here, and from the other places when they are lost here."""

    def __init__(self, repository: Repository, replicas: Sequence[Replica]) -> None:
        self._repository = repository
        self._replicas = replicas
        self.found: dict[str, FoundObject] = {}
        self.lost: dict[str, str] = {}
        """Objects that are nowhere, with the code that says how they are lost here."""

    def read(self, oid: str) -> tuple[ObjectType, bytes] | None:
        """An object, from here or from elsewhere; None when it is nowhere."""
        if oid in self.found:
            return self.found[oid].kind, self.found[oid].data
        try:
            return self._repository.store.read(oid)
        except (CannotError, RefusedError) as error:
            found = next(self._other(oid), None)
            if found is None:
                self.lost[oid] = error.code
                return None
            self.found[oid] = found
            return found.kind, found.data

    def _other(self, oid: str) -> Iterator[FoundObject]:
        if (path := self._files.get(oid)) is not None:
            data = path.read_bytes()
            if blob_id(data) == oid:
                yield FoundObject(oid, "blob", data, "work tree")
        for replica in self._replicas:
            try:
                kind, data = replica.workspace.repository.store.read(oid)
            except (CannotError, RefusedError):
                continue
            yield FoundObject(oid, kind, data, replica.name)

    @cached_property
    def _files(self) -> dict[str, Path]:
        """The files of the work tree by the blob that they are: one of them may be a lost one."""
        root = self._repository.root
        if root is None:
            return {}
        return {
            blob_id(path.read_bytes()): path
            for path in sorted(root.rglob("*"))
            if path.is_file() and not path.is_symlink() and ".git" not in path.parts
        }
