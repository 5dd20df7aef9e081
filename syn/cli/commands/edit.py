"""`syn edit`."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from syn.cli.facts import (
    Anyway,
    Body,
    More,
    Screened,
    Source,
    Status,
    Subject,
    Title,
    Type,
    ValidFrom,
    ValidTo,
    Value,
    answer,
    body_text,
    override,
    pairs,
)
from syn.cli.facts import Field as FieldName
from syn.cli.options import JsonFlag, Reason, open_workspace
from syn.cli.output import note

if TYPE_CHECKING:
    from syn.services.workspace import Workspace

app = typer.Typer(add_completion=False, rich_markup_mode=None)
_RESERVED = ("title", "type", "status", "subject", "field", "value", "valid_from", "valid_to")


@app.command()
def edit(
    context: typer.Context,
    id_: Annotated[str, typer.Argument(metavar="ID", help="The fact, by id or path.")],
    title: Title = "",
    type_: Type = "",
    status: Status = "",
    subject: Subject = "",
    field: FieldName = "",
    value: Value = "",
    valid_from: ValidFrom = "",
    valid_to: ValidTo = "",
    tag: Annotated[list[str] | None, typer.Option("--tag", help="Add a tag.")] = None,
    untag: Annotated[list[str] | None, typer.Option("--untag", help="Take a tag away.")] = None,
    more: More = None,
    unset: Annotated[
        list[str] | None, typer.Option("--unset", metavar="KEY", help="Remove a key; repeatable.")
    ] = None,
    source: Source = None,
    body: Body = None,
    reason: Reason = "",
    anyway: Anyway = False,
    screened: Screened = False,
    json: JsonFlag = False,
) -> None:
    """Change what is named of a fact, and nothing else of its file.

    Only the lines of the named keys change; comments, quotes, order and line ends stay.

    Example: syn edit refund-limit --status accepted --untag draft
    """
    from syn.model.payload import Mapping
    from syn.services.writing.changes import Edit
    from syn.services.writing.writes import Terms, write

    workspace = open_workspace(context)
    texts = (title, type_, status, subject, field, value, valid_from, valid_to)
    reserved: list[tuple[str, Any]] = [
        (name, text) for name, text in zip(_RESERVED, texts, strict=True) if text
    ]
    if source:
        reserved.append(("source", Mapping(pairs(source, "--source"))))
    change = Edit(
        id=id_,
        set=pairs(more, "--set"),
        reserved=tuple(reserved),
        unset=tuple(unset or ()),
        tag=tuple(tag or ()),
        untag=tuple(untag or ()),
    )
    change = replace(change, body=_body(workspace, change, body))
    terms = Terms(reason, override(anyway, screened))
    answer(write(workspace, [change], terms, note), as_json=json)


def _body(workspace: "Workspace", change: Any, given: str | None) -> str | None:
    """The new body; the editor only opens where nothing else was asked."""
    from syn.services.writing.writes import current_body

    asked = any((change.set, change.reserved, change.unset, change.tag, change.untag))
    if given is not None or asked:
        return body_text(given, edit=False)
    return body_text(None, current_body(workspace, change.id, note))
