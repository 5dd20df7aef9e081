"""One look at a workspace: everything a patrol compares with, read anew for each reading."""

from collections.abc import Sequence
from functools import cached_property
from types import TracebackType
from typing import Literal, Self, TypeAlias

from syn.canon import json as canonical
from syn.index.derive import id_problems
from syn.index.project import fact_key
from syn.index.rows import FACT, FactKey, FactRow
from syn.index.store import FileRecord, Index, IndexUnusable, open_index
from syn.model.finding import Finding
from syn.model.problem import display_path
from syn.model.recorded import Recorded
from syn.services.patrol.stored import StoredRows
from syn.services.proving.checkpoints import ground_of, judge_all
from syn.services.proving.judging import Ground, Judged
from syn.services.proving.receipt_evidence import receipt_evidence
from syn.services.recall.indexing import Reading, index_path, read_workspace, tails_of
from syn.services.recall.projecting import Projected, project_bytes
from syn.services.recall.reading import RECEIPTS
from syn.services.sessions.keptimages import KeptImage, kept_images
from syn.services.workspace import Workspace, find_workspace
from syn.verify.evidence import ReceiptEvidence

Standing: TypeAlias = Literal["current", "behind", "ahead", "unknown"]
"""`behind`: decisions were made since · `ahead`: it knows decisions that are not here."""


class Look:
    """One reading; a second one is another object, so that nothing cached is believed twice.

    Raises (when it is made): CannotError, the workspace itself cannot be read.
    """

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = find_workspace(workspace.root, workspace.around)
        self.reading: Reading = read_workspace(self.workspace)
        self.index: Index | None = None
        self.index_error: IndexUnusable | None = None
        path = index_path(self.workspace)
        self.index_exists = path.exists()
        if self.index_exists:
            try:
                self.index = open_index(path)
            except IndexUnusable as error:
                self.index_error = error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        if self.index is not None:
            self.index.close()

    @cached_property
    def recorded_at(self) -> dict[str, Recorded]:
        """Recorded facts that are not deleted, by path."""
        states = self.reading.ledger.recorded.values()
        return {state.path: state for state in states if state.path and not state.deleted}

    @cached_property
    def fact_paths(self) -> tuple[str, ...]:
        """Every path at which a fact is, is recorded, or is refused; sorted."""
        files = self.reading.files
        there = {entry.path.decode() for entry in files.facts}
        return tuple(sorted(there | self.recorded_at.keys() | files.refused.keys()))

    @cached_property
    def records(self) -> dict[str, FileRecord]:
        """What the index says of the files it was built from; nothing when a record decayed."""
        if self.index is None or self.record_faults:
            return {}
        return {record.path: record for record in self.index.files()}

    @cached_property
    def record_faults(self) -> tuple[str, ...]:
        """Records beside the rows that are not what was written."""
        return tuple(self.index.record_faults()) if self.index is not None else ()

    @cached_property
    def standing(self) -> Standing:
        """Where the index stands to the ledger, by what it says it was built from.

        Raises:
            IndexUnusable: its records cannot be read.
        """
        if self.index is None or self.record_faults:
            return "unknown"
        return _standing(self.reading, self.index.meta().get("tails", ""))

    @cached_property
    def stored(self) -> StoredRows | None:
        """The rows of the index by file; None without a readable index."""
        return StoredRows(self.index, self.fact_paths) if self.index is not None else None

    @cached_property
    def sound_blobs(self) -> dict[str, str]:
        """Blobs that were read and hashed in this look, with the SHA-256 of their bytes."""
        return {}

    @cached_property
    def keys(self) -> list[FactKey]:
        """The keys of the index's own fact rows, in path order."""
        if self.index is None:
            return []
        return [fact_key(FactRow(*row)) for row in self.index.rows(FACT)]  # type: ignore[arg-type]

    @cached_property
    def doubled(self) -> frozenset[str]:
        """Paths of rows whose id stands on another fact too."""
        return frozenset(p.path for p in id_problems(self.keys, self.reading.ledger.recorded))

    @cached_property
    def images(self) -> tuple[KeptImage, ...]:
        """The session images under `images/`."""
        return kept_images(self.reading)[0]

    @cached_property
    def ground(self) -> Ground:
        """What checkpoints and receipts are held against."""
        repository = self.workspace.repository
        return ground_of(repository, repository.head().commit or "", self.reading, deep=False)

    @cached_property
    def judged(self) -> tuple[Sequence[Judged], Sequence[Finding]]:
        """The publishers' logs of checkpoints, judged, and what of them cannot be read."""
        return judge_all(self.reading, self.ground)

    @cached_property
    def receipts(self) -> ReceiptEvidence:
        """The stored receipts, judged."""
        return receipt_evidence(self.reading, self.ground, self.judged[0])

    @cached_property
    def receipt_paths(self) -> tuple[str, ...]:
        """Every receipt that is there or was recorded; sorted."""
        entries = self.reading.ledger.ledger.entries()
        recorded = {entry.path for _, entry in entries if entry.action == "receipt"}
        there = (e.path for e in self.reading.inventory.evidence if e.path.startswith(RECEIPTS))
        return tuple(sorted(recorded | {display_path(path) for path in there}))

    @cached_property
    def signs(self) -> bool:
        """Whether signatures decide here: there is a policy, or there was one."""
        return bool(self.reading.inventory.policy or self.reading.ledger_files.policies)

    def project(self, path: str, data: bytes) -> Projected:
        """The rows that the bytes of one fact give."""
        moved = self.reading.ledger.moved
        name = {path: moved[path]} if path in moved else {}
        return project_bytes(self.reading.config, (path, data, name))


def _standing(reading: Reading, text: str) -> Standing:
    if text.encode() == canonical.encode({**tails_of(reading)}):
        return "current"
    try:
        tails = canonical.decode(text.encode())
    except canonical.CanonError:
        return "unknown"
    if not isinstance(tails, dict):
        return "unknown"
    chains = {chain.writer: chain for chain in reading.ledger.ledger.chains}
    for writer, tail in tails.items():
        match tail:
            case [int(length), str(head)]:
                chain = chains.get(writer)
                if length and (chain is None or chain.hash_at(length) != head):
                    return "ahead"
            case _:
                return "unknown"
    return "behind"
