"""Hand edits: how the facts in the work tree differ from what the ledger records of them."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from syn.errors import CannotError
from syn.index.derive import DOUBLED
from syn.index.resolve import fold
from syn.index.rows import FACT, PROBLEM
from syn.index.store import Index
from syn.ledger.heads import workspace_heads
from syn.model.fact import Fact, Source
from syn.model.problem import Problem
from syn.model.recorded import Recorded
from syn.services.recall.indexing import Reading
from syn.services.recall.reading import CONFIG, POLICY
from syn.services.writing.statements import Statement, row_statement, statement_of

EditKind: TypeAlias = Literal[
    "new", "unrecorded", "changed", "reformatted", "moved", "gone", "forked", "config", "policy"
]


@dataclass(frozen=True, slots=True)
class Edit:
    """One difference between the files and the ledger."""

    kind: EditKind
    id: str
    path: str
    """Where the file is, or was when it is gone."""
    payload: str = ""
    source: str = ""
    was: str = ""
    """The recorded path, where it is another one."""
    external: bool = False
    """The fact says that it comes from outside (its `source`)."""
    said: Statement | None = None
    """What the file states now."""


@dataclass(frozen=True, slots=True)
class Edits:
    """Everything that is not as it is recorded."""

    edits: tuple[Edit, ...]
    """Sorted by path."""
    unreadable: tuple[Problem, ...]
    """Every problem of every unreadable fact, new files included, sorted."""


def find_edits(reading: Reading, index: Index) -> Edits:
    """Compare the files with the ledger, through an index that is up to date."""
    recorded = reading.ledger_files.recorded
    found = [*_from_index(index, recorded), *_gone(reading, index)]
    new, problems = _new(reading, index)
    edits = _join_moves(_join_ids([*found, *new]), recorded)
    edits += _control(reading)
    problems += _index_problems(index)
    return Edits(tuple(sorted(edits, key=lambda edit: edit.path)), tuple(sorted(set(problems))))


FindRecorded: TypeAlias = Callable[[str], Recorded | None]
_SETTLED = ("recorded", DOUBLED)
"""States of rows that are no edit."""
_KINDS: dict[str, EditKind] = {
    "unrecorded": "unrecorded",
    "deleted": "unrecorded",
    "changed": "changed",
    "reformatted": "reformatted",
    "moved": "moved",
    "forked": "forked",
}


def _from_index(index: Index, recorded: FindRecorded) -> Iterator[Edit]:
    for fact, state in index.cells_beside(_SETTLED):
        kind = _KINDS.get(state.state if state else "unrecorded")
        if kind is None:
            continue
        known = recorded(fact.id)
        was = known.path if known and known.path != fact.path else ""
        yield Edit(
            kind=kind,
            id=fact.id,
            path=fact.path,
            payload=fact.payload_digest,
            source=fact.source_digest,
            was=was,
            external=_external(fact.source_kind, fact.source_url),
            said=row_statement(fact),
        )


def _external(kind: str, url: str) -> bool:
    return Source(kind=kind, url=url).external


def _gone(reading: Reading, index: Index) -> Iterator[Edit]:
    """Recorded facts of which no file is left; an unreadable file at their path is there."""
    absent = index.absent_facts()
    if not absent:
        return
    unreadable = {record.path for record in index.files() if not record.readable}
    for fact in absent:
        state = reading.ledger_files.recorded(fact)
        if state is None or state.deleted or state.forked or state.path in unreadable:
            continue
        yield Edit("gone", state.fact, state.path, state.payload, state.source)


def _new(reading: Reading, index: Index) -> tuple[list[Edit], list[Problem]]:
    """Files that are neither tracked nor recorded, read now; unreadable ones as problems."""
    if not reading.files.new_entries:
        return [], []
    from syn.facts.parse import parse

    edits: list[Edit] = []
    problems: list[Problem] = []
    ids: list[tuple[str, bool, str]] = []
    for entry in reading.files.new_entries:
        path = entry.path.decode("utf-8", "backslashreplace")
        found = reading.files.new_problems.get(entry.path)
        if found:
            problems += found
            continue
        try:
            parsed = parse(path, reading.snapshot.read(entry), reading.config)
        except CannotError as error:
            problems.append(Problem(path, 0, error.code, error.message, error.remedy))
            continue
        if isinstance(parsed, Fact):
            edits.append(
                Edit(
                    kind="new",
                    id=parsed.id,
                    path=path,
                    payload=parsed.payload_digest,
                    source=parsed.source_digest,
                    external=parsed.source.external,
                    said=statement_of(parsed),
                )
            )
            ids.append((parsed.id, parsed.explicit_id, path))
        else:
            problems += parsed.problems
    doubled = _doubled(ids, index)
    problems += doubled
    refused = {problem.path for problem in doubled}
    return [edit for edit in edits if edit.path not in refused], problems


def _doubled(new: list[tuple[str, bool, str]], index: Index) -> list[Problem]:
    """New files whose id is that of a fact, or of another new file; none of them silently wins.

    Of several new files the one that writes its id has it, where only one does.
    """
    groups: dict[str, list[tuple[str, bool, str]]] = {}
    for item in new:
        groups.setdefault(fold(item[0]), []).append(item)
    found: list[Problem] = []
    for key, group in groups.items():
        there = [str(row[0]) for row in index.rows_by(FACT, id_key=key)]
        written = [item for item in group if item[1]]
        settled = not there and len(written) == 1
        for fact, explicit, path in group:
            others = [*there, *(other for _, _, other in group if other != path)]
            if others and not (settled and explicit):
                message = f"id {fact!r:.80} stands in {', '.join(others[:3])} too"
                found.append(
                    Problem(path, 0, "duplicate-id", message, "give this fact an id of its own")
                )
    return found


def _join_ids(edits: list[Edit]) -> list[Edit]:
    """A fact whose file is gone, and a new file that writes its id, are one move."""
    gone = {edit.id: edit for edit in edits if edit.kind == "gone"}
    moved = {edit.id: edit for edit in edits if edit.kind == "new" and edit.id in gone}
    kept = [edit for edit in edits if edit.id not in moved]
    return kept + [replace(new, kind="moved", was=gone[fact].path) for fact, new in moved.items()]


def _join_moves(edits: list[Edit], recorded: FindRecorded) -> list[Edit]:
    """A file that is gone and one with its payload and no id of its own are one move.

    Such a fact keeps its id, which was its first path (design 3.2). Where several files could be
    the one that moved, none is taken: the deletion and the creations stand as they are.
    """
    gone = {edit.payload: edit for edit in edits if edit.kind == "gone"}
    arrived: dict[str, list[Edit]] = {}
    for edit in edits:
        default = edit.path.removesuffix(".md")
        if edit.kind in ("new", "unrecorded") and edit.id == default and not recorded(edit.id):
            arrived.setdefault(edit.payload, []).append(edit)
    moves = {
        old.id: (old, arrived[payload][0])
        for payload, old in gone.items()
        if len(arrived.get(payload, [])) == 1
        and sum(e.kind == "gone" and e.payload == payload for e in edits) == 1
    }
    taken = {edit.path for pair in moves.values() for edit in pair}
    kept = [edit for edit in edits if edit.path not in taken]
    return kept + [
        replace(new, kind="moved", id=old.id, was=old.path, said=_under(new.said, old.id))
        for old, new in moves.values()
    ]


def _under(said: Statement | None, fact: str) -> Statement | None:
    return None if said is None else replace(said, fact=fact)


def _control(reading: Reading) -> list[Edit]:
    """The configuration and the policy, where they differ from the recorded ones."""
    digests = dict(reading.control)
    edits: list[Edit] = []
    for path, kind in ((CONFIG, "config"), (POLICY, "policy")):
        heads = workspace_heads(reading.ledger_files.of_action(kind), kind)
        recorded = {entry.source for _, entry in heads}
        digest = digests.get(path, "")
        if digest and recorded != {digest}:
            name = path.decode()
            edits.append(Edit("config" if kind == "config" else "policy", name, name, "", digest))
    return edits


def _index_problems(index: Index) -> list[Problem]:
    severity = PROBLEM.columns.index("severity")
    names = [PROBLEM.columns.index(n) for n in ("path", "line", "code", "message", "remedy")]
    return [
        Problem(*[row[at] for at in names])  # type: ignore[arg-type]
        for row in index.rows(PROBLEM)
        if row[severity] == "problem"
    ]
