"""Every read and every proposal, defined once: both doors are made from these (INV-6).

Adding a read is adding one function to `READS`: its parameters become options of a command and
arguments of a tool, its docstring the help of both, its answer the JSON of both.
"""

from contextlib import AbstractContextManager, nullcontext
from typing import Annotated

from syn.errors import UsageError
from syn.services.doors.operation import Arg, Member, Operation, Parameter
from syn.services.recall import reads
from syn.services.recall.answers import Answer
from syn.services.recall.reads import BODY_LENGTH, Reader, Selection
from syn.services.workspace import Workspace

Type = Annotated[str, Arg("Only facts of this type.")]
Status = Annotated[str, Arg("Only facts with this status.")]
Tag = Annotated[str, Arg("Only facts with this tag.")]
Subject = Annotated[str, Arg("Only facts about this subject.")]
Field = Annotated[str, Arg("Only facts about this field.")]
Under = Annotated[str, Arg("Only facts below this folder.")]
AsOf = Annotated[str, Arg("What held at this date or instant (valid time).")]
KnownAt = Annotated[str, Arg("What was recorded at this date or instant (recorded time).")]
Limit = Annotated[
    int, Arg(f"At most this many, 1 to {reads.MAX_ITEMS}.", least=1, most=reads.MAX_ITEMS)
]
Cursor = Annotated[str, Arg("Where the page before ended.")]


FACT_MEMBERS = (
    *("id", "type", "title", "path", "status", "tags", "aliases", "subject", "field", "value"),
    *("valid_from", "valid_to", "supersedes", "superseded_by", "fields", "body", "links"),
    *("record", "taint", "quarantine", "payload_digest", "source_digest"),
    *("truncated", "next", "body_length"),
)
"""What an answer that hands out a fact may hold."""


class UnknownMemberError(UsageError):
    """A member that no answer has: without this it would read as one that is empty."""

    def __init__(self, name: str) -> None:
        near = reads.did_you_mean(reads.near_names(name, FACT_MEMBERS))
        known = f"one of: {', '.join(FACT_MEMBERS)}"
        more = "; fields has the front matter, whole" if not near else ""
        super().__init__(
            "unknown-member", f"fields: no answer has {name!r:.40}", near or known + more
        )


def _then(reader: Reader, known_at: str) -> AbstractContextManager[Reader]:
    """The reader, or one of what was recorded at an instant."""
    if not known_at:
        return nullcontext(reader)
    from syn.services.recall.timetravel import known

    return known(reader, known_at)


def search(
    reader: Reader,
    words: Annotated[list[str], Arg("Words that all have to occur; any text is safe.", True, True)],
    type: Type = "",  # noqa: A002 - the name both doors show
    status: Status = "",
    tag: Tag = "",
    subject: Subject = "",
    field: Field = "",
    under: Under = "",
    as_of: AsOf = "",
    known_at: KnownAt = "",
    limit: Limit = 10,
    cursor: Cursor = "",
) -> Answer:
    """Find facts that hold every word, best first; each is checked before it is handed out."""
    chosen = Selection(type, status, tag, subject, field, under, as_of, limit, cursor)
    with _then(reader, known_at) as then:
        return reads.search(then, " ".join(words), chosen)


def list_(
    reader: Reader,
    type: Type = "",  # noqa: A002 - the name both doors show
    status: Status = "",
    tag: Tag = "",
    subject: Subject = "",
    field: Field = "",
    under: Under = "",
    as_of: AsOf = "",
    known_at: KnownAt = "",
    full: Annotated[bool, Arg("Hand out each fact whole, checked.")] = False,
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Answer:
    """List facts in the order of their paths."""
    chosen = Selection(type, status, tag, subject, field, under, as_of, limit, cursor)
    with _then(reader, known_at) as then:
        return reads.list_facts(then, chosen, full=full)


def show(
    reader: Reader,
    id: Annotated[str, Arg("The fact's id, or its path.", True)],  # noqa: A002 - as the doors show
    start: Annotated[int, Arg("Show the body from this character on.", least=0)] = 0,
    length: Annotated[int, Arg("At most this many characters of the body.", least=1)] = BODY_LENGTH,
    as_of: Annotated[str, Arg("The fact of its line of succession that held at this time.")] = "",
    known_at: KnownAt = "",
) -> Answer:
    """Show one fact: its fields, its body and its record, checked against its Markdown."""
    with _then(reader, known_at) as then:
        if as_of:
            from syn.services.recall.succession import held_at

            id = held_at(then, id, as_of)  # noqa: A001 - the name both doors show
        return reads.show(then, id, start, length)


def get(
    reader: Reader,
    ids: Annotated[list[str], Arg("Ids or paths of facts.", True)],
    fields: Annotated[list[str] | None, Arg("Only these members of each answer.")] = None,
    cursor: Cursor = "",
) -> Answer:
    """Get several facts at once, each checked; what is unknown or withheld says so in its place.

    Exit status: 0 all are handed out; 1 one is withheld; 2 one is unknown, whatever else is so; 3
    could not be read.
    """
    unknown = [name for name in fields or () if name not in FACT_MEMBERS]
    if unknown:
        raise UnknownMemberError(unknown[0])
    return reads.get(reader, ids, tuple(fields or ()), cursor)


def overview(reader: Reader) -> Answer:
    """Show what this memory holds: counts, frequent names, the newest decision, how well it is."""
    from syn.services.recall import overview

    return overview.overview(reader)


def health(reader: Reader) -> Answer:
    """List what is wrong or waits for a person: ledger, facts, policy, repository."""
    from syn.services.recall import overview

    return overview.health(reader)


def graph(
    reader: Reader,
    id: Annotated[str, Arg("The fact's id, or its path.", True)],  # noqa: A002 - as the doors show
    depth: Annotated[int, Arg("How many ties away, 1 to 5.", least=1, most=5)] = 1,
    limit: Limit = 50,
) -> Answer:
    """Show the facts a fact is tied to, both ways: links, relations, supersessions."""
    from syn.services.recall.graph import graph as run

    return run(reader, id, depth, limit)


def verify(
    workspace: Workspace,
    deep: Annotated[bool, Arg("Every invariant, all of history.")] = False,
    limit: Annotated[int, Arg("At most this many findings, 0 to 200.", least=0, most=200)] = 50,
) -> Answer:
    """Prove that the memory was not silently corrupted, or name what broke."""
    from syn.services.proving.checking import verify as run

    return run(workspace, deep=deep, limit=limit)


def reindex(
    workspace: Workspace,
    full: Annotated[bool, Arg("Build it anew from nothing.")] = False,
) -> Answer:
    """Bring the index up to date with the Markdown; no fact is touched."""
    from syn.services.recall.answers import reindexed_json
    from syn.services.recall.opening import reindex as run

    return reindexed_json(run(workspace, full=full))


def receipt_list(
    workspace: Workspace,
    id: Annotated[str, Arg("The start of one's id: that one, with its text.", True)] = "",  # noqa: A002 - as shown
) -> Answer:
    """List the stored receipts: what was proven of a fact, and at which commit."""
    from syn.services.recall.answers import page_json
    from syn.services.trust.receipts import stored

    items = stored(workspace, id)
    return page_json([*items], len(items), None)


def counts(reader: Reader) -> Answer:
    """Count facts, decisions, links and problems, and facts by type, status and state."""
    return reads.counts(reader)


def status(reader: Reader) -> Answer:
    """Show what differs from the record, and where every file that matches has gone."""
    return reads.status(reader)


def doctor(reader: Reader) -> Answer:
    """List every problem and warning with file, line and remedy."""
    return reads.doctor(reader)


def log(
    reader: Reader,
    fact: Annotated[str, Arg("Only decisions on the fact with this id.", True)] = "",
    known_at: KnownAt = "",
    limit: Limit = 50,
    cursor: Cursor = "",
) -> Answer:
    """List decisions, newest first: who, when, how and why."""
    with _then(reader, known_at) as then:
        return reads.log(then, fact, limit, cursor)


def blame(
    reader: Reader,
    id: Annotated[str, Arg("The fact's id, or its path.", True)],  # noqa: A002 - as the doors show
) -> Answer:
    """Show every decision on a fact, oldest first: who, when, how, why, and what it changed."""
    from syn.services.recall import blame as service

    return service.blame(reader, id)


def diff(
    reader: Reader,
    commit: Annotated[str, Arg("A commit; left out, the record.", True)] = "",
    to: Annotated[str, Arg("Another commit; left out, the work tree.")] = "",
    under: Annotated[str, Arg("Only this folder or path.")] = "",
    limit: Limit = 50,
) -> Answer:
    """Show what facts say now and said before, by field: against the record, or a commit."""
    from syn.services.recall import diff as service

    return service.diff(reader, commit, to, under, limit)


def pending_list(reader: Reader) -> Answer:
    """List the proposals that wait for a person, oldest first, with their class today."""
    from syn.services.writing import pending

    return pending.list_pending(reader.workspace, reader.reading, reader.index)


def pending_show(
    reader: Reader,
    id: Annotated[str, Arg("The start of the proposal's id.", True)],  # noqa: A002 - as shown
) -> Answer:
    """Show one proposal: who, why, its class, and exactly what accepting it would change."""
    from syn.services.writing import pending

    return pending.show_pending(reader.workspace, reader.reading, reader.index, id)


__all__ = ["READS", "Arg", "Operation", "Parameter", "operation", "operations"]

_FACT: dict[str, Member] = {"id": "text", "path": "text"}
READS: tuple[Operation, ...] = (
    Operation("blame", "read", blame, "syn blame refund-limit", True),
    Operation(
        "counts",
        "read",
        counts,
        "syn counts --json",
        members={
            "facts": "number",
            "decisions": "number",
            "links": "object",
            "problems": "object",
            "types": "object",
            "status": "object",
            "states": "object",
        },
        files=True,
    ),
    Operation("diff", "read", diff, "syn diff HEAD~3", True, files=True),
    Operation("doctor", "read", doctor, "syn doctor --json", True, {"links": "object"}, files=True),
    Operation("get", "read", get, "syn get refund-limit region --fields title", True, named=True),
    Operation(
        "graph",
        "read",
        graph,
        "syn graph refund-limit --depth 2",
        True,
        {"edges": "list", "dangling": "list"},
    ),
    Operation("health", "read", health, "syn health", True, {"healthy": "flag"}, files=True),
    Operation("list", "read", list_, "syn list --type decision", True),
    Operation("log", "read", log, "syn log refund-limit", True),
    Operation(
        "overview",
        "read",
        overview,
        "syn overview",
        members={
            "workspace": "text",
            "name": "text",
            "branch": "text?",
            "commit": "text?",
            "facts": "number",
            "decisions": "number",
            "types": "list",
            "subjects": "list",
            "tags": "list",
            "healthy": "flag",
            "concerns": "number",
        },
        files=True,
    ),
    Operation("pending-list", "read", pending_list, "syn pending list", True),
    Operation(
        "pending-show",
        "read",
        pending_show,
        "syn pending show 4f2a90c1d3e5",
        members={"id": "text", "class": "text", "reasons": "list", "items": "list"},
    ),
    Operation("receipt-list", "read", receipt_list, "syn receipt list", True, needs="workspace"),
    Operation("search", "read", search, "syn search refund --as-of 2026-04-15", True),
    Operation("show", "read", show, "syn show refund-limit", members=_FACT),
    Operation(
        "status",
        "read",
        status,
        "syn status",
        members={
            "workspace": "text",
            "branch": "text?",
            "commit": "text?",
            "files": "number",
            "facts": "number",
            "new": "number",
            "unreadable": "number",
            "excluded": "number",
            "decisions": "number",
            "edits": "list",
            "problems": "list",
        },
        files=True,
    ),
    Operation(
        "verify",
        "read",
        verify,
        "syn verify --deep",
        members={"schema": "text", "subject": "object", "predicate": "object"},
        needs="workspace",
    ),
)

MAINTENANCE: tuple[Operation, ...] = (
    Operation(
        "reindex",
        "maintain",
        reindex,
        "syn reindex --full",
        members={"mode": "text", "facts": "number", "read": "number", "removed": "number"},
        needs="workspace",
    ),
)


def operations() -> tuple[Operation, ...]:
    """Everything both doors can do."""
    # A command that reads does not pay for importing what proposes.
    from syn.services.writing.proposing import PROPOSALS

    return (*READS, *PROPOSALS, *MAINTENANCE)


def operation(name: str) -> Operation:
    """The operation with this name; a wrong one is a mistake of ours."""
    known = next((found for found in READS if found.name == name), None)
    return known or next(found for found in operations() if found.name == name)
