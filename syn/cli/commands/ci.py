"""`syn ci`."""

import contextlib
import os
import secrets
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.errors import explain, stop_of
from syn.cli.options import open_workspace
from syn.cli.output import note
from syn.cli.trusting import outside_of, profile_of, required_level
from syn.errors import CannotError, SynError

if TYPE_CHECKING:
    from syn.services.proving.verifying import Request
    from syn.services.workspace import Workspace

_VARIABLES = os.environ  # noqa: TID251 - a port reads the environment
app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def ci(
    context: typer.Context,
    since: Annotated[
        str,
        typer.Option(
            metavar="W",
            envvar="SYNAPSE_CI_SINCE",
            help="A witness (its file, or its text), or a commit.",
        ),
    ] = "",
    trust: Annotated[
        str,
        typer.Option(
            metavar="KEYS",
            envvar="SYNAPSE_CI_TRUST",
            help="Public keys from outside the repository: a file, or their lines.",
        ),
    ] = "",
    root: Annotated[
        str,
        typer.Option(metavar="COMMIT", envvar="SYNAPSE_CI_ROOT", help="Trust root for identities."),
    ] = "",
    profile: Annotated[
        str,
        typer.Option(
            envvar="SYNAPSE_CI_PROFILE", help="standard, or strict: warnings and skips fail too."
        ),
    ] = "standard",
    require: Annotated[
        str,
        typer.Option(
            metavar="LEVEL", envvar="SYNAPSE_CI_REQUIRE", help="L1 to L4: exit 4 below it."
        ),
    ] = "",
    deep: Annotated[
        bool,
        typer.Option(
            "--deep/--no-deep", envvar="SYNAPSE_CI_DEEP", help="Every invariant, all of history."
        ),
    ] = True,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Where the files go; default: synapse in the runner's temporary."
        ),
    ] = None,
) -> None:
    """Verify in a job of a GitHub workflow what was pushed, or a pull request's head.

    Leaves the report, SARIF and a witness in files, the job's summary, annotations on the lines
    that changed first, and outputs. action.yml runs it; docs/doors.md sets it up.

    Exit status: that of syn verify.

    Example: syn ci --require L1
    """
    from syn.report import annotations

    token = secrets.token_hex(16)
    sys.stdout.write(annotations.stop(token))
    sys.stdout.flush()
    wishes = _Wishes(since, trust, root, profile, require, deep)
    try:
        status, commands = _verified(context, wishes, out or _folder())
    except Exception as error:  # noqa: BLE001 - whatever stops a job, its outputs have to say so
        status, commands = _stopped(error)
    sys.stderr.flush()
    sys.stdout.write(annotations.resume(token) + commands)
    raise typer.Exit(status)


@dataclass(frozen=True, slots=True)
class _Wishes:
    since: str
    trust: str
    root: str
    profile: str
    require: str
    deep: bool


def _folder() -> Path:
    return Path(_VARIABLES.get("RUNNER_TEMP") or tempfile.gettempdir()) / "synapse"


def _verified(context: typer.Context, wishes: _Wishes, folder: Path) -> tuple[int, str]:
    """Verify, write everything, and give the status and the commands for the runner."""
    from syn.report.text import render
    from syn.services.doors.ci import expect_commit, read_change
    from syn.services.doors.ci_job import annotations_of, summary_of, write_files
    from syn.services.proving.verifying import verify

    required = required_level(wishes.require)
    change = read_change(_VARIABLES)
    workspace = open_workspace(context)
    expect_commit(workspace, change.head)
    _make(folder)
    request = _request(workspace, change.head, wishes, folder)
    report = verify(workspace, request)
    left = write_files(workspace, report, folder, required)
    notes = (*left.notes, *_not_held(wishes, request))
    sys.stdout.write(render(report, 100, color=False, required=required))
    for text in notes:
        note(text)
    commands = annotations_of(workspace, report, change)
    _append("GITHUB_STEP_SUMMARY", summary_of(report, change, required, notes))
    _outputs(report.verdict, report.level.name, left.files)
    return exits.of_verdict(report.verdict, report.level, required), commands


def _request(workspace: "Workspace", head: str, wishes: _Wishes, folder: Path) -> "Request":
    from syn.services.doors.ci import outside_input
    from syn.services.proving.verifying import Request

    since = outside_input(folder, "since.tlog-proof", wishes.since)
    trust = outside_input(folder, "trust.pub", wishes.trust)
    outside = outside_of(workspace, since, wishes.root, [Path(trust)] if trust else None)
    return Request(head, wishes.deep, profile=profile_of(wishes.profile), outside=outside)


def _not_held(wishes: _Wishes, request: "Request") -> tuple[str, ...]:
    """Say that what was asked for with `since` was nothing, as before a branch's first push."""
    if wishes.since.strip() and request.outside.since is None:
        return ("since names no commit (all zeros): history was not held to what was there before",)
    return ()


def _stopped(error: Exception) -> tuple[int, str]:
    """Say in every place why nothing was checked; what nobody foresaw is the verdict `error`."""
    from syn.report import annotations
    from syn.services.doors.ci_job import stopped_summary

    stop = stop_of(error)
    foreseen = "fail" if stop.status == exits.FAIL else "incomplete"
    # The runner's files may be what stopped it: each is tried by itself.
    with contextlib.suppress(SynError):
        _append("GITHUB_STEP_SUMMARY", stopped_summary(stop.message, stop.remedy))
    with contextlib.suppress(SynError):
        _outputs(foreseen if isinstance(error, SynError) else "error", "L0", {})
    remedy = f"; {stop.remedy}" if stop.remedy else ""
    return explain(error, as_json=False), annotations.error(
        f"syn verify {stop.code}", f"{stop.message}{remedy}"
    )


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotError("cannot-write", f"{folder}: {error.strerror}") from error


def _outputs(verdict: str, level: str, files: Mapping[str, Path]) -> None:
    """The step's outputs: words of ours, and files whose names this job chose."""
    lines = {"verdict": verdict, "level": level}
    lines.update({name: str(path) for name, path in files.items()})
    text = "".join(f"{name}={value}\n" for name, value in lines.items() if "\n" not in value)
    _append("GITHUB_OUTPUT", text)


def _append(variable: str, text: str) -> None:
    """Add to one of the files that a runner reads after a step; there is none elsewhere."""
    name = _VARIABLES.get(variable, "")
    if not name:
        return
    try:
        with Path(name).open("a", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise CannotError("cannot-write", f"{variable}: {name}: {error.strerror}") from error
