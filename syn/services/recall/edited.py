"""Bringing the index up to date where files were edited in place, without a listing (ADR 0039)."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from syn.git.disk import stat_key
from syn.index.inputs import inputs_hash
from syn.index.store import FileRecord, Index, StatRecord, open_index
from syn.services.recall.indexing import (
    FEW,
    Mode,
    Progress,
    Reading,
    Reindexed,
    finishing,
    index_path,
    is_of_ledger,
    unchanged,
    write_changed,
)
from syn.services.workspace import Workspace

if TYPE_CHECKING:
    from syn.git.snapshot import SnapshotEntry


def bring_edited(
    workspace: Workspace, reading: Reading, folders: list[bytes], progress: Progress | None
) -> Reindexed | None:
    """Bring the index up to date where some folders look otherwise and hold the same names.

    None where that takes a listing to tell, or is no less work with one.

    Raises:
        IndexUnusable: the index cannot be read, or not be written.
    """
    path, count = index_path(workspace), len(reading.files.known)
    changed: list[SnapshotEntry] = []
    touched: list[tuple[str, StatRecord]] = []
    with open_index(path) as index:
        meta = index.meta()
        for record in _records_in(index, folders):
            if _looks_the_same(workspace, record):
                continue
            entry = reading.files.known.find(record.path.encode())
            if entry is None or entry.stat is None:
                return None
            if not unchanged(reading.snapshot, entry, record, touched):
                changed.append(entry)
    if not changed and len(touched) <= FEW:
        return Reindexed("none", count, 0, 0, meta.get("inputs_hash", ""), path)
    if len(changed) > FEW or not is_of_ledger(meta, reading.ledger_files):
        return None

    from syn.index.store.build import Builder

    with Builder(path, base=path) as builder:
        list(write_changed(builder, reading, changed, touched, None, progress))
        digest = inputs_hash([*reading.control, *builder.inputs()])
        built = builder.finish(*finishing(reading, meta, digest))
    mode: Mode = "incremental" if changed else "none"
    return Reindexed(mode, built.facts, len(changed), 0, digest, path)


def _looks_the_same(workspace: Workspace, record: FileRecord) -> bool:
    try:
        stat = (workspace.root / record.path).lstat()
    except OSError:
        return False
    return record.unchanged(StatRecord(*stat_key(stat)))


def _records_in(index: Index, folders: list[bytes]) -> Iterator[FileRecord]:
    """The files of an index that stand in the folders themselves."""
    for folder in folders:
        try:
            name = folder.decode()
        except UnicodeDecodeError:
            continue  # every file below is refused by its name, so the index has none
        yield from (found for found in index.files(name) if "/" not in found.path[len(name) :])
