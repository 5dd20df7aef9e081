"""Opening a workspace to read it: the index, brought up to date first.

A read that finds the work tree and the index as they were when both agreed is spared the listing
(`listingnote`), and one that finds the ledger as it was is spared the decoding (`ledgernote`).
"""

import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from syn.canon import json as canonical
from syn.errors import RefusedError
from syn.git.disk import stat_key
from syn.git.survey import survey
from syn.git.worktree import WorktreeSnapshot
from syn.index.store import Index, IndexUnusable, StatRecord, open_index
from syn.services.recall.edited import bring_edited
from syn.services.recall.indexing import (
    INDEX,
    Progress,
    Reading,
    Reindexed,
    bring,
    index_path,
    old_index,
    read_snapshot,
    read_sorted,
)
from syn.services.recall.ledgernote import note_path
from syn.services.recall.listingnote import (
    Look,
    Sorted,
    listing_path,
    recall_listing,
    remember_listing,
)
from syn.services.recall.reading import CONFIG, sort_facts, take_inventory
from syn.services.recall.steady import steadily
from syn.services.workspace import Workspace

if TYPE_CHECKING:
    from concurrent.futures import Executor


_DERIVED = (os.fsencode(INDEX), b".synapse/scrub.cursor")
"""What nothing is derived from, as `.synapse/.gitignore` names it."""


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


def reindex(
    workspace: Workspace,
    *,
    full: bool = False,
    executor: "Executor | None" = None,
    progress: Progress | None = None,
) -> Reindexed:
    """Bring the index up to date, or build it anew; a no-op changes no byte.

    Raises:
        CannotError: the workspace cannot be read or the index not be written.
    """
    if full:
        look = _look(workspace)
        reading = read_snapshot(workspace.snapshot(), workspace.config)
        done = bring(workspace, reading, None, executor, progress)
        if look is not None:
            _remember(workspace, look, reading)
        return done
    return _bring_current(workspace, executor, progress, refuse_shrunk=False)[1]


def _open_current(
    workspace: Workspace,
    note: Callable[[str], None],
    progress: Progress | None,
    *,
    only_reads: bool,
) -> tuple[Index, Reading]:
    if only_reads:
        reading, done = _bring_current(workspace, None, progress, refuse_shrunk=True)
    else:
        reading = read_snapshot(workspace.snapshot(), workspace.config)
        done = _bring_listed(workspace, reading, None, progress, refuse_shrunk=True)
    if done.mode != "none":
        note(f"index brought up to date: {done.read} read, {done.removed} removed")
    return open_index(done.path), reading


def _bring_current(
    workspace: Workspace,
    executor: "Executor | None",
    progress: Progress | None,
    *,
    refuse_shrunk: bool,
) -> tuple[Reading, Reindexed]:
    """The same without a listing where nothing, or nothing but contents, changed since the last."""
    look = _look(workspace)
    known = _bring_known(workspace, look, progress) if look is not None else None
    if known is not None:
        return known
    reading = read_snapshot(workspace.snapshot(), workspace.config, note_path(workspace))
    done = _bring_listed(workspace, reading, executor, progress, refuse_shrunk=refuse_shrunk)
    if look is not None:
        reading = _remember(workspace, look, reading)
    return reading, done


def _bring_listed(
    workspace: Workspace,
    reading: Reading,
    executor: "Executor | None",
    progress: Progress | None,
    *,
    refuse_shrunk: bool,
) -> Reindexed:
    old = old_index(index_path(workspace))
    if old is not None and refuse_shrunk:
        _refuse_shrunk(reading, old.meta)
    return bring(workspace, reading, old, executor, progress)


def _bring_known(
    workspace: Workspace, look: Look, progress: Progress | None
) -> tuple[Reading, Reindexed] | None:
    """What the noted listing tells; that no known segment shrank was seen when it was made."""
    noted = recall_listing(listing_path(workspace), look)
    snapshot, config = workspace.snapshot(), workspace.config
    if noted is None or not isinstance(snapshot, WorktreeSnapshot):
        return None

    def every() -> Sorted:
        inventory = take_inventory(snapshot, config)
        return inventory, sort_facts(inventory, reading.ledger_files)

    try:
        folders = [] if noted.is_same else noted.edited()
        if folders is None:
            return None
        inventory, files = noted.listing(snapshot, config, every)
    except (ValueError, TypeError, KeyError):
        return None
    reading = read_sorted(snapshot, config, inventory, note_path(workspace), files)
    try:
        done = bring_edited(workspace, reading, folders, progress)
    except IndexUnusable:
        return None
    if done is not None and noted.is_same:
        return replace(reading, seen=look.name), done
    return None if done is None else (_remember_edited(workspace, look, reading), done)


def _remember_edited(workspace: Workspace, look: Look, reading: Reading) -> Reading:
    """Keep the noted listing beside what was looked at before the index was brought up to date."""
    try:
        index = _stat_text(index_path(workspace))
    except OSError:
        return reading
    return _keep(workspace, Look(look.tree, look.now_ns, index), reading)


def _look(workspace: Workspace) -> Look | None:
    """How everything looks that a listing, and the index, depend on; None when that is unclear."""
    path = index_path(workspace)
    try:
        with tempfile.TemporaryFile(dir=path.parent) as clock:
            now = os.fstat(clock.fileno()).st_mtime_ns
        index = _stat_text(path) if path.exists() else ""
    except OSError:
        return None
    tree = survey(workspace.repository, _DERIVED, frozenset({CONFIG}))
    return None if tree is None else Look(tree, now, index)


def _stat_text(path: Path) -> str:
    return StatRecord(*stat_key(path.lstat())).text()


def _remember(workspace: Workspace, look: Look, reading: Reading) -> Reading:
    """Keep a listing for the next read, if all of it was there to be seen and is as it was."""
    snapshot = reading.snapshot
    if not (isinstance(snapshot, WorktreeSnapshot) and snapshot.is_plain):
        return reading
    after = _look(workspace)
    if after is None or after.tree != look.tree:
        return reading
    return _keep(workspace, Look(look.tree, look.now_ns, after.index), reading)


def _keep(workspace: Workspace, look: Look, reading: Reading) -> Reading:
    listed = reading.inventory, reading.files
    is_settled = remember_listing(listing_path(workspace), look, listed)
    return replace(reading, seen=look.name) if is_settled else reading


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
