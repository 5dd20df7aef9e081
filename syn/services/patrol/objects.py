"""Git's objects behind the facts: HEAD's commit and trees, our own files there, and kept bytes.

The blobs of facts are read with the facts themselves.
"""

from collections.abc import Iterator

from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.git.objects import ObjectStore
from syn.git.parse import TreeItem
from syn.git.refs import read_ref
from syn.git.repository import Repository
from syn.git.write import KEPT_REF
from syn.model.problem import display_path
from syn.services.patrol.fault import CellFault, erased, fault
from syn.services.patrol.look import Look
from syn.services.recall.reading import CONFIG

_OWN = (b".synapse/", CONFIG)
"""Whose blobs are read here; those of facts are, with the facts."""
HEAD = "HEAD"
KEPT = "kept"


def kept_folders(look: Look) -> tuple[str, ...]:
    """The folders of `refs/synapse/kept`, as names of units."""
    tree = read_ref(look.workspace.repository, KEPT_REF)
    if tree is None:
        return ()
    try:
        items = look.workspace.repository.store.tree(tree)
    except (CannotError, RefusedError):
        return (KEPT,)
    return (KEPT, *(f"{KEPT}/{display_path(item.name)}" for item in items))


def check_object(look: Look, name: str) -> Iterator[CellFault]:
    """One unit of objects: HEAD's, or a folder of the kept ones."""
    if name == HEAD:
        return check_head(look.workspace.repository)
    return check_kept_folder(look, name)


def check_head(repository: Repository) -> Iterator[CellFault]:
    """HEAD's commit, every tree below it, and the blobs of our own files."""
    commit = repository.head().commit
    if commit is None:
        return
    try:
        tree = repository.store.commit(commit).tree
    except (CannotError, RefusedError) as error:
        yield erased("object", HEAD, error, commit)
        return
    yield from _tree(repository.store, tree, b"")


def _tree(store: ObjectStore, oid: str, folder: bytes) -> Iterator[CellFault]:
    try:
        items = store.tree(oid)
    except (CannotError, RefusedError) as error:
        yield erased("object", display_path(folder) or HEAD, error, oid)
        return
    for item in items:
        path = folder + item.name
        if item.kind == "tree":
            yield from _tree(store, item.oid, path + b"/")
        elif item.kind == "file" and path.startswith(_OWN):
            yield from _blob(store, item, path)


def _blob(store: ObjectStore, item: TreeItem, path: bytes) -> Iterator[CellFault]:
    try:
        store.blob(item.oid)
    except (CannotError, RefusedError) as error:
        yield erased("object", display_path(path), error, item.oid)


def check_kept_folder(look: Look, name: str) -> Iterator[CellFault]:
    """One folder of the bytes that git keeps for us; their names are their own digests."""
    repository = look.workspace.repository
    tree = read_ref(repository, KEPT_REF)
    if tree is None:
        return
    store, folder = repository.store, name.removeprefix(KEPT).removeprefix("/")
    try:
        items = store.tree(tree)
        if not folder:
            return
        found = next((item for item in items if display_path(item.name) == folder), None)
        blobs = store.tree(found.oid) if found is not None else ()
    except (CannotError, RefusedError) as error:
        yield erased("object", f"{KEPT_REF}/{folder}", error, tree)
        return
    for item in blobs:
        yield from _kept(look, folder, item)


def _kept(look: Look, folder: str, item: TreeItem) -> Iterator[CellFault]:
    digest = folder + display_path(item.name)
    where = f"{KEPT_REF}/{digest}"
    if look.sound_blobs.get(item.oid) == f"sha256:{digest}":
        return
    try:
        data = look.workspace.repository.store.blob(item.oid)
    except (CannotError, RefusedError) as error:
        yield erased("object", where, error, item.oid)
        return
    if sha256(data) != f"sha256:{digest}":
        yield fault(
            "object",
            "tampered",
            "kept-misnamed",
            where,
            subject=item.oid,
            expected=f"sha256:{digest}",
            actual=sha256(data),
        )
