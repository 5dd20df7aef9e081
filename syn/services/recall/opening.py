"""Opening a workspace to read it: the index, brought up to date first.

A read that finds the work tree and the index as they were when both agreed is spared the listing
(`listingnote`), and one that finds the ledger as it was is spared the decoding (`ledgernote`).
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace

from syn.canon import json as canonical
from syn.errors import RefusedError
from syn.git.survey import survey
from syn.git.worktree import WorktreeSnapshot
from syn.index.store import Index, IndexUnusable, StatRecord, open_index
from syn.services.recall.indexing import (
    INDEX,
    Progress,
    Reading,
    bring,
    index_path,
    note_ledger,
    old_index,
    read_snapshot,
    read_sorted,
)
from syn.services.recall.ledgernote import note_path
from syn.services.recall.listingnote import (
    Look,
    listing_path,
    recall_listing,
    remember_listing,
)
from syn.services.recall.reading import FactFiles, Inventory, sort_facts, take_inventory
from syn.services.recall.steady import steadily
from syn.services.workspace import Workspace


def open_current(
    workspace: Workspace,
    note: Callable[[str], None],
    progress: Progress | None = None,
    *,
    only_reads: bool = False,
) -> tuple[Index, Reading]:
    """The index, brought up to date first; `note` is told when that was needed.

    Who `only_reads` may be spared the decoding of a ledger that was decoded before (`ledgernote`).

    Raises:
        RefusedError: a known segment is no longer a prefix of what is here (`ledger-shrank`).
        CannotError: the index can neither be used nor built.
    """

    def read() -> tuple[Index, Reading]:
        return _open_current(workspace, note, progress, only_reads=only_reads)

    return steadily(workspace, read, note, lambda found: found[0].close())


def _open_current(
    workspace: Workspace,
    note: Callable[[str], None],
    progress: Progress | None,
    *,
    only_reads: bool,
) -> tuple[Index, Reading]:
    look = _look(workspace) if only_reads else None
    if look is not None:
        known = _open_known(workspace, look)
        if known is not None:
            return known
    kept = note_path(workspace) if only_reads else None
    reading = read_snapshot(workspace.snapshot(), workspace.config, kept)
    old = old_index(index_path(workspace))
    if old is not None:
        _refuse_shrunk(reading, old.meta)
    done = bring(workspace, reading, old, None, progress)
    if kept is not None:
        note_ledger(kept, reading.ledger_files)
    if look is not None:
        reading = _remember(workspace, look, reading)
    if done.mode != "none":
        note(f"index brought up to date: {done.read} read, {done.removed} removed")
    return open_index(done.path), reading


def _open_known(workspace: Workspace, look: Look) -> tuple[Index, Reading] | None:
    """The index and a reading without a listing, where nothing changed since the last one."""
    snapshot, config = workspace.snapshot(), workspace.config
    assert isinstance(snapshot, WorktreeSnapshot)  # noqa: S101 - there is one where there is a look

    def every() -> tuple[Inventory, FactFiles]:
        inventory = take_inventory(snapshot, config)
        return inventory, sort_facts(inventory, reading.ledger_files)

    listed = recall_listing(listing_path(workspace), look, snapshot, config, every)
    if listed is None:
        return None
    inventory, files = listed
    plain = read_sorted(snapshot, config, inventory, note_path(workspace), files)
    reading = replace(plain, seen=look.name)
    try:
        # That no known segment shrank was seen when this look was noted.
        return open_index(index_path(workspace)), reading
    except IndexUnusable:
        return None


def _look(workspace: Workspace) -> Look | None:
    """How everything looks that a listing, and the index, depend on; None when that is unclear."""
    path = index_path(workspace)
    try:
        with tempfile.TemporaryFile(dir=path.parent) as clock:
            now = os.fstat(clock.fileno()).st_mtime_ns
        stat = path.lstat()
    except OSError:
        return None
    tree = survey(workspace.repository, os.fsencode(INDEX))
    record = StatRecord(stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
    return None if tree is None else Look(tree, now, record.text())


def _remember(workspace: Workspace, look: Look, reading: Reading) -> Reading:
    """Keep a listing for the next read, if all of it was there to be seen and is as it was."""
    snapshot = reading.snapshot
    if not (isinstance(snapshot, WorktreeSnapshot) and snapshot.is_plain):
        return reading
    after = _look(workspace)
    if after is None or after.tree != look.tree or not look.tree.settled(look.now_ns):
        return reading
    remember_listing(listing_path(workspace), after, (reading.inventory, reading.files))
    return replace(reading, seen=after.name)


def _refuse_shrunk(reading: Reading, meta: Mapping[str, str]) -> None:
    tails = canonical.decode(meta.get("tails", "{}").encode())
    if not isinstance(tails, dict):
        return
    for writer, tail in tails.items():
        if not isinstance(tail, list):
            continue
        length, head = tail
        if length and not reading.ledger_files.holds(writer, int(str(length)), str(head)):
            raise RefusedError(
                "ledger-shrank",
                f"writer {writer}: the index knows {length} decisions that are not here any more",
                "after a switch of branches run syn reindex; else syn verify says what is gone",
            )
