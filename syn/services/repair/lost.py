"""The git objects behind the workspace that are lost here, and those that were found elsewhere."""

from collections.abc import Sequence

from syn.errors import RefusedError
from syn.git import durable
from syn.git.loose import encode_loose, loose_path
from syn.git.parse import object_id, parse_commit, parse_raw_tree, tree_item
from syn.git.refs import read_ref
from syn.git.repository import Repository
from syn.git.write import KEPT_REF
from syn.services.repair.sources import Elsewhere, FoundObject, Replica
from syn.services.workspace import Workspace


class NotTheObjectError(RefusedError):
    """Bytes that were to be put back under an id that is not theirs."""

    def __init__(self, oid: str) -> None:
        super().__init__("object-mismatch", f"the bytes found for {oid} do not hash to it")


def find_objects(workspace: Workspace, replicas: Sequence[Replica]) -> Elsewhere:
    """Walk everything that HEAD and the kept bytes hold, through what is lost as well."""
    repository = workspace.repository
    elsewhere = Elsewhere(repository, replicas)
    commit = repository.head().commit
    if commit is not None and (found := elsewhere.read(commit)) is not None:
        _walk(elsewhere, parse_commit(commit, found[1]).tree)
    kept = read_ref(repository, KEPT_REF)
    if kept is not None:
        _walk(elsewhere, kept)
    return elsewhere


def _walk(elsewhere: Elsewhere, tree: str) -> None:
    pending = [tree]
    seen: set[str] = set()
    while pending:
        oid = pending.pop()
        if oid in seen:
            continue
        seen.add(oid)
        found = elsewhere.read(oid)
        if found is None or found[0] != "tree":
            continue
        items = map(tree_item, parse_raw_tree(oid, found[1]))
        pending.extend(item.oid for item in items if item.kind != "gitlink")


def put_back(repository: Repository, found: FoundObject) -> None:
    """Write an object under its id, as a loose one; what lies there is replaced.

    Raises:
        NotTheObjectError: the bytes are not the ones the id stands for; nothing is written.
        CannotError: it cannot be written.
    """
    if object_id(found.kind, found.data) != found.oid:
        raise NotTheObjectError(found.oid)
    folder = repository.store.folders[0]
    place = loose_path(folder, found.oid).relative_to(folder)
    durable.replace(folder, bytes(place), encode_loose(found.kind, found.data))
    repository.store.read(found.oid)


def damaged_file(repository: Repository, oid: str) -> bytes | None:
    """The bytes of the loose file that stands under an id now, for the backup; None without one."""
    try:
        return loose_path(repository.store.folders[0], oid).read_bytes()
    except OSError:
        return None
