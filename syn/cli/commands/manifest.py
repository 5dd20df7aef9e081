"""`syn manifest`."""

import sys
from typing import Annotated

import typer

from syn.cli.options import JsonFlag, Ref, open_workspace
from syn.cli.output import print_json

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def manifest(
    context: typer.Context,
    ref: Ref = "",
    digest: Annotated[bool, typer.Option("--digest", help="Print only its digest.")] = False,
    json: JsonFlag = False,
) -> None:
    """Print the canonical manifest of the facts, derived anew from the Markdown.

    Equal byte for byte on every machine; `sha256sum` of it is the manifest digest.

    Example: syn manifest --ref HEAD | sha256sum
    """
    from syn.index.manifest import manifest_digest, manifest_lines
    from syn.services.proving.collect import pass_over

    with pass_over(open_workspace(context), ref) as done:
        done.require_whole()
        if json or digest:
            value = manifest_digest(done.projection)
            if json:
                print_json({"manifest_digest": value, "inputs_hash": done.inputs_hash})
            else:
                typer.echo(value)
            return
        for line in manifest_lines(done.projection):
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
