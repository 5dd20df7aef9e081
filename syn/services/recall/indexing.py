"""The index file of a workspace: where it lives, what it is built from, bringing it up to date."""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.errors import CannotError
from syn.git.parse import blob_id
from syn.git.snapshot import Snapshot, SnapshotEntry
from syn.index.derive import World
from syn.index.inputs import inputs_hash
from syn.index.rows import PROJECTION
from syn.index.store import FileRecord, IndexUnusable, StatRecord, open_index
from syn.model.config import Config
from syn.model.problem import Problem
from syn.services.recall.ledgerfiles import LedgerFiles, LedgerView, LookedUp
from syn.services.recall.ledgernote import (
    pairs_text,
    read_pairs,
)
from syn.services.recall.reading import (
    FactFiles,
    Inventory,
    read_plain,
    sort_facts,
    take_inventory,
)
from syn.services.workspace import Workspace

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from syn.index.store.build import Builder

INDEX = ".synapse/index.db"
FEW = 100
"""Files whose stat record is too fresh to be trusted and that are hashed again at each read, before
it is worth to write the index anew for their sake."""
MANY = 1_000
"""Changed files from which on, when fewer stayed as they are, the index is built anew: one built at
once has its documents in path order, and answers broad searches without looking at all of them."""

Progress = Callable[[int, int], None]
"""Called with (files done, files in all)."""


Mode: TypeAlias = Literal["none", "incremental", "full"]
"""`none`: every row stood; at the most, stat records were renewed."""


@dataclass(frozen=True, slots=True)
class Reindexed:
    """What a reindex did."""

    mode: Mode
    facts: int
    read: int
    """Files whose rows were derived anew."""
    removed: int
    inputs_hash: str
    path: Path


@dataclass(frozen=True, slots=True)
class Reading:
    """One snapshot, sorted and with its ledger, before any fact is read."""

    snapshot: Snapshot
    config: Config
    inventory: Inventory
    ledger_files: LedgerFiles
    files: FactFiles
    configuration: tuple[tuple[bytes, str], ...]
    """(path, digest) of it."""
    policy: tuple[tuple[bytes, str], ...]
    """(path, digest) of it."""
    policy_data: bytes | None
    """Its bytes."""
    fixed: bool
    """Whether these two are HEAD's blobs, and nothing of HEAD is missing on disk."""
    seen: str = ""
    """Names how work tree and index look, where the same look has the same answers (ADR 0039)."""

    @property
    def control(self) -> tuple[tuple[bytes, str], ...]:
        """(path, digest) of the inputs that are not facts: configuration, ledger, policy."""
        return (*self.configuration, *self.ledger_files.digests, *self.policy)

    @property
    def heads(self) -> bool:
        """Whether those are HEAD's blobs, and nothing of HEAD is missing on disk."""
        return self.fixed and self.ledger_files.heads

    @property
    def ledger(self) -> LedgerView:
        """The ledger, decoded as a whole the first time it is asked for."""
        return self.ledger_files.view


def read_workspace(workspace: Workspace, ref: str = "") -> Reading:
    """Sort a snapshot's entries and read its configuration and ledger.

    Raises:
        CannotError: the snapshot itself, or its configuration, cannot be read.
    """
    return read_snapshot(workspace.snapshot(ref), workspace.config)


def read_snapshot(snapshot: Snapshot, config: Config, note: Path | None = None) -> Reading:
    """The same for a snapshot at hand; `config` counts only where it has no `synapse.toml`.

    `note` is where earlier reads kept what they learnt of the ledger (`ledgernote`); what verifies
    or writes gives none.
    """
    inventory = take_inventory(snapshot, config)
    own = _own_config(snapshot, inventory, config)
    if own != config:
        inventory = take_inventory(snapshot, own)
    return read_sorted(snapshot, own, inventory, note)


def read_sorted(
    snapshot: Snapshot,
    config: Config,
    inventory: Inventory,
    note: Path | None,
    files: FactFiles | None = None,
) -> Reading:
    """The same for a listing at hand; `files` where its facts were told apart before."""
    ledger = LedgerFiles(snapshot, inventory.ledger, config.id, inventory.lost, note)
    if files is None:
        ledger.read()  # beside the listing, so that both are of one moment
    found = files or sort_facts(inventory, ledger)
    control = [(e, read_plain(snapshot, e)) for e in (*inventory.config, *inventory.policy)]
    digests = [(entry.path, sha256(data)) for entry, data in control]
    at = len(inventory.config)
    return Reading(
        snapshot=snapshot,
        config=config,
        inventory=inventory,
        ledger_files=ledger,
        files=found,
        configuration=tuple(digests[:at]),
        policy=tuple(digests[at:]),
        policy_data=control[at][1] if inventory.policy else None,
        fixed=not inventory.missing and all(blob_id(d) == e.head_oid for e, d in control),
    )


def _own_config(snapshot: Snapshot, inventory: Inventory, config: Config) -> Config:
    """The snapshot's own configuration, or the one given when it has none."""
    from syn.services.config import parse_config

    found = [parse_config(read_plain(snapshot, entry)) for entry in inventory.config]
    return found[-1] if found else config


def world_of(reading: Reading) -> World:
    """What the projection takes from outside the facts' own files."""
    return World(
        recorded=reading.ledger.recorded,
        decisions=reading.ledger.ledger.entries(),
        problems=_refusals(reading),
    )


def _refusals(reading: Reading) -> list[Problem]:
    return [problem for found in reading.files.refused.values() for problem in found]


def tails_of(reading: Reading) -> dict[str, list[int | str]]:
    """Writer to [length, head] of its chain."""
    return {
        chain.writer: [chain.tail.length, chain.tail.head] for chain in reading.ledger.ledger.chains
    }


def index_path(workspace: Workspace) -> Path:
    """Where this workspace's index is: in it, or in the user's cache when it is read-only."""
    path = workspace.root / INDEX
    place = path.parent if path.parent.exists() else path.parent.parent
    if os.access(place, os.W_OK):
        return path
    name = hashlib.sha256(os.fsencode(workspace.root)).hexdigest()[:32]
    return workspace.around.cache_dir / "indexes" / f"{name}.db"


def bring(
    workspace: Workspace,
    reading: Reading,
    old: "Old | None",
    executor: "Executor | None",
    progress: Progress | None,
) -> Reindexed:
    """Bring the index of a workspace up to what was read of it; `old` is None for a new one."""
    path = index_path(workspace)
    path.parent.mkdir(parents=True, exist_ok=True)
    if old is None:
        return build_index(path, reading, executor, progress)
    return _build_changed(path, reading, old, executor, progress)


@dataclass(frozen=True, slots=True)
class Old:
    """What the index at hand says of the files it was built from; used up by the build on it."""

    files: dict[str, FileRecord]
    meta: Mapping[str, str]
    moved: Mapping[str, str]
    """`LedgerView.moved` at that time."""


def old_index(path: Path) -> Old | None:
    """The index as a base for an incremental build; None when only a full build will do."""
    try:
        with open_index(path) as index:
            meta = index.meta()
            if meta.get("projection") != str(PROJECTION):
                return None
            moved = read_pairs(meta.get("moved", ""))
            if moved is None:
                return None
            return Old({record.path: record for record in index.files()}, meta, moved)
    except IndexUnusable:
        return None


def build_index(
    path: Path,
    reading: Reading,
    executor: "Executor | None" = None,
    progress: Progress | None = None,
) -> Reindexed:
    """Build the index of a snapshot anew, in one step, at a path.

    Raises:
        IndexUnusable: it cannot be written.
    """
    from syn.index.store.build import Builder
    from syn.services.recall.projecting import project_all

    total = len(reading.files.facts)
    records: list[tuple[bytes, str]] = list(reading.control)
    with Builder(path) as builder:
        projected = project_all(
            reading.snapshot, reading.files.facts, reading.config, executor, reading.ledger.moved
        )
        for done, (entry, item) in enumerate(zip(reading.files.facts, projected, strict=True), 1):
            builder.add(item.rows, _stat(entry))
            records.append((entry.path, item.rows.source_digest))
            if progress is not None:
                progress(done, total)
        digest = inputs_hash(records)
        built = builder.finish(*finishing(reading, None, digest))
    return Reindexed("full", built.facts, built.written, 0, digest, path)


def _build_changed(
    path: Path,
    reading: Reading,
    old: Old,
    executor: "Executor | None",
    progress: Progress | None,
) -> Reindexed:
    """Derive only what changed; when nothing did, the file stays as it is."""
    from syn.index.store.build import Builder

    known = old.files
    same_rules = old.meta.get("rules") == rules_of(reading.config)
    changed: list[SnapshotEntry] = []
    records: list[tuple[bytes, str]] = list(reading.control)
    touched: list[tuple[str, StatRecord]] = []
    now = reading.ledger_files.moved.items()
    renamed = frozenset(path for path, _ in old.moved.items() ^ now)
    for entry in reading.files.facts:
        name = entry.path.decode()
        record = known.pop(name, None)
        same = same_rules and name not in renamed
        digest = unchanged(reading.snapshot, entry, record, touched) if same else ""
        if digest:
            records.append((entry.path, digest))
        else:
            changed.append(entry)
    same = False
    if not changed and not known:
        digest = inputs_hash(records)
        same_world = old.meta.get("refused") == refused_digest(reading)
        same = digest == old.meta.get("inputs_hash") and same_world
        if same and len(touched) <= FEW:
            return Reindexed("none", len(reading.files.facts), 0, 0, digest, path)
    if len(changed) > max(MANY, len(reading.files.facts) - len(changed)):
        return build_index(path, reading, executor, progress)
    with Builder(path, base=path) as builder:
        for gone in known:
            builder.remove(gone)
        records += write_changed(builder, reading, changed, touched, executor, progress)
        digest = inputs_hash(records)
        built = builder.finish(*finishing(reading, old.meta, digest))
    mode: Mode = "none" if same and not changed and not known else "incremental"
    return Reindexed(mode, built.facts, len(changed), len(known), digest, path)


def write_changed(
    builder: "Builder",
    reading: Reading,
    changed: list[SnapshotEntry],
    touched: list[tuple[str, StatRecord]],
    executor: "Executor | None",
    progress: Progress | None,
) -> Iterator[tuple[bytes, str]]:
    """Derive the rows of changed files anew, and renew stat records; the digests of the former."""
    from syn.services.recall.projecting import project_all

    for path, stat in touched:
        builder.restat(path, stat)
    moved = reading.ledger_files.moved
    projected = project_all(reading.snapshot, changed, reading.config, executor, moved)
    for done, (entry, item) in enumerate(zip(changed, projected, strict=True), 1):
        builder.add(item.rows, _stat(entry))
        yield entry.path, item.rows.source_digest
        if progress is not None:
            progress(done, len(changed))


def is_of_ledger(meta: Mapping[str, str], files: LedgerFiles) -> bool:
    """Whether an index was built of this very ledger, and that one is known to be sound."""
    return files.is_noted and meta.get("ledger") == files.content


def finishing(
    reading: Reading, meta: Mapping[str, str] | None, digest: str
) -> tuple[World, dict[str, str]]:
    """What the rows across files are derived from, and what the index notes.

    Over an index with this `meta`, which was built of the same ledger, no entry is decoded again.
    """
    files = reading.ledger_files
    if meta is None or not is_of_ledger(meta, files):
        return world_of(reading), records_of(reading, digest)
    noted = {
        **meta,
        "inputs_hash": digest,
        "refused": refused_digest(reading),
        "rules": rules_of(reading.config),
    }
    return World(LookedUp(files), problems=_refusals(reading), same_ledger=True), noted


def unchanged(
    snapshot: Snapshot,
    entry: SnapshotEntry,
    record: FileRecord | None,
    touched: list[tuple[str, StatRecord]],
) -> str:
    """The digest of an entry whose rows still stand, or "" when they must be derived anew."""
    if record is None or not record.source_digest:
        return ""
    stat = _stat(entry)
    if stat is not None and record.unchanged(stat):
        return record.source_digest
    try:
        digest = sha256(snapshot.read(entry))
    except CannotError:
        return ""
    if digest != record.source_digest:
        return ""
    if stat is not None:
        touched.append((record.path, stat))
    return digest


def _stat(entry: SnapshotEntry) -> StatRecord | None:
    key = entry.stat
    return StatRecord(*key) if key else None


def rules_of(config: Config) -> str:
    """What of the configuration decides the rows of a single file."""
    return canonical.encode(
        [
            [list(pair) for pair in config.keys.names],
            list(config.relations),
            config.link_order,
        ]
    ).decode()


def refused_digest(reading: Reading) -> str:
    """Digest of the files that are refused by their names: rows come of them, but no input."""
    found = _refusals(reading)
    return sha256(canonical.encode([[p.path, p.line, p.code, p.message] for p in found]))


def records_of(reading: Reading, digest: str) -> dict[str, str]:
    """What an index notes about what it was built from; `digest` is its `inputs_hash`."""
    return {
        "inputs_hash": digest,
        "refused": refused_digest(reading),
        "rules": rules_of(reading.config),
        "moved": pairs_text(reading.ledger.moved),
        "tails": canonical.encode(tails_of(reading)).decode(),
        "ledger": reading.ledger_files.content,
    }
