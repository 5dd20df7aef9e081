"""Git's own copy of what stands in the work tree: a file that is whole hides that HEAD's is not."""

from collections.abc import Iterator
from itertools import chain

from syn.errors import CannotError, RefusedError
from syn.git.repository import Repository
from syn.model.finding import Finding
from syn.model.problem import display_path
from syn.services.proving.unread import finding
from syn.services.recall.indexing import Reading


def head_copies(repository: Repository, reading: Reading) -> Iterator[Finding]:
    """HEAD's blobs of the inputs and the evidence of a work tree that are lost or damaged."""
    for path, oid in _copies(repository, reading):
        try:
            repository.store.blob(oid)
        except (CannotError, RefusedError) as error:
            yield finding(path, error, path)


def _copies(repository: Repository, reading: Reading) -> Iterator[tuple[str, str]]:
    """Path and id of each; also of facts that are not on disk any more."""
    kept, facts = reading.inventory, reading.files.facts
    for entry in chain(
        kept.config, kept.ledger, kept.lost, kept.policy, kept.evidence, kept.lost_images, facts
    ):
        if entry.head_oid:
            yield display_path(entry.path), entry.head_oid
    gone = reading.ledger.paths - {entry.path.decode() for entry in facts}
    tree = repository.head_tree() if gone else None
    if tree is None:
        return
    for path in sorted(gone):
        item = repository.store.find(tree, path.encode())
        if item is not None and item.kind == "file":
            yield path, item.oid
