"""`syn image`: session images."""

import typer

from syn.cli.images import reading, writing

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=(
        "Session images: record, check, repair and hand out the pages of finished sessions.\n\n"
        "Example: syn image verify sessions/monday"
    ),
)

for _command in (
    reading.verify,
    reading.show,
    reading.page,
    writing.record,
    writing.upgrade,
    writing.export,
    reading.scrub,
    writing.repair,
    reading.parity,
    writing.quarantine,
    writing.clear,
    writing.tombstone,
):
    app.command()(_command)
