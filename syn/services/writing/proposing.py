"""The proposals that both doors can make: each queues one decision for a person."""

from typing import Annotated

from syn.canon import json as canonical
from syn.errors import CannotError
from syn.services.doors.operation import Arg, Operation
from syn.services.recall.answers import Answer
from syn.services.recall.reads import Reader
from syn.services.writing.changes import (
    Add,
    Change,
    ChangeError,
    Close,
    Delete,
    Edit,
    Link,
    NewFact,
    Supersede,
    parse_changes,
)

Title = Annotated[str, Arg("The new fact's title.")]
NewId = Annotated[str, Arg("Its id; made from the title by default.")]
Kind = Annotated[str, Arg("The type: decision, statement, note …")]
Subject = Annotated[str, Arg("What the statement is about: payments-api.")]
Field = Annotated[str, Arg("Which property of it: owner.")]
Value = Annotated[str, Arg("The property's value: team-a.")]
ValidFrom = Annotated[str, Arg("From when it holds: a date, or RFC 3339 with an offset.")]
ValidTo = Annotated[str, Arg("Until when it holds, not included.")]
Tags = Annotated[list[str] | None, Arg("Tags.")]
Body = Annotated[str, Arg("The Markdown below the front matter.")]
Reason = Annotated[str, Arg("Why, for the person who decides.")]
Agent = Annotated[str, Arg("Who proposes.")]
SourceUrl = Annotated[str, Arg("Where it was read, when it comes from outside.")]
Session = Annotated[str, Arg("The session it comes from.")]
Existing = Annotated[str, Arg("The fact's id, or its path.", True)]


def _ask(reader: Reader, changes: tuple[Change, ...], reason: str, agent: str) -> Answer:
    # What planning, the gate and keys need is not loaded for a read.
    from syn.services.writing.pending import Asked, judged_json, propose_into
    from syn.services.writing.recorder import actor

    asked = Asked(
        actor=agent or actor(reader.workspace),
        via="mcp" if reader.audience == "agent" else "cli",
        reason=reason,
    )
    judged = propose_into(reader.workspace, reader.reading, reader.index, changes, asked)
    return judged_json(judged, full=False)


def _source(agent: str, session: str, url: str) -> tuple[tuple[str, str], ...]:
    members = (("agent", agent), ("session", session), ("url", url))
    return tuple((key, text) for key, text in members if text)


def propose(
    reader: Reader,
    title: Title = "",
    id: NewId = "",  # noqa: A002 - the name both doors show
    type: Kind = "",  # noqa: A002 - the name both doors show
    subject: Subject = "",
    field: Field = "",
    value: Value = "",
    valid_from: ValidFrom = "",
    valid_to: ValidTo = "",
    tags: Tags = None,
    body: Body = "",
    source_url: SourceUrl = "",
    session: Session = "",
    reason: Reason = "",
    agent: Agent = "",
) -> Answer:
    """Propose a new fact; a person decides. The answer says what speaks against it."""
    new = NewFact(
        title=title,
        id=id,
        type=type,
        subject=subject,
        field=field,
        value=value,
        valid_from=valid_from,
        valid_to=valid_to,
        tags=tuple(tags or ()),
        body=body,
        source=_source(agent, session, source_url),
    )
    return _ask(reader, (Add(new),), reason, agent)


def propose_supersede(
    reader: Reader,
    id: Existing,  # noqa: A002 - the name both doors show
    value: Value = "",
    title: Title = "",
    valid_from: ValidFrom = "",
    tags: Tags = None,
    body: Body = "",
    source_url: SourceUrl = "",
    session: Session = "",
    reason: Reason = "",
    agent: Agent = "",
) -> Answer:
    """Propose a new fact in the place of another one, which ends where the new one begins."""
    new = NewFact(
        title=title,
        value=value,
        valid_from=valid_from,
        tags=tuple(tags or ()),
        body=body,
        source=_source(agent, session, source_url),
    )
    return _ask(reader, (Supersede((id,), new),), reason, agent)


def propose_edit(
    reader: Reader,
    id: Existing,  # noqa: A002 - the name both doors show
    title: Title = "",
    status: Annotated[str, Arg("Another status.")] = "",
    add_tags: Annotated[list[str] | None, Arg("Tags to add.")] = None,
    remove_tags: Annotated[list[str] | None, Arg("Tags to take away.")] = None,
    body: Annotated[str | None, Arg("Another body; left out, it stays.")] = None,
    reason: Reason = "",
    agent: Agent = "",
) -> Answer:
    """Propose another wording of a fact; a value that changed is a supersession, not an edit."""
    reserved = tuple((key, text) for key, text in (("title", title), ("status", status)) if text)
    change = Edit(
        id=id,
        reserved=reserved,
        tag=tuple(add_tags or ()),
        untag=tuple(remove_tags or ()),
        body=body,
    )
    return _ask(reader, (change,), reason, agent)


def propose_close(
    reader: Reader,
    id: Existing,  # noqa: A002 - the name both doors show
    at: Annotated[str, Arg("Until when it holds; now when it is left out.")] = "",
    reason: Reason = "",
    agent: Agent = "",
) -> Answer:
    """Propose that a fact ends."""
    return _ask(reader, (Close(id, at),), reason, agent)


def propose_link(
    reader: Reader,
    id: Existing,  # noqa: A002 - the name both doors show
    to: Annotated[str, Arg("The fact it refers to.")],
    relation: Annotated[str, Arg("The relation field it stands in.")] = "related",
    reason: Reason = "",
    agent: Agent = "",
) -> Answer:
    """Propose a reference from one fact to another."""
    return _ask(reader, (Link(id, to, relation),), reason, agent)


def propose_rm(
    reader: Reader,
    id: Existing,  # noqa: A002 - the name both doors show
    reason: Reason = "",
    agent: Agent = "",
) -> Answer:
    """Propose that a fact is removed; one that no longer holds is closed instead."""
    return _ask(reader, (Delete(id),), reason, agent)


def propose_batch(
    reader: Reader,
    changes: Annotated[str, Arg("JSON: a list of changes (docs/formats/proposal.md).", True)],
    reason: Reason = "",
    agent: Agent = "",
) -> Answer:
    """Propose several changes that a person accepts or rejects as one decision."""
    try:
        value = canonical.parse(changes.encode("utf-8", "surrogatepass"))
    except CannotError as error:
        raise ChangeError(f"changes: {error.message}") from error
    return _ask(reader, parse_changes(value), reason, agent)


PROPOSALS: tuple[Operation, ...] = (
    Operation("propose", "propose", propose, "syn propose --title Region --subject ledger"),
    Operation("propose-batch", "propose", propose_batch, "syn propose - < changes.json"),
    Operation("propose-close", "propose", propose_close, "syn propose - < close.json"),
    Operation("propose-edit", "propose", propose_edit, "syn propose - < edit.json"),
    Operation("propose-link", "propose", propose_link, "syn propose - < link.json"),
    Operation("propose-rm", "propose", propose_rm, "syn propose - < delete.json"),
    Operation("propose-supersede", "propose", propose_supersede, "syn propose - < new.json"),
)
