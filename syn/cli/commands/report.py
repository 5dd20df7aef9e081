"""`syn report`: reports that somebody else made."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.options import JsonFlag, Ref
from syn.cli.output import note, out, print_json, table
from syn.cli.progress import bar
from syn.cli.trusting import TrustFiles, trust_of, workspace_or_none

if TYPE_CHECKING:
    from syn.keys.trust import Trust
    from syn.services.proving.report_check import Recheck, Stated
    from syn.services.workspace import Workspace

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)


@app.callback()
def _reports() -> None:
    """Reports of somebody else's verification, checked under their key.

    Example: syn report verify report.dsse --trust alice.pub
    """


@app.command()
def verify(
    context: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="What --json, --report or --vsa wrote.")
    ],
    trust: TrustFiles = None,
    recheck: Annotated[
        bool, typer.Option("--recheck", help="Verify the same commit here and compare.")
    ] = False,
    since: Annotated[
        str, typer.Option(metavar="W", help="With --recheck: the witness to ask about again.")
    ] = "",
    ref: Ref = "",
    verifier: Annotated[
        str, typer.Option(help="The verifier.id that a summary has to name.")
    ] = "synapse:verify",
    resource: Annotated[str, typer.Option(help="The resourceUri that a summary has to name.")] = "",
    json: JsonFlag = False,
) -> None:
    """Verify a report under its maker's key; in a clone, that it is of this very commit.

    Exit status: that of the verdict it states, once it is genuine; 1 when it is not, or when
    --recheck finds something else.

    Example: syn report verify report.dsse --trust alice.pub --recheck
    """
    from syn.canon.dsse import MAX_BYTES
    from syn.errors import UsageError
    from syn.git.resolve import resolve
    from syn.services.files import read_file
    from syn.services.proving.report_check import expect_subject, read_stated

    workspace = workspace_or_none(context)
    trusted = trust_of(trust, workspace)
    if trusted is None:
        raise UsageError("no-trust", "--trust names whose word a report is taken on")
    if recheck and workspace is None:
        raise UsageError("no-workspace", "--recheck needs a clone of the workspace")
    stated = read_stated(read_file(file, MAX_BYTES), trusted, verifier, resource)
    checked = None
    if workspace is not None:
        expect_subject(stated, workspace, resolve(workspace.repository, ref or "HEAD"))
        checked = _recheck(workspace, stated, since, trusted) if recheck else None
    _print(stated, checked, json)
    if checked is not None and checked.differences:
        raise typer.Exit(exits.FAIL)
    raise typer.Exit(exits.of_verdict(stated.verdict, stated.level, None))


def _recheck(
    workspace: "Workspace", stated: "Stated", since: str, trust: "Trust"
) -> "Recheck | None":
    from syn.errors import UsageError
    from syn.services.proving.proofs import Outside
    from syn.services.proving.report_check import recheck, was_deep
    from syn.services.proving.verifying import Request
    from syn.services.trust.outside import read_since
    from syn.services.trust.pins import load_pins

    given = stated.report
    if given is None:
        raise UsageError("recheck", "a summary says too little to be rechecked: take the report")
    pins = load_pins(workspace.around, workspace.config.id)
    outside = Outside(trust, read_since(workspace, since, pins) if since else None, pins)
    request = Request(
        ref=stated.commit, deep=was_deep(given), profile=given.profile, outside=outside
    )
    with bar("verifying") as progress:
        return recheck(workspace, given, request, progress)


def _print(stated: "Stated", checked: "Recheck | None", json: bool) -> None:
    signers = [key.fingerprint for key in stated.signers]
    if json:
        print_json(
            {
                "kind": stated.kind,
                "verdict": stated.verdict,
                "level": stated.level.name,
                "workspace": stated.workspace,
                "commit": stated.commit,
                "signed_by": [*signers],
                "rechecked": checked is not None,
                "differences": [*checked.differences] if checked else [],
                "not_rechecked": [*checked.skipped] if checked else [],
            }
        )
        return
    table(
        (
            ("signed by", ", ".join(signers)),
            ("workspace", stated.workspace),
            ("commit", stated.commit or "none named"),
            ("states", f"{stated.verdict}, level {stated.level.name}"),
        )
    )
    if checked is None:
        note("genuine; --recheck asks the same question here")
        return
    for item in checked.differences:
        out(f"differs: {item['what']}: here {item['expected']}, in the report {item['actual']}")
    if checked.skipped:
        note(f"not asked again: {', '.join(checked.skipped)}")
    if not checked.differences:
        out("rechecked here: the same")
