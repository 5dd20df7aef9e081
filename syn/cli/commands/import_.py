"""`syn import`."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.facts import Anyway, Screened, override
from syn.cli.options import JsonFlag, Reason, Yes, open_workspace
from syn.cli.output import count, note, on_terminal, out, print_json, table
from syn.cli.progress import bar

if TYPE_CHECKING:
    from syn.model.problem import Problem
    from syn.services.exchange.importing import Import, Imported

app = typer.Typer(add_completion=False, rich_markup_mode=None)
SHOWN = 20
"""Problems of one kind that are shown, unless all are asked for with --json."""


class Kind(StrEnum):
    """The formats, as a choice."""

    OBSIDIAN = "obsidian"
    MARKDOWN = "markdown"
    ADR = "adr"
    MCP_MEMORY = "mcp-memory"
    BASIC_MEMORY = "basic-memory"
    CLAUDE_CODE = "claude-code"
    MEM0 = "mem0"


@app.command(name="import")
def import_(
    context: typer.Context,
    kind: Annotated[Kind, typer.Argument(metavar="FORMAT", help="What it was written by.")],
    place: Annotated[Path, typer.Argument(metavar="PATH", help="Its folder or file.")],
    into: Annotated[
        str, typer.Option("--into", metavar="DIR", help="Folder of facts; default: by the origin.")
    ] = "",
    origin: Annotated[
        str, typer.Option("--origin", metavar="NAME", help="Its name; default: the folder's.")
    ] = "",
    update: Annotated[
        bool, typer.Option("--update", help="Take notes again that changed since.")
    ] = False,
    external: Annotated[
        bool, typer.Option("--external", help="Somebody else's: taint every fact.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be taken.")
    ] = False,
    yes: Yes = False,
    anyway: Anyway = False,
    screened: Screened = False,
    reason: Reason = "",
    json: JsonFlag = False,
) -> None:
    """Take in the notes of another program as facts, in one decision.

    Formats: obsidian, markdown, adr, mcp-memory, basic-memory, claude-code, mem0.

    Every fact says where it was taken from, and a second run takes only what is new. What cannot
    be read, what the gate holds and what was edited here is not taken, and named with its line.
    Exit status: 0 all taken, 1 something was not.

    Example: syn import obsidian ~/vault --into facts/vault --dry-run
    """
    from syn.exchange.formats import FORMATS
    from syn.services.exchange.importing import import_json, plan_import, run_import
    from syn.services.exchange.planner import Wishes

    workspace = open_workspace(context)
    wishes = Wishes(
        form=FORMATS[kind.value],
        place=place,
        into=into,
        origin=origin,
        update=update,
        external=external,
        override=override(anyway, screened),
        reason=reason,
    )
    if dry_run:
        with bar("reading") as progress:
            found = plan_import(workspace, wishes, note, progress)
        if json:
            print_json(import_json(found, ()))
        else:
            _show(found)
        raise typer.Exit(exits.FAIL if found.failed else exits.OK)
    shown = None
    if not yes:
        with bar("reading") as progress:
            shown = plan_import(workspace, wishes, note, progress)
        _ask(shown)
    with bar("importing") as progress:
        done = run_import(workspace, wishes, shown, note, progress)
    if json:
        print_json(import_json(done.found, done.entries))
    else:
        _report(done, told=shown is not None)
    raise typer.Exit(exits.FAIL if done.found.failed else exits.OK)


def _ask(shown: "Import") -> None:
    from syn.errors import UsageError

    if not shown.taken:
        return
    if not on_terminal():
        raise UsageError(
            "not-a-terminal",
            f"{count(len(shown.taken), 'note')} to take in, and nobody to ask",
            "--yes records them as unreviewed; --dry-run shows them",
        )
    _show(shown)
    if not typer.confirm("take these in?", err=True):
        raise typer.Abort


def _show(shown: "Import") -> None:
    """What would be taken, then what would not."""
    table((taken.action, taken.source, taken.path) for taken in shown.taken)
    _problems(shown)
    note(f"{count(len(shown.taken), 'note')} to take into {shown.into}, {_rest(shown)}")


def _report(done: "Imported", *, told: bool) -> None:
    found = done.found
    for taken in found.taken:
        out(taken.id)
    if not told:
        _problems(found)
    if done.entries:
        decision = done.entries[0][0][7:19]
        note(f"{count(len(found.taken), 'note')} taken into {found.into} as {decision}")
        if any(taken.taint for taken in found.taken):
            note("they are tainted until a person clears them: syn clear --taint")
    else:
        note("nothing new to take")
    note(_rest(found))


def _rest(found: "Import") -> str:
    failed = len(found.failed)
    said = [f"{found.unchanged:,} here already"]
    if failed:
        files = len({problem.path for problem in found.failed})
        said.append(f"{count(failed, 'problem')} in {count(files, 'file')}: not taken")
    if told := len(found.problems) - failed:
        said.append(count(told, "warning"))
    return ", ".join(said)


def _problems(found: "Import") -> None:
    """By kind, those that keep a note out first."""
    failed = frozenset(found.failed)
    kinds: dict[str, list[Problem]] = {}
    for problem in (*found.failed, *(p for p in found.problems if p not in failed)):
        kinds.setdefault(problem.code, []).append(problem)
    for code, problems in kinds.items():
        for problem in problems[:SHOWN]:
            where = f"{problem.path}:{problem.line}" if problem.line else problem.path
            note(f"{where}: {problem.message} [{code}]")
            if problem is problems[0]:
                note(f"    {problem.remedy}")
        if len(problems) > SHOWN:
            note(f"    and {len(problems) - SHOWN:,} more [{code}]; --json shows all")
