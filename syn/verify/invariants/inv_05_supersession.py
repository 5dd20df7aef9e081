"""INV-5: what was declared superseded is closed."""

from collections.abc import Iterator
from dataclasses import replace

from syn.model.finding import Finding, Severity
from syn.verify.evidence import Evidence, FactView
from syn.verify.invariant import Checked, Invariant, plural


def _check(evidence: Evidence) -> Checked:
    facts = {fact.id: fact for fact in evidence.facts}
    deleted = {state.fact for state in evidence.ledger.recorded.values() if state.deleted}
    pairs = _pairs(evidence.facts)
    findings: list[Finding] = []
    for (old_id, new_id), declared_by in sorted(pairs.items()):
        findings += _pair(old_id, new_id, facts, deleted, declared_by)
    findings = _of_what_was_read(findings, evidence)
    return Checked(
        summary=f"{plural(len(pairs), 'supersession')} closed"
        if not findings
        else f"{plural(len(pairs), 'supersession')} checked",
        evidence={"supersessions": len(pairs)},
        findings=tuple(findings),
        skip="" if pairs else "no fact declares a predecessor or a successor",
    )


def _of_what_was_read(findings: list[Finding], evidence: Evidence) -> list[Finding]:
    """A fact that is recorded and could not be read may well be there: nobody is accused."""
    gaps = {gap.what for gap in evidence.unread}
    states = evidence.ledger.recorded.values() if gaps else ()
    expected = {_wanted(state.fact) for state in states if state.path in gaps}
    return [
        replace(item, actual="that fact could not be read", severity="unknown")
        if item.code.endswith("-missing") and item.expected in expected
        else item
        for item in findings
    ]


def _wanted(fact: str) -> str:
    return f"a fact with the id {fact}"


def _pairs(facts: tuple[FactView, ...]) -> dict[tuple[str, str], tuple[FactView, str]]:
    """(predecessor, successor) to the fact and the key that declare it; both sides may."""
    pairs: dict[tuple[str, str], tuple[FactView, str]] = {}
    for fact in facts:
        for old in fact.supersedes:
            pairs[(old, fact.id)] = (fact, "supersedes")
        for new in fact.superseded_by:
            pairs.setdefault((fact.id, new), (fact, "superseded_by"))
    return pairs


def _pair(
    old_id: str,
    new_id: str,
    facts: dict[str, FactView],
    deleted: set[str],
    declared: tuple[FactView, str],
) -> Iterator[Finding]:
    fact, key = declared
    old, new = facts.get(old_id), facts.get(new_id)
    for missing, role in ((old_id, "predecessor"), (new_id, "successor")):
        if missing not in facts and missing not in deleted:
            yield Finding(
                code=f"{role}-missing",
                subject=fact.id,
                path=fact.path,
                line=fact.line_of(key),
                expected=_wanted(missing),
                actual="none",
                remedy=f"name the right id in {key}, or restore {missing}",
            )
    if old is None:
        return
    if new is None:
        if new_id in deleted:
            yield _finding(
                "successor-deleted",
                (old, "superseded_by"),
                f"the successor {new_id}",
                "a decision deleted it",
                f"syn undo that decision, or take superseded_by out of {old.path}",
            )
        return
    yield from _closed(old, new)


def _closed(old: FactView, new: FactView) -> Iterator[Finding]:
    if new.valid_from is None:
        superseded = bool(old.superseded_by) or (old.status or "").casefold() == "superseded"
        if old.valid_to is None and not superseded:
            yield _finding(
                "supersession-open",
                (old, "status"),
                "valid_to, superseded_by or status: superseded",
                "the fact is still open",
                f"syn supersede closes it; or write superseded_by: {new.id} into {old.path}",
            )
    elif old.valid_to is None:
        yield _finding(
            "supersession-open",
            (old, "valid_from"),
            f"valid_to: {new.valid_from.text} (where {new.id} begins)",
            "no valid_to",
            f"write valid_to: {new.valid_from.text} into {old.path}",
        )
    elif old.valid_to.key > new.valid_from.key:
        yield _finding(
            "supersession-overlap",
            (old, "valid_to"),
            f"valid_to at or before {new.valid_from.text} (where {new.id} begins)",
            old.valid_to.text,
            f"write valid_to: {new.valid_from.text} into {old.path}",
        )
    yield from _mutual(old, new)


def _mutual(old: FactView, new: FactView) -> Iterator[Finding]:
    """Either side may declare it: a silent other side is a warning, one that differs a failure."""
    if old.id not in new.supersedes:
        yield _finding(
            "supersession-one-way",
            (new, "supersedes"),
            f"supersedes that names {old.id}, as {old.path} declares",
            ", ".join(new.supersedes) or "no supersedes",
            f"add {old.id} to supersedes, or take superseded_by out of {old.path}",
            "failure" if new.supersedes else "warning",
        )
    if new.id not in old.superseded_by:
        yield _finding(
            "supersession-one-way",
            (old, "superseded_by"),
            f"superseded_by that names {new.id}, as {new.path} declares",
            ", ".join(old.superseded_by) or "no superseded_by",
            f"add {new.id} to superseded_by, or take supersedes out of {new.path}",
            "failure" if old.superseded_by else "warning",
        )


def _finding(
    code: str,
    at: tuple[FactView, str],
    expected: str,
    actual: str,
    remedy: str,
    severity: Severity = "failure",
) -> Finding:
    fact, key = at
    return Finding(
        code=code,
        subject=fact.id,
        path=fact.path,
        line=fact.line_of(key),
        expected=expected,
        actual=actual,
        remedy=remedy,
        severity=severity,
    )


INVARIANT = Invariant(
    number=5,
    title="supersession closure",
    integrity="A/B",
    when="default",
    check=_check,
    explanation=(
        "Every declared predecessor exists, or was deleted by a decision, and is closed no later "
        "than its successor begins. A change that nobody declared as a supersession is outside "
        "this check: see INV-10."
    ),
)
