"""`syn repair`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli import exits
from syn.cli.options import Globals, JsonFlag, Yes, open_workspace
from syn.cli.output import count, note, on_terminal, print_json, table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from syn.model.ledger import Review
    from syn.services.repair.apply import Repaired
    from syn.services.repair.plan import Plan, Step

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def repair(
    context: typer.Context,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID|PATH]...", help="Only these; a named hand edit is taken back."),
    ] = None,
    replicas: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="CLONE", help="A clone that may have the bytes; repeatable."
        ),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan only.")] = False,
    yes: Yes = False,
    json: JsonFlag = False,
) -> None:
    """Repair what can be proven: derived data, recorded bytes, lost git objects, a torn tail.

    Prints its plan, keeps a backup of what it replaces, and scrubs again. It asks before it
    touches more than the index; without a terminal that needs --yes. Exit status: that of the scrub
    at the end, or with --dry-run of the one before.

    Example: syn repair --from ../clone --dry-run
    """
    from syn.services.repair.apply import repair as run
    from syn.services.repair.apply import repair_json
    from syn.services.repair.plan import check_names, plan_repair
    from syn.services.repair.sources import open_replicas

    workspace = open_workspace(context)
    place = context.find_object(Globals) or Globals(Path())
    clones = open_replicas(workspace, [place.directory / path for path in replicas or ()])
    if names:
        check_names(workspace, names)
    plan = plan_repair(workspace, names or (), clones)
    if not json:
        _show(plan.steps)
    done: Repaired | None = None
    if not dry_run:
        done = run(workspace, plan, _consent(plan, yes=yes), note)
        _tell(done)
    if json:
        print_json(repair_json(plan, done))
    elif done is None or done.after is None:
        note(_nothing(plan))
    raise typer.Exit(exits.VERDICTS[done.verdict if done else plan.verdict])


def _consent(plan: "Plan", *, yes: bool) -> "Review":
    from syn.errors import UsageError

    if yes or not plan.asks:
        return "unreviewed"
    if not on_terminal():
        raise UsageError(
            "not-a-terminal",
            "the plan touches more than derived data, and nobody is there to ask",
            "--yes carries it out; --dry-run shows it",
        )
    if not typer.confirm("do this?", err=True):
        raise typer.Abort
    return "seen"


def _show(steps: "Iterable[Step]") -> None:
    table((step.action, step.kind, step.subject, step.code, step.detail) for step in steps)


def _tell(done: "Repaired") -> None:
    for step in done.failed:
        note(f"not done: {step.subject}: {step.detail}")
    if done.backup is not None:
        note(f"what was replaced is kept in {done.backup}")
    if done.entries:
        note(f"recorded {count(len(done.entries), 'restore')}")
    if done.after is not None:
        left = len([found for found in done.after.faults if found.cls != "stale"])
        note("checked again: nothing wrong" if not left else f"{count(left, 'fault')} left")


def _nothing(plan: "Plan") -> str:
    if not plan.steps:
        return "nothing to repair"
    refused = sum(step.action == "refuse" for step in plan.steps)
    planned = len(plan.steps) - refused
    return f"{count(planned, 'step')} planned, {refused} refused: nothing was done"
