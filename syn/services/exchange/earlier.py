"""What earlier imports left in the workspace: facts by where they were taken from."""

from dataclasses import dataclass

from syn.exchange.note import PROVENANCE
from syn.index.rows import ATTR, AttrRow
from syn.index.store import Index
from syn.model.recorded import Recorded
from syn.services.recall.indexing import Reading

_MEMBERS = ("format", "origin", "path", "record", "digest")


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Where a fact was taken from."""

    form: str
    origin: str
    path: str
    record: str


@dataclass(frozen=True, slots=True)
class Earlier:
    """A fact that was imported, as its file says today."""

    path: str
    """Where the fact is now."""
    digest: str
    """Of the source bytes it was made from."""


def earlier_imports(index: Index, form: str, origin: str) -> dict[Key, Earlier]:
    """Every fact that says it was taken from this collection."""
    said: dict[str, dict[str, str]] = {}
    for member in _MEMBERS:
        for row in index.rows_by(ATTR, pointer=f"/{PROVENANCE}/{member}"):
            found = AttrRow(*row)  # type: ignore[arg-type]
            said.setdefault(found.path, {})[member] = found.value
    return {
        Key(form, origin, members.get("path", ""), members.get("record", "")): Earlier(
            path, members.get("digest", "")
        )
        for path, members in sorted(said.items())
        if (members.get("format"), members.get("origin")) == (form, origin)
    }


def edited_since(reading: Reading, fact: str) -> bool:
    """Whether a decision that was no import says what the fact says now."""
    known = reading.ledger.recorded.get(fact)
    imported = {e.payload for _, e in reading.ledger_files.about(fact) if e.via == "import"}
    return known is None or known.payload not in imported


def undone(reading: Reading, known: Recorded) -> bool:
    """Whether a fact is gone since the decision that made it was taken back, not since it went."""
    entries = dict(reading.ledger_files.about(known.fact))
    return all(entries[head].action == "undo" for head in known.heads if head in entries)
