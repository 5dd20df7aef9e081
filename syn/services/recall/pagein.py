"""Page-in: a fact is handed out only when its word, its Markdown and its record agree (design 12).

Nothing here is taken from the database on trust: the row's word is recomputed, the Markdown behind
it is read, hashed and projected again, and digests, taint and quarantine come from the ledger's own
lines (`standing`). Every door that hands a fact out goes through `page_in`.
"""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from syn.errors import CannotError, RefusedError, UsageError
from syn.git.snapshot import SnapshotEntry
from syn.index.derive import DOUBLED, state_row
from syn.index.project import project_file
from syn.index.rows import FactRow, StateRow
from syn.index.store import Index
from syn.index.words import cell_of, check_word
from syn.model.fact import Fact
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import under_recorded_id
from syn.services.recall.standing import Standing, standing_of

Audience: TypeAlias = Literal["person", "agent"]
CellClass: TypeAlias = Literal["clean", "unchecked", "stale", "repairable", "tampered", "erasure"]
"""From the mildest to the gravest (design 12, docs/cells.md)."""
Record: TypeAlias = Literal[
    "recorded", "reformatted", "unrecorded", "quarantined", "forked", "unproven"
]
"""`unproven`: the ledger, or a signature on the decision, does not hold."""


class DuplicateIdError(UsageError):
    """Several facts have one id, so none of them is it."""

    def __init__(self, name: str, paths: list[str]) -> None:
        message = f"the id {name} stands in {', '.join(paths)}"
        super().__init__("duplicate-id", message, "name the path")


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
    fault: CellClass
    """`clean` when the cell is sound and only this audience may not have the fact."""
    reason: str
    remedy: str


def page_in(
    reading: Reading, fact: FactRow, state: StateRow | None, audience: Audience
) -> Served | Withheld:
    """Check one row of an up-to-date index and hand the fact out, or say why not."""
    markdown = read_markdown(reading, fact.id, fact.path)
    if isinstance(markdown, Withheld):
        return markdown
    fault = cell_fault(fact, state) or _row_fault(fact, markdown)
    if fault:
        return _withheld(fact, *fault)
    standing = standing_of(reading, markdown.id)
    if state is not None and state.state == DOUBLED:
        return _withheld(fact, "clean", "its id stands on another fact too", "give one another id")
    if state != state_row(cell_of(fact), reading.ledger_files.recorded(fact.id)):
        return _withheld(fact, "repairable", "its state, taint or quarantine is not the ledger's")
    return _hand_out(markdown, fact, standing, audience)


def page_in_path(
    reading: Reading, index: Index, path: str, audience: Audience
) -> Served | Withheld | None:
    """The fact at a path; None when the index has no row there."""
    cell = index.cell(path)
    return None if cell is None else page_in(reading, *cell, audience)


def page_in_id(
    reading: Reading, index: Index, name: str, audience: Audience
) -> Served | Withheld | None:
    """The fact with this id, else the one at this path; None when there is none.

    A row whose id was changed in the database does not make a recorded fact unknown, nor a copied
    one a sound fact ambiguous.

    Raises:
        DuplicateIdError: several files have this id, so none of them is the fact.
    """
    cells = index.cells_of_id(name)
    if not cells:
        return _recorded_elsewhere(reading, index, name, audience) or page_in_path(
            reading, index, name, audience
        )
    found = [page_in(reading, *cell, audience) for cell in cells]
    sound = [item for item in found if isinstance(item, Served) or item.fault == "clean"]
    if len(found) > 1 and len(sound) != 1:
        raise DuplicateIdError(name, [fact.path for fact, _ in cells])
    return sound[0] if len(found) > 1 else found[0]


def _recorded_elsewhere(
    reading: Reading, index: Index, name: str, audience: Audience
) -> Served | Withheld | None:
    """A recorded fact that the index knows under another id or not at all, as what that is."""
    known = reading.ledger_files.recorded(name)
    if known is None or not known.path:
        return None
    markdown = read_markdown(reading, name, known.path)
    if isinstance(markdown, Withheld):
        return markdown
    if markdown.id != name:
        return None
    found = page_in_path(reading, index, known.path, audience)
    if found is None:
        reason = "the index has no row of it"
        return Withheld(name, known.path, "repairable", reason, _REMEDIES["repairable"])
    return replace(found, id=name) if isinstance(found, Withheld) else found


def entry_of(reading: Reading, path: str) -> SnapshotEntry | None:
    """The file of a fact in a reading, or None when it holds none there."""
    return reading.files.known.find(path.encode("utf-8", "surrogateescape"))


def read_markdown(reading: Reading, name: str, path: str) -> Fact | Withheld:
    """The fact as its file gives it now; `name` is the id to speak of when it does not."""
    from syn.facts.parse import parse

    entry = entry_of(reading, path)
    if entry is None or entry.kind != "file":
        return _erased(name, path, "its Markdown file is not there")
    try:
        data = reading.snapshot.read(entry)
    except (CannotError, RefusedError) as error:
        return _erased(name, path, error.message)
    parsed = under_recorded_id(parse(path, data, reading.config), reading.ledger_files.moved)
    if not isinstance(parsed, Fact):
        return _erased(name, path, f"its Markdown is unreadable: {parsed.problems[0].message}")
    return parsed


def _erased(name: str, path: str, reason: str) -> Withheld:
    return Withheld(name, path, "erasure", reason, _REMEDIES["erasure"])


def cell_fault(fact: FactRow, state: StateRow | None) -> tuple[CellClass, str] | None:
    """What is wrong with a row in itself: its check word is missing or does not hold."""
    if state is None or not state.word:
        return "unchecked", "the row has no check word"
    if check_word(cell_of(fact), state.taint, state.quarantine) != state.word:
        return "repairable", "the check word does not hold"
    return None


def _row_fault(row: FactRow, markdown: Fact) -> tuple[CellClass, str] | None:
    """Where a row with a sound word is not the row of its file."""
    expected = project_file(markdown).fact
    if expected == row:
        return None
    if markdown.source_digest != row.source_digest:
        return "stale", "the row is of an older state of its file"
    assert expected is not None  # noqa: S101 - a readable fact has a row
    pairs = zip(row._fields, row, expected, strict=True)
    column = next(name for name, have, want in pairs if have != want)
    return "repairable", f"the row does not follow from its Markdown: {column}"


def _hand_out(
    fact: Fact, row: FactRow, standing: Standing, audience: Audience
) -> Served | Withheld:
    known = standing.known
    held = known.quarantine if known else ()
    record = _record(fact, standing)
    if audience == "agent":
        if held:
            return _withheld(row, "clean", "it is quarantined", "a person clears it: syn clear")
        if standing.doubts:
            return _withheld(row, "tampered", standing.doubts[0].reason, _VERIFY)
        if record in ("unrecorded", "forked"):
            return _withheld(row, "clean", *_UNDECIDED[record])
    return Served(fact, "quarantined" if held else record, known.taint if known else "", held)


def _record(fact: Fact, standing: Standing) -> Record:
    known = standing.known
    if standing.doubts:
        return "unproven"
    if known is None or known.deleted:
        return "unrecorded"
    if known.forked:
        return "forked"
    if (known.payload, known.path) != (fact.payload_digest, fact.path):
        return "unrecorded"
    return "recorded" if known.source == fact.source_digest else "reformatted"


_VERIFY = "syn verify names what is wrong; a person decides"
_UNDECIDED = {
    "unrecorded": (
        "it was edited and nobody decided on the edit",
        "a person adopts or restores it: syn status",
    ),
    "forked": ("two decisions on it differ", "a person decides which holds: syn status"),
}
_REMEDIES: dict[CellClass, str] = {
    "clean": "",
    "unchecked": "syn repair derives the row again",
    "stale": "repeat the command; when it stays, syn repair derives the row again",
    "repairable": "syn repair derives the row from its Markdown again",
    "tampered": _VERIFY,
    "erasure": "syn repair brings back bytes that hash to the record, when git has them",
}


def _withheld(row: FactRow, fault: CellClass, reason: str, remedy: str = "") -> Withheld:
    return Withheld(row.id, row.path, fault, reason, remedy or _REMEDIES[fault])
