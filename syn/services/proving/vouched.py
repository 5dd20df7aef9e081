"""What a signed report vouches for, where what it looked at is here byte for byte (ADR 0031).

Only functions of those bytes alone are taken from it: what facts, ledger and policy give, and that
an index file holds it. Git's objects, history, checkpoints and receipts are looked at anew.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from syn.canon import json as canonical
from syn.canon.digest import sha256
from syn.errors import CannotError, RefusedError
from syn.git.parse import blob_id
from syn.model.finding import InvariantResult, Json, Status
from syn.model.report import Report
from syn.services.proving.collect import Pass
from syn.services.proving.head_record import facts_root
from syn.services.recall.indexing import Reading
from syn.services.recall.ledgernote import pairs_text, read_pairs
from syn.services.recall.reading import POLICY

_OF_INPUTS = ("INV-2", "INV-5")
"""Invariants over facts, ledger, policy and configuration and nothing else."""
_CLEAN = ("INV-1", "INV-2", "INV-3", "INV-5")


@dataclass(frozen=True, slots=True)
class Clean:
    """What a run gives over these inputs, which found nothing wrong with facts or ledger."""

    results: tuple[InvariantResult, ...]
    facts: int
    warnings: int
    writers: int
    entries: int
    moved: Mapping[str, str]
    """As `LedgerView.moved`."""


@dataclass(frozen=True, slots=True)
class Proven:
    """These very inputs, and this very index file, are those of the report."""

    manifest: str
    digests: Mapping[str, str]
    """Path to source digest of every fact file, as it is now."""
    heads: bool
    """Whether every fact file is HEAD's blob at its path."""
    facts_root: str
    """The root over the fact rows that a head record names."""
    clean: Clean | None
    """None where something was found: then facts and ledger are looked at anew."""


@dataclass(frozen=True, slots=True)
class Read:
    """Every fact file of a snapshot, read and hashed."""

    digests: dict[str, str]
    heads: bool


def read_all(reading: Reading) -> Read | None:
    """Read and hash every fact file; None when one of them cannot be read."""
    found: dict[str, str] = {}
    heads = True
    for entry in reading.files.facts:
        try:
            data = reading.snapshot.read(entry)
        except (CannotError, RefusedError):
            return None
        found[entry.path.decode()] = sha256(data)
        heads = heads and blob_id(data) == entry.head_oid
    return Read(found, heads)


def signed_digest(reading: Reading) -> str:
    """One digest for what decides whether the entries' signatures hold: ledger and policy."""
    policy = dict(reading.control).get(POLICY, "")
    return sha256(canonical.encode([reading.ledger_files.digest, policy]))


def learnt(done: Pass) -> dict[str, Json]:
    """What a report keeps of a pass over every row, beside what it says."""
    return {
        "moved": pairs_text(done.reading.ledger_files.moved),
        "root": facts_root(done),
        "signed": signed_digest(done.reading),
    }


def is_clean(report: Report) -> bool:
    """Whether a run found nothing at all in facts, ledger, index and history."""
    results = {result.id: result for result in report.invariants}
    return all(
        name in results
        and not results[name].findings
        and results[name].status in (Status.PASS, Status.SKIP)
        for name in _CLEAN
    )


def clean_of(report: Report, told: Mapping[str, Json]) -> Clean | None:
    """What a kept report vouches for of facts and ledger; None when it found something."""
    moved = read_pairs(str(told.get("moved", "")))
    results = {result.id: result for result in report.invariants}
    if not is_clean(report) or moved is None:
        return None
    history, content = results["INV-3"].evidence, results["INV-2"].evidence
    counts = (
        content.get("facts"),
        report.local.get("warnings"),
        history.get("writers"),
        history.get("entries"),
    )
    facts, warnings, writers, entries = [n if isinstance(n, int) else -1 for n in counts]
    if min(facts, warnings, writers, entries) < 0:
        return None
    kept = tuple(results[name] for name in _OF_INPUTS)
    return Clean(kept, facts, warnings, writers, entries, moved)
