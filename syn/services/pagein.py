"""Page-in: a fact is handed out only when its word, its Markdown and its record agree (design 12).

Nothing here is taken from the database on trust: the row's word is recomputed, the Markdown behind
it is read and hashed again, and digests, taint and quarantine come from the ledger's own lines.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from syn.errors import CannotError, RefusedError
from syn.facts.parse import parse
from syn.index.derive import trust_of
from syn.index.rows import FactRow, StateRow
from syn.index.words import cell_of, check_word
from syn.model.fact import Fact
from syn.services.indexing import Reading
from syn.services.reading import under_recorded_id

Audience: TypeAlias = Literal["person", "agent"]
Class: TypeAlias = Literal["clean", "unchecked", "repairable", "tampered", "erasure"]
Record: TypeAlias = Literal["recorded", "reformatted", "unrecorded", "quarantined", "forked"]


@dataclass(frozen=True, slots=True)
class Served:
    """A fact that checks, read from its Markdown a moment ago."""

    fact: Fact
    record: Record
    taint: str
    quarantine: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Withheld:
    """A fact that is not handed out, and why."""

    id: str
    path: str
    fault: Class
    """`clean` when the cell is sound and only this audience may not have the fact."""
    reason: str
    remedy: str


def page_in(
    reading: Reading, fact: FactRow, state: StateRow | None, audience: Audience
) -> Served | Withheld:
    """Check one row of an up-to-date index and hand the fact out, or say why not."""
    markdown = _markdown(reading, fact)
    if isinstance(markdown, Withheld):
        return markdown
    fault = _cell_fault(fact, state)
    if fault:
        return _withheld(fact, *fault)
    if markdown.source_digest != fact.source_digest or markdown.id != fact.id:
        return _withheld(fact, "repairable", "the row is not of the file as it is now")
    if markdown.payload_digest != fact.payload_digest or markdown.body != fact.body:
        return _withheld(fact, "repairable", "the row does not follow from its Markdown")
    return _recorded(reading, markdown, fact, state, audience)


def _markdown(reading: Reading, row: FactRow) -> Fact | Withheld:
    """The fact as its file gives it now."""
    try:
        entry = reading.snapshot.find(row.path.encode())
        if entry is None or entry.kind != "file":
            return _withheld(row, "erasure", "its Markdown file is not there")
        data = reading.snapshot.read(entry)
    except (CannotError, RefusedError) as error:
        return _withheld(row, "erasure", error.message)
    parsed = under_recorded_id(parse(row.path, data, reading.config), reading.ledger.moved)
    if not isinstance(parsed, Fact):
        return _withheld(
            row, "erasure", f"its Markdown is unreadable: {parsed.problems[0].message}"
        )
    return parsed


def _cell_fault(fact: FactRow, state: StateRow | None) -> tuple[Class, str] | None:
    if state is None or not state.word:
        return "unchecked", "the row has no check word"
    if check_word(cell_of(fact), state.taint, state.quarantine) != state.word:
        return "repairable", "the check word does not hold"
    return None


def _recorded(
    reading: Reading, fact: Fact, row: FactRow, state: StateRow | None, audience: Audience
) -> Served | Withheld:
    known = reading.ledger_files.about(fact.id)
    _, taint, quarantine = trust_of(known)
    if state is None or (state.taint, state.quarantine) != (taint, quarantine):
        return _withheld(row, "tampered", "taint or quarantine are not those of the ledger")
    held = known.quarantine if known else ()
    if known is None or known.deleted:
        record: Record = "unrecorded"
    elif known.forked:
        record = "forked"
    elif (known.payload, known.path) != (fact.payload_digest, fact.path):
        record = "unrecorded"
    else:
        record = "recorded" if known.source == fact.source_digest else "reformatted"
    if audience == "agent" and held:
        return _withheld(row, "clean", "it is quarantined", "a person clears it: syn clear")
    if audience == "agent" and record in ("unrecorded", "forked"):
        reason = "it was edited and nobody decided on the edit"
        return _withheld(row, "clean", reason, "a person adopts or restores it: syn status")
    return Served(fact, "quarantined" if held else record, taint, held)


_REMEDIES: dict[Class, str] = {
    "clean": "",
    "unchecked": "syn repair derives the row again",
    "repairable": "syn repair derives the row from its Markdown again",
    "tampered": "syn verify --rebuild names what differs; a person decides",
    "erasure": "syn restore brings back bytes that hash to the record, when git has them",
}


def _withheld(row: FactRow, fault: Class, reason: str, remedy: str = "") -> Withheld:
    return Withheld(row.id, row.path, fault, reason, remedy or _REMEDIES[fault])
