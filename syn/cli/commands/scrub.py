"""`syn scrub`."""

import sys
from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.options import JsonFlag, open_workspace
from syn.cli.output import count, note, out, print_json
from syn.cli.progress import bar

if TYPE_CHECKING:
    from syn.model.finding import Finding
    from syn.services.patrol.scrub import Budget, Scrub

app = typer.Typer(add_completion=False, rich_markup_mode=None)
SETTLE_SECONDS = 0.05
"""Between the two readings: a write that is under way has moved on by then."""


@app.command()
def scrub(
    context: typer.Context,
    max_seconds: Annotated[
        float,
        typer.Option("--max-seconds", min=0, help="Stop after this long; the next run goes on."),
    ] = 0,
    max_age: Annotated[
        str,
        typer.Option("--max-age", metavar="AGE", help="Leave out what was clean since: 12h, 7d."),
    ] = "",
    watch: Annotated[bool, typer.Option("--watch", help="Patrol again and again.")] = False,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", min=0, help="Pause of --watch.")
    ] = 60,
    json: JsonFlag = False,
) -> None:
    """Look at every fact, row, decision, object, receipt and image; least recently checked first.

    Reads only, and twice before a fault is believed. Exit status: 0 clean, 1 a fault, 3 something
    that could not be checked.

    Example: syn scrub --max-seconds 30 --max-age 7d
    """
    from syn.services.patrol.scrub import scrub as run

    while True:
        workspace = open_workspace(context)
        with bar("scrubbing") as progress:
            done = run(workspace, _budget(max_seconds, max_age), progress)
        _show(done, as_json=json)
        sys.stdout.flush()
        if not watch:
            raise typer.Exit(exits.VERDICTS[done.verdict])
        sleep(every)


def _budget(max_seconds: float, max_age: str) -> "Budget":
    from syn.services.patrol.scrub import Budget, parse_age

    end = monotonic() + max_seconds
    return Budget(
        spent=lambda: bool(max_seconds) and monotonic() >= end,
        max_age=parse_age(max_age) if max_age else None,
        settle=lambda: sleep(SETTLE_SECONDS),
    )


def _show(done: "Scrub", *, as_json: bool) -> None:
    from syn.services.patrol.scrub import scrub_json

    if as_json:
        print_json(scrub_json(done))
        return
    for kind, classes in done.counts.items():
        out(f"{kind:<8}  {', '.join(f'{number:,} {cls}' for cls, number in classes.items())}")
    for found in done.faults:
        _fault(found.cls, found.finding)
    for found in done.transient:
        out(f"transient   {found.finding.path}  {found.finding.code}: one reading of two")
    for text in done.notes:
        note(text)
    left = "" if done.complete else f", {done.total - done.checked:,} left for the next run"
    faults = count(len(done.faults), "fault") if done.faults else "nothing wrong"
    note(f"{count(done.checked, 'unit')} checked{left}: {faults}")


def _fault(cls: str, finding: "Finding") -> None:
    where = f"{finding.path}:{finding.line}" if finding.line else finding.path
    out(f"{cls:<10}  {where}  {finding.code}")
    for label, text in (("expected", finding.expected), ("got", finding.actual)):
        if text:
            out(f"            {label:<8}  {text}")
    if finding.remedy:
        out(f"            remedy    {finding.remedy}")
