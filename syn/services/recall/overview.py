"""What this memory holds, and whether it is well: the two questions to begin with (design 14)."""

from collections.abc import Iterator

from syn import __version__
from syn.git.alterations import alterations
from syn.index.rows import FACT, PROBLEM, STATE, TAG
from syn.keys.policy import BrokenPolicy
from syn.model.finding import Finding, Json
from syn.model.ledger import Entry
from syn.services.recall.answers import Answer, page_json
from syn.services.recall.reads import Reader
from syn.services.recall.standing import ledger_faults
from syn.services.trust.policy import policy_of

MOST = 20
"""Names of each kind in an overview, the most frequent first."""
_FEW = 5
"""Findings of one kind that are named one by one."""


def overview(reader: Reader) -> Answer:
    """What there is: counts, the most frequent names, the newest decision, how well it is."""
    index, config = reader.index, reader.reading.config
    rows = index.counts()
    head = reader.workspace.repository.head()
    concerns = list(_concerns(reader))
    return {
        "workspace": config.id,
        "name": config.name,
        "version": __version__,
        "branch": head.branch,
        "commit": head.commit,
        "facts": rows["fact"],
        "decisions": rows["decision"],
        "types": _most(reader, "type"),
        "status": _most(reader, "status"),
        "subjects": _most(reader, "subject"),
        "tags": _top(index.tally(TAG, "tag")),
        "newest": _newest(reader),
        "healthy": not any(item["severity"] == "failure" for item in concerns),
        "concerns": len(concerns),
    }


def _most(reader: Reader, column: str) -> list[Json]:
    return _top(reader.index.tally(FACT, column))


def _top(tally: dict[str, int]) -> list[Json]:
    """The most frequent names; equal ones by name."""
    named = sorted(((-number, name) for name, number in tally.items() if name))
    return [{"name": name, "facts": -number} for number, name in named[:MOST]]


def _newest(reader: Reader) -> Json:
    entries = (entry for _, entry in reader.reading.ledger.ledger.entries())
    last = max(entries, key=_order, default=None)
    if last is None:
        return None
    return {"ts": last.ts, "action": last.action, "fact": last.fact, "actor": last.actor}


def _order(entry: Entry) -> tuple[str, str, int]:
    return entry.ts, entry.writer, entry.seq


def health(reader: Reader) -> Answer:
    """What is wrong or needs a person, gravest first; empty when nothing is."""
    items: list[Json] = [*_concerns(reader)]
    return {**page_json(items, len(items), None), "healthy": _healthy(items)}


def _healthy(items: list[Json]) -> bool:
    return not any(isinstance(i, dict) and i["severity"] == "failure" for i in items)


def _concerns(reader: Reader) -> Iterator[Answer]:
    yield from _ledger(reader)
    yield from _policy(reader)
    yield from _facts(reader)
    yield from _repository(reader)


def _concern(severity: str, code: str, message: str, remedy: str) -> Answer:
    return {"severity": severity, "code": code, "message": message, "remedy": remedy}


def _ledger(reader: Reader) -> Iterator[Answer]:
    faults = ledger_faults(reader.reading)
    for fault in faults[:_FEW]:
        yield _concern("failure", fault.code, _where(fault), fault.remedy or "syn verify")
    if len(faults) > _FEW:
        more = f"{len(faults) - _FEW} more faults of the ledger"
        yield _concern("failure", "ledger-faults", more, "syn verify lists all of them")


def _where(fault: Finding) -> str:
    place = f"{fault.path}:{fault.line}" if fault.line else fault.path
    return f"{place}: expected {fault.expected}, got {fault.actual}"


def _policy(reader: Reader) -> Iterator[Answer]:
    if isinstance(policy_of(reader.reading), BrokenPolicy):
        yield _concern(
            "failure", "policy-broken", "the policy cannot be read", "syn policy show says where"
        )


_STATES = {
    "changed": ("warning", "changed by hand and not adopted"),
    "moved": ("warning", "moved by hand and not adopted"),
    "unrecorded": ("warning", "in git and without a decision"),
    "deleted": ("warning", "deleted by a decision and here again"),
    "forked": ("failure", "decided on twice, with different results"),
    "doubled": ("failure", "under an id that stands twice"),
}
"""State of a row to how grave it is, and how it is said."""


def _facts(reader: Reader) -> Iterator[Answer]:
    states = reader.index.tally(STATE, "state")
    for state, (severity, said) in _STATES.items():
        if states.get(state):
            message = f"{_number(states[state])} {said}"
            yield _concern(severity, f"facts-{state}", message, "syn status lists them")
    problems = reader.index.tally(PROBLEM, "severity").get("problem", 0)
    if problems:
        message = f"{problems} problem{'s' * (problems > 1)} in facts that cannot be read"
        yield _concern("warning", "facts-unreadable", message, "syn doctor names file and line")
    held = sum(1 for state in reader.reading.ledger.recorded.values() if state.quarantine)
    if held:
        message = f"{_number(held)} in quarantine"
        yield _concern("warning", "facts-quarantined", message, "a person clears it: syn clear")
    new = len(reader.reading.files.new_entries)
    if new:
        message = f"{new} new file{'s' * (new > 1)}, not indexed"
        yield _concern("note", "facts-new", message, "a person records them: syn adopt")


def _number(count: int) -> str:
    return f"{count} fact{'s' * (count > 1)}"


_ALTERATIONS = {
    "shallow": "the clone is shallow: history before it cannot be checked",
    "replace": "replace references: git shows another history than its objects hold",
    "grafts": "grafts: git shows another history than its objects hold",
}


def _repository(reader: Reader) -> Iterator[Answer]:
    found = {item.kind for item in alterations(reader.workspace.repository, commit_graph=False)}
    for kind, message in _ALTERATIONS.items():
        if kind in found:
            remedy = "git fetch --unshallow" if kind == "shallow" else "syn verify says more"
            yield _concern("warning", f"repository-{kind}", message, remedy)
