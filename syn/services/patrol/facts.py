"""One fact: its file beside its record, its rows in the index beside its file, git's copy of it."""

from collections.abc import Iterator, Sequence

from syn.errors import CannotError, RefusedError
from syn.index.derive import state_row
from syn.index.rows import ATTR, FACT, LINK, PROBLEM, STATE, TAG, FactRow, Scalar, StateRow, Table
from syn.index.store import IndexUnusable
from syn.index.words import cell_of
from syn.model.fact import Unreadable
from syn.model.recorded import Recorded
from syn.services.patrol.fault import CellFault, erased, fault
from syn.services.patrol.look import Look
from syn.services.patrol.stored import Rows, Stored
from syn.services.recall.pagein import CellClass, cell_fault, entry_of
from syn.services.recall.projecting import Projected
from syn.services.recall.standing import standing_of


def check_fact(look: Look, path: str) -> Iterator[CellFault]:
    """Everything that is wrong with one fact; nothing when it is clean."""
    for problem in look.reading.files.refused.get(path, ()):
        yield fault(
            "fact",
            "erasure",
            problem.code,
            path,
            expected="a plain file with a name that every system can hold",
            actual=problem.message,
            remedy=problem.remedy,
        )
    entry = entry_of(look.reading, path)
    known = look.recorded_at.get(path)
    if entry is None:
        if known is not None and path not in look.reading.files.refused:
            yield _gone(path, known)
            yield from _object(look, _in_head(look, path), path)
        return
    lost = tuple(_object(look, entry.head_oid, path))
    yield from lost
    try:
        data = look.reading.snapshot.read(entry)
    except (CannotError, RefusedError) as error:
        yield erased("fact", path, error, known.fact if known else "")
        return
    projected = look.project(path, data)
    if not lost and projected.blob == entry.head_oid:
        look.sound_blobs[projected.blob] = projected.rows.source_digest
    yield from _file(look, projected, known)
    yield from check_rows(look, projected)


def _gone(path: str, known: Recorded) -> CellFault:
    return fault(
        "fact",
        "erasure",
        "fact-missing",
        path,
        subject=known.fact,
        expected=known.source,
        actual="no such file",
    )


def _in_head(look: Look, path: str) -> str:
    """The blob that HEAD has at a path which is not on disk, or ""."""
    repository = look.workspace.repository
    tree = repository.head_tree()
    item = repository.store.find(tree, path.encode()) if tree is not None else None
    return item.oid if item is not None and item.kind == "file" else ""


def _object(look: Look, oid: str, path: str) -> Iterator[CellFault]:
    """Git's own copy, whether or not the work tree needed it."""
    if not oid:
        return
    try:
        look.workspace.repository.store.blob(oid)
    except (CannotError, RefusedError) as error:
        yield erased("object", path, error, oid)


def _file(look: Look, projected: Projected, at_path: Recorded | None) -> Iterator[CellFault]:
    """The file beside what the ledger records."""
    path, source = projected.rows.path, projected.rows.source_digest
    view = projected.view
    if view is None:
        yield from _unreadable(path, projected.unreadable, at_path)
        return
    known = look.reading.ledger.recorded.get(view.id)
    yield from _doubts(look, path, view.id)
    if known is None or known.deleted:
        yield from _unrecorded(path, view.id, at_path)
    elif known.forked:
        yield fault(
            "fact",
            "unchecked",
            "forked",
            path,
            subject=view.id,
            expected="one decision to hold it against",
            actual=f"{len(known.heads)} that differ",
            remedy=f"decide which holds: syn adopt {path}",
        )
    elif known.path != path:
        yield fault(
            "fact",
            "unchecked",
            "path-changed",
            path,
            subject=view.id,
            expected=known.path,
            actual=path,
            remedy=f"syn adopt {path} records the move",
        )
    elif known.payload != view.payload:
        yield fault(
            "fact",
            "erasure",
            "payload-changed",
            path,
            subject=view.id,
            expected=known.source,
            actual=source,
            remedy=f"syn adopt {path} records an edit; syn repair {path} brings the recorded "
            "bytes back",
        )
    elif known.source != source:
        yield fault(
            "fact",
            "stale",
            "reformatted",
            path,
            subject=view.id,
            expected=known.source,
            actual=source,
            remedy=f"the meaning is the same; syn adopt {path} records the new bytes",
        )


def _doubts(look: Look, path: str, fact: str) -> Iterator[CellFault]:
    """Decisions on a fact that do not count as they are written (`standing`)."""
    if not look.signs:
        return
    for doubt in standing_of(look.reading, fact).doubts:
        if doubt.entry:  # those about the whole ledger are said once, with the ledger
            yield fault(
                "fact",
                "tampered",
                doubt.code,
                path,
                subject=fact,
                expected="decisions that the policy lets count",
                actual=f"{doubt.reason} {doubt.entry[7:19]}".rstrip(),
            )


def _unreadable(path: str, found: Unreadable | None, known: Recorded | None) -> Iterator[CellFault]:
    for problem in found.problems if found else ():
        yield fault(
            "fact",
            "erasure",
            problem.code,
            path,
            subject=known.fact if known else path,
            line=problem.line,
            expected="a readable fact",
            actual=problem.message,
            remedy=f"{problem.remedy}; or syn repair {path}" if known else problem.remedy,
        )


def _unrecorded(path: str, name: str, at_path: Recorded | None) -> Iterator[CellFault]:
    """No decision to hold it against; where another fact is recorded here, that one is gone."""
    if at_path is not None:
        yield fault(
            "fact",
            "erasure",
            "id-changed",
            path,
            subject=at_path.fact,
            expected=at_path.fact,
            actual=name,
        )
        return
    yield fault(
        "fact",
        "unchecked",
        "unrecorded-fact",
        path,
        subject=name,
        expected="a decision that records it",
        actual="none",
        remedy=f"syn adopt {path}",
    )


def check_rows(look: Look, projected: Projected) -> Iterator[CellFault]:
    """The rows of one file beside those that its bytes give, and the word of its cell."""
    if look.stored is None:
        return
    try:
        yield from _rows(look, look.stored.of(projected.rows.path), projected)
    except IndexUnusable as error:
        yield _row_fault(projected.rows.path, error.code, "rows that can be read", error.message)


def _rows(look: Look, stored: Stored, projected: Projected) -> Iterator[CellFault]:
    rows, path = projected.rows, projected.rows.path
    have, state = _cell(stored)
    if have is not None and (wrong := cell_fault(have, state)):
        unchecked = wrong[0] == "unchecked"
        code = "word-missing" if unchecked else "word-mismatch"
        word = "a check word over what the row says"
        yield _row_fault(path, code, word, wrong[1], unchecked=unchecked)
    record = look.records.get(path)
    if not look.record_faults and (record is None or record.source_digest != rows.source_digest):
        if have is None or have.source_digest != rows.source_digest:
            yield _stale(path, rows.source_digest, record.source_digest if record else "no row")
            return
        yield _row_fault(path, "record-changed", rows.source_digest, "another digest")
    if have != rows.fact:
        yield _row_fault(path, "row-changed", *_difference(FACT, rows.fact, have))
        return
    tables = ((ATTR, rows.attrs), (LINK, rows.links), (TAG, rows.tags), (PROBLEM, rows.problems))
    for table, expected in tables:
        yield from _table(path, table, expected, stored.rows[table.name])
    yield from _state(look, path, rows.fact, state)


def _cell(stored: Stored) -> tuple[FactRow | None, StateRow | None]:
    facts, states = stored.rows[FACT.name], stored.rows[STATE.name]
    fact = FactRow(*facts[0]) if facts else None  # type: ignore[arg-type]
    return fact, StateRow(*states[0]) if states else None  # type: ignore[arg-type]


def _state(
    look: Look, path: str, fact: FactRow | None, state: StateRow | None
) -> Iterator[CellFault]:
    """The cell beside the ledger: a word that was computed anew does not help here."""
    if fact is None:
        if state is not None:
            yield _row_fault(path, "row-extra", "no cell of an unreadable file", "one")
        return
    if state is None:
        return  # `word-missing` was said
    known = look.reading.ledger.recorded.get(fact.id)
    expected = state_row(cell_of(fact), known, doubled=path in look.doubled)
    if state == expected or not state.word:
        return
    found = _difference(STATE, expected, state)
    if look.standing in ("behind", "ahead"):
        yield _stale(path, *found)
    else:
        yield _row_fault(path, "state-changed", *found)


def _table(
    path: str, table: Table, expected: Sequence[tuple[Scalar, ...]], have: Rows
) -> Iterator[CellFault]:
    if list(expected) == have:
        return
    for want, row in zip(expected, have, strict=False):
        if want != row:
            yield _row_fault(path, "row-changed", *_difference(table, want, row))
            return
    counts = f"{table.name}: {len(expected)} rows", str(len(have))
    yield _row_fault(path, "row-missing" if len(have) < len(expected) else "row-extra", *counts)


def _difference(
    table: Table, want: Sequence[Scalar] | None, have: Sequence[Scalar] | None
) -> tuple[str, str]:
    """The first column in which two rows differ; a body is never quoted."""
    if want is None or have is None:
        return f"{table.name}: {'a row' if want else 'no row'}", "a row" if have else "no row"
    pairs = zip(table.columns, want, have, strict=True)
    name, left, right = next(pair for pair in pairs if pair[1] != pair[2])
    if name == "body":
        return f"{table.name}.body as in the file", "another"
    return f"{table.name}.{name}: {left!s:.120}", f"{right!s:.120}"


def _row_fault(
    path: str, code: str, expected: str, actual: str, *, unchecked: bool = False
) -> CellFault:
    cls: CellClass = "unchecked" if unchecked else "repairable"
    remedy = "syn repair derives the row again"
    return fault(
        "index", cls, code, path, expected=expected, actual=actual, remedy=remedy, local=True
    )


def _stale(path: str, expected: str, actual: str) -> CellFault:
    return fault(
        "index", "stale", "index-stale", path, expected=expected, actual=actual, local=True
    )
