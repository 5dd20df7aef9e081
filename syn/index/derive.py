"""Rows that depend on other files or on the ledger, as functions over light per-file keys.

Callers hold one `FactKey` per fact; links and cells stream past, so that memory stays flat in
bodies and links. Nothing here depends on the order in which files were read.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol

from syn.index.lines import text_list
from syn.index.resolve import Resolver, fold
from syn.index.rows import (
    WORKSPACE_ORIGIN,
    DecisionRow,
    FactKey,
    ProblemRow,
    StateRow,
    SupersessionRow,
    TargetRow,
)
from syn.index.words import Cell, check_word
from syn.model.ledger import Entry
from syn.model.problem import Problem
from syn.model.recorded import Recorded

LinkRef = tuple[str, int, str, str]
"""Path, seq, syntax and target of one link row."""

DOUBLED = "doubled"
"""The state of a row whose id stands on another fact too."""
_new = tuple.__new__
"""Builds a row tuple without the keyword handling of its class: three times as fast."""


class States(Protocol):
    """What the ledger says of each fact, as `syn.ledger.heads` derives it; a dict is one."""

    def get(self, fact: str, /) -> Recorded | None:
        """The recorded state of the fact with this id."""


@dataclass(frozen=True, slots=True)
class World:
    """What the projection takes from outside the facts' own files."""

    recorded: States = field(default_factory=dict[str, Recorded])
    """By fact id."""
    decisions: Iterable[tuple[str, Entry]] = ()
    """Every ledger entry with its hash, in any order; iterated once."""
    problems: Sequence[Problem] = ()
    """Problems of paths, from the tree (`syn.facts.twins`), in any order."""
    same_ledger: bool = False
    """Over a copy of an index of this very ledger: the rows that come from it alone stand, and
    `decisions` is not asked for."""


def target_rows(resolver: Resolver, links: Iterable[LinkRef]) -> Iterator[TargetRow]:
    """Where every link leads; in the order of the links."""
    for path, seq, syntax, target in links:
        yield _new(TargetRow, (path, seq, *resolver.resolve(path, syntax, target)))


def supersession_rows(keys: Sequence[FactKey]) -> list[SupersessionRow]:
    """Every declared pair, both directions, sorted by primary key. Ids compare as written."""
    declared: dict[tuple[str, str], set[str]] = defaultdict(set)
    for key in keys:
        for predecessor in key.supersedes:
            declared[predecessor, key.id].add("successor")
        for successor in key.superseded_by:
            declared[key.id, successor].add("predecessor")
    paths = _only_paths(keys, {name for pair in declared for name in pair})
    return [
        SupersessionRow(
            predecessor,
            successor,
            sides.pop() if len(sides) == 1 else "both",
            paths.get(predecessor),
            paths.get(successor),
        )
        for (predecessor, successor), sides in sorted(declared.items())
    ]


def _only_paths(keys: Sequence[FactKey], wanted: Set[str]) -> dict[str, str]:
    """The path of each wanted id that stands on exactly one fact."""
    found: dict[str, list[str]] = defaultdict(list)
    for key in keys:
        if key.id in wanted:
            found[key.id].append(key.path)
    return {name: paths[0] for name, paths in found.items() if len(paths) == 1}


def id_problems(keys: Iterable[FactKey], recorded: States) -> list[Problem]:
    """Ids that stand twice, or differ only in case or composition: a problem on each side.

    A newcomer whose id is only its default path does not make the fact that already has that id
    unreadable: then the problem stands on the newcomer alone (design 3.1).
    """
    groups: dict[str, FactKey | list[FactKey]] = {}
    for key in keys:
        folded = fold(key.id)
        known = groups.setdefault(folded, key)
        if known is not key:
            groups[folded] = [*known, key] if isinstance(known, list) else [known, key]
    found: list[Problem] = []
    for group in groups.values():
        if isinstance(group, list):
            found.extend(_doubled(sorted(group), recorded))
    return sorted(found)


def _doubled(group: list[FactKey], recorded: States) -> Iterator[Problem]:
    newcomers = [key for key in group if _is_newcomer(key, recorded)]
    settled = len(group) - len(newcomers)
    for key in newcomers if settled == 1 else group:
        others = [other for other in group if other is not key]
        same = [other.path for other in others if other.id == key.id]
        paths = ", ".join((same or [other.path for other in others])[:3])
        if same:
            code, message = "duplicate-id", f"id {key.id!r:.80} stands in {paths} too"
        else:
            code = "twin-id"
            message = f"id {key.id!r:.80} differs from that of {paths} only in case or composition"
        yield Problem(key.path, 0, code, message, "give this fact an id of its own")


def _is_newcomer(key: FactKey, recorded: States) -> bool:
    known = recorded.get(key.id)
    return not key.explicit_id and (known is None or known.path != key.path)


def problem_rows(problems: Iterable[Problem]) -> list[ProblemRow]:
    """Cross-file problems as rows, sorted by primary key."""
    counts: dict[str, int] = defaultdict(int)
    rows = []
    for problem in sorted(problems):
        counts[problem.path] += 1
        rows.append(
            ProblemRow(
                WORKSPACE_ORIGIN,
                problem.path,
                counts[problem.path],
                "problem",
                problem.line,
                problem.code,
                problem.message,
                problem.remedy,
            )
        )
    return rows


def state_of(cell: Cell, known: Recorded | None, *, doubled: bool) -> str:
    """What the ledger says of one fact's file (the values of `StateRow.state`)."""
    if doubled:
        return DOUBLED
    if known is None or not known.heads:
        return "unrecorded"
    if known.forked or known.deleted:
        return "forked" if known.forked else "deleted"
    if known.payload != cell.payload_digest:
        return "changed"
    if known.path != cell.path:
        return "moved"
    return "recorded" if known.source == cell.source_digest else "reformatted"


def trust_of(known: Recorded | None) -> tuple[int, str, str]:
    """The columns `closed`, `taint` and `quarantine` of a state row."""
    if known is None:
        return 0, "", "[]"
    return int(known.closed), known.taint, text_list(known.quarantine)


def state_row(cell: Cell, known: Recorded | None, *, doubled: bool = False) -> StateRow:
    """The cell of one fact with its check word."""
    closed, taint, quarantine = trust_of(known)
    state = state_of(cell, known, doubled=doubled)
    word = check_word(cell, taint, quarantine)
    return _new(StateRow, (cell.path, cell.id, state, closed, taint, quarantine, word))


def state_rows(cells: Iterable[Cell], recorded: States, doubled: Set[str]) -> Iterator[StateRow]:
    """The state of every fact, in the order of the cells; `doubled` holds paths."""
    for cell in cells:
        yield state_row(cell, recorded.get(cell.id), doubled=cell.path in doubled)


def decision_rows(decisions: Iterable[tuple[str, Entry]]) -> Iterator[DecisionRow]:
    """The ledger's entries, sorted by primary key; an entry that was given twice stands once."""
    last = None
    for digest, entry in sorted(decisions, key=lambda pair: (pair[1].writer, pair[1].seq, pair[0])):
        if digest == last:
            continue
        last = digest
        yield DecisionRow(
            writer=entry.writer,
            seq=entry.seq,
            hash=digest,
            prev=entry.prev,
            ts=entry.ts,
            actor=entry.actor,
            via=entry.via,
            action=entry.action,
            review=entry.review,
            batch=entry.batch,
            fact=entry.fact,
            path=entry.path,
            payload=entry.payload,
            source=entry.source,
            taint=entry.taint,
            after_heads=text_list(entry.after),
            prior=text_list(entry.prior),
            proposal=entry.proposal,
            reason=entry.reason,
            names=text_list(entry.names),
            commit_id=entry.commit,
            key_id=entry.key,
            sig=entry.sig,
        )
