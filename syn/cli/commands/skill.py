"""`syn skill`."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.options import JsonFlag, open_workspace
from syn.cli.output import out, print_json

if TYPE_CHECKING:
    from syn.model.finding import Json

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=(
        "Teach agents how to use this memory: a skill file, and a part of AGENTS.md.\n\n"
        "Example: syn skill install"
    ),
)


@app.command()
def install(
    context: typer.Context,
    agents: Annotated[
        bool, typer.Option("--agents-md/--no-agents-md", help="Also write our part of AGENTS.md.")
    ] = True,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; write nothing.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Write the skill file, and our part of AGENTS.md; the rest of it stays as it is.

    Example: syn skill install --dry-run
    """
    from syn.report.diff import render
    from syn.services.doors.teaching import apply, plan_agents, plan_skill

    root = open_workspace(context).root
    texts = [plan_skill(root), *([plan_agents(root)] if agents else [])]
    items: list[Json] = []
    for text in texts:
        state = "unchanged" if not text.changes else "planned" if dry_run else "written"
        if not dry_run:
            apply(text)
        path = text.path.relative_to(root).as_posix()
        items.append({"id": path, "type": "file", "title": path, "path": path, "state": state})
        if not json:
            out(f"{path}: {state}")
            if state == "planned":
                sys.stdout.write(render(text.before or "", text.after, color=False))
    if json:
        print_json({"items": items, "total": len(items), "next": None})


@app.command()
def show() -> None:
    """Print the skill file.

    Example: syn skill show
    """
    from syn.services.doors.teaching import SKILL

    sys.stdout.write(SKILL)
