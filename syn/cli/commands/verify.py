"""`syn verify`."""

import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.options import JsonFlag, Ref, open_workspace
from syn.cli.output import note, print_json
from syn.cli.progress import bar
from syn.cli.trusting import TrustFiles, trust_of
from syn.model.finding import Level
from syn.model.report import Report

if TYPE_CHECKING:
    from syn.services.proofs import Outside
    from syn.services.workspace import Workspace

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def verify(
    context: typer.Context,
    deep: Annotated[bool, typer.Option("--deep", help="Every invariant, all of history.")] = False,
    rebuild: Annotated[
        bool, typer.Option("--rebuild", help="Name every row of the index that diverges.")
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
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the verdict.")] = False,
    json: JsonFlag = False,
) -> None:
    """Prove that the memory was not silently corrupted, or name what broke.

    Exit status: 0 pass, 1 fail, 2 usage, 3 could not check, 4 below the required level.

    Example: syn verify --since payments.tlog-proof --trust alice.pub
    """
    from syn.errors import UsageError
    from syn.report.document import to_json
    from syn.services.verifying import Request
    from syn.services.verifying import verify as run

    if profile not in ("standard", "strict"):
        raise UsageError("profile", f"--profile: expected standard or strict, got {profile!r:.40}")
    required = _level(require)
    workspace = open_workspace(context)
    outside = _outside(workspace, since, root, trust)
    if evidence is not None and outside.since is None:
        raise UsageError("evidence", "--evidence writes what --since compared: give --since too")
    request = Request(
        ref=ref,
        deep=deep,
        rebuild=rebuild,
        profile="strict" if profile == "strict" else "standard",
        outside=outside,
    )
    with bar("verifying") as progress:
        report = run(workspace, request, progress=progress)
    if evidence is not None:
        _write_evidence(report, evidence)
    status = exits.of_verdict(report.verdict, report.level, required)
    if json:
        print_json(to_json(report))
        note(_verdict_line(report, required))
    elif quiet:
        typer.echo(_verdict_line(report, required))
    else:
        from syn.report.text import render

        width = shutil.get_terminal_size((100, 24)).columns
        color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")  # noqa: TID251 - a port
        typer.echo(render(report, width, color, required=required), nl=False)
    raise typer.Exit(status)


def _outside(workspace: "Workspace", since: str, root: str, trust: list[Path] | None) -> "Outside":
    from syn.services.outside import read_root, read_since
    from syn.services.pins import load_pins
    from syn.services.proofs import Outside

    trusted = trust_of(trust, workspace)
    if not since and not root:
        return Outside(trust=trusted)
    pins = load_pins(workspace.around, workspace.config.id)
    commit, pinned = read_root(workspace, root, pins) if root else ("", False)
    return Outside(
        trust=trusted,
        since=read_since(workspace, since, pins) if since else None,
        pins=pins,
        root=commit,
        root_pinned=pinned,
    )


def _write_evidence(report: Report, path: Path) -> None:
    from syn.services.files import write_file
    from syn.services.reports import evidence_bundle

    write_file(path, evidence_bundle(report))
    note(f"wrote {path}")


def _level(text: str) -> Level | None:
    from syn.errors import UsageError

    if not text:
        return None
    if text.upper() not in ("L1", "L2", "L3", "L4"):
        raise UsageError("level", f"--require: expected L1, L2, L3 or L4, got {text!r:.40}")
    return Level[text.upper()]


def _verdict_line(report: Report, required: Level | None) -> str:
    from syn.report.verdict import verdict_line

    return verdict_line(report, required)
