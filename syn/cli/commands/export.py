"""`syn export`."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.options import audience_of, open_workspace
from syn.cli.output import block, count, note

if TYPE_CHECKING:
    from syn.services.exchange.exporting import Export
    from syn.services.recall.reads import Reader

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class Kind(StrEnum):
    """The forms, as a choice."""

    JSON = "json"
    NDJSON = "ndjson"
    MARKDOWN = "markdown"
    MCP_MEMORY = "mcp-memory"


@app.command()
def export(
    context: typer.Context,
    kind: Annotated[Kind, typer.Argument(metavar="FORMAT", help="The form to write.")],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", metavar="FILE", help="Write there; a folder for markdown: DIR/."
        ),
    ] = "",
    type_: Annotated[str, typer.Option("--type", help="Only facts of this type.")] = "",
    status: Annotated[str, typer.Option("--status", help="Only facts with this status.")] = "",
    tag: Annotated[str, typer.Option("--tag", help="Only facts with this tag.")] = "",
    under: Annotated[str, typer.Option("--under", help="Only facts below this folder.")] = "",
    as_of: Annotated[str, typer.Option("--as-of", help="What held at this date.")] = "",
    quarantined: Annotated[
        bool, typer.Option("--quarantined", help="Facts that are quarantined, too.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace another file.")] = False,
) -> None:
    """Write facts in a form that others read: json, ndjson, markdown or mcp-memory.

    Every fact is checked before it is handed out. One that does not check, or that nobody decided
    on, is not written, and named. Markdown goes into one document, or with --output DIR/ each fact
    into its own file, byte for byte. Exit status: 0 all written, 1 something was not.

    Example: syn export json --output memory.json
    """
    from syn.services.exchange.exporting import collect
    from syn.services.recall.reads import Selection, open_reader

    selection = Selection(type_, status, tag, under=under, as_of=as_of)
    reader = open_reader(open_workspace(context), note, audience_of(context))
    with reader.index:
        found = collect(reader, selection, quarantined=quarantined)
        _write(reader, found, kind, output, force=force)
    for item in found.withheld:
        note(f"withheld: {item.id} ({item.path}): {item.reason}; {item.remedy}")
    if found.quarantined:
        left = count(found.quarantined, "quarantined fact")
        note(f"{left} left out; --quarantined writes them too")
    note(f"{count(len(found.served), 'fact')} exported")
    raise typer.Exit(exits.FAIL if found.withheld else exits.OK)


def _write(reader: "Reader", found: "Export", kind: Kind, output: str, *, force: bool) -> None:
    from syn.services.exchange.exporting import render, write_export, write_folder

    place = Path(output)
    if kind is Kind.MARKDOWN and output and (output.endswith("/") or place.is_dir()):
        write_folder(reader, found, place, force=force)
        return
    data = render(reader, found, kind.value)
    if output:
        write_export(place, data, force=force)
    elif sys.stdout.isatty():
        block(data.decode())
    else:
        sys.stdout.write(data.decode())
