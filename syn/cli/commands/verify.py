"""`syn verify`."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.options import Engine, JsonFlag, Ref, open_workspace
from syn.cli.output import note, out, print_json
from syn.cli.progress import bar
from syn.cli.trusting import TrustFiles, outside_of, profile_of, required_level
from syn.model.finding import Level
from syn.model.report import Report

if TYPE_CHECKING:
    from collections.abc import Iterable

    from syn.ledger.entry import HashedEntry
    from syn.report.html import Timeline
    from syn.services.proving.reports import Outputs
    from syn.services.proving.verifying import Request
    from syn.services.workspace import Workspace
    from syn.verify.evidence import FactView

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def verify(
    context: typer.Context,
    deep: Annotated[bool, typer.Option("--deep", help="Every invariant, all of history.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Name every row of the index that diverges.")
    ] = False,
    incremental: Annotated[
        bool,
        typer.Option(
            "--incremental", help="Derive only what changed since a trusted report kept here."
        ),
    ] = False,
    ref: Ref = "",
    profile: Annotated[
        str, typer.Option(help="standard, or strict: warnings and skips fail too.")
    ] = "standard",
    require: Annotated[
        str, typer.Option(metavar="LEVEL", help="L1 to L4: exit 4 when the level is lower.")
    ] = "",
    since: Annotated[
        str,
        typer.Option(
            metavar="W", help="History must extend this: a witness file, a commit, or pin."
        ),
    ] = "",
    trust: TrustFiles = None,
    root: Annotated[
        str,
        typer.Option(metavar="COMMIT", help="Trust root for identities: a full commit id, or pin."),
    ] = "",
    evidence: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="With --since: write both sides of the comparison."),
    ] = None,
    report_file: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE", help="Signed report: in-toto in a DSSE envelope."),
    ] = None,
    vsa: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Signed SLSA verification summary.")
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option(metavar="FILE", help="SARIF, for code review.")
    ] = None,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="One self-contained page, for reading.")
    ] = None,
    badge: Annotated[
        Path | None, typer.Option(metavar="FILE", help="An SVG badge, for a README.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say what each check proves and where proof ends.")
    ] = False,
    engine: Engine = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the verdict.")] = False,
    json: JsonFlag = False,
) -> None:
    """Prove that the memory was not silently corrupted, or name what broke.

    Exit status: 0 pass, 1 fail, 2 usage, 3 could not check, 4 below the required level.

    Example: syn verify --since payments.tlog-proof --trust alice.pub
    """
    from syn.errors import UsageError
    from syn.services.proving.reports import Outputs
    from syn.services.proving.verifying import Request

    if explain:
        _explain(json)
        return
    raised = profile_of(profile)
    required = required_level(require)
    workspace = open_workspace(context)
    outside = outside_of(workspace, since, root, trust)
    if evidence is not None and outside.since is None:
        raise UsageError("evidence", "--evidence writes what --since compared: give --since too")
    request = Request(
        ref=ref,
        deep=deep,
        rebuild=rebuild,
        profile=raised,
        outside=outside,
        incremental=incremental,
    )
    outputs = Outputs(report_file, vsa, sarif, html, badge, evidence)
    report = _run(workspace, request, outputs, required, engine)
    _print(workspace, report, required, quiet=quiet, json=json)
    raise typer.Exit(exits.of_verdict(report.verdict, report.level, required))


def _run(
    workspace: "Workspace",
    request: "Request",
    outputs: "Outputs",
    required: Level | None,
    engine: str,
) -> Report:
    """Verify and write the files that were asked for, before anything is printed."""
    from syn.services.engines.choose import open_engine
    from syn.services.proving.reports import signing_key, write_outputs
    from syn.services.proving.verifying import verify as run

    key = signing_key(workspace) if outputs.signed else None
    timelines: list[Timeline] = []

    def keep(entries: "Iterable[HashedEntry]", facts: "Iterable[FactView]") -> None:
        from syn.services.proving.timeline import timeline_of

        timelines.append(timeline_of(entries, facts))

    with open_engine(engine) as executor, bar("verifying") as progress:
        observe = keep if outputs.html else None
        report = run(workspace, request, executor, progress, observe)
    timeline = timelines[0] if timelines else None
    for path in write_outputs(report, outputs, key, timeline, required):
        note(f"wrote {path}")
    return report


def _print(
    workspace: "Workspace", report: Report, required: Level | None, *, quiet: bool, json: bool
) -> None:
    if json:
        from syn.services.proving.reports import signed_json

        document, problem = signed_json(workspace, report)
        print_json(document)
        if problem:
            note(f"not signed: {problem}")
        note(_verdict_line(report, required))
    elif quiet:
        typer.echo(_verdict_line(report, required))
    else:
        from syn.report.text import render

        width = shutil.get_terminal_size((100, 24)).columns
        color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")  # noqa: TID251 - a port
        typer.echo(render(report, width, color, required=required), nl=False)


def _explain(json: bool) -> None:
    from syn.verify.ceiling import CEILING, LEVELS
    from syn.verify.registry import all_invariants

    if json:
        print_json(
            {
                "invariants": [
                    {
                        "id": i.id,
                        "title": i.title,
                        "class": i.integrity,
                        "when": i.when,
                        "explanation": i.explanation,
                    }
                    for i in all_invariants()
                ],
                "levels": [{"level": a, "name": b, "meaning": c} for a, b, c in LEVELS],
                "ceiling": [*CEILING],
            }
        )
        return
    for invariant in all_invariants():
        out(f"{invariant.id} {invariant.title} (class {invariant.integrity}, {invariant.when})")
        _wrapped(invariant.explanation)
    out("Levels: each holds only with all below it, and any failure claims L0")
    for level, name, meaning in LEVELS:
        out(f"  {level} {name}: {meaning}")
    out("Where every proof here ends")
    for sentence in CEILING:
        _wrapped(sentence)


def _wrapped(text: str) -> None:
    import textwrap

    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    for line in textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  "):
        out(line)


def _verdict_line(report: Report, required: Level | None) -> str:
    from syn.report.verdict import verdict_line

    return verdict_line(report, required)
