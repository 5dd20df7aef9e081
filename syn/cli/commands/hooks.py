"""`syn hooks`."""

from typing import TYPE_CHECKING, Annotated

import typer

from syn.cli.launching import launcher
from syn.cli.options import JsonFlag, open_workspace
from syn.cli.output import out, print_json, table

if TYPE_CHECKING:
    from syn.services.doors.githooks import Hook

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
    help=(
        "Verify before git commits or pushes, with plain git hooks.\n\nExample: syn hooks install"
    ),
)
Names = Annotated[
    list[str] | None,
    typer.Argument(metavar="[HOOK...]", help="pre-commit, pre-push; default both."),
]


def _hooks(context: typer.Context, names: list[str] | None) -> "list[Hook]":
    from syn.services.doors.githooks import COMMANDS, hooks

    return hooks(open_workspace(context), launcher(), tuple(names or COMMANDS))


@app.command()
def install(context: typer.Context, names: Names = None) -> None:
    """Write the hooks; one of somebody else's is refused, with the line to add to it.

    Example: syn hooks install pre-push
    """
    from syn.services.doors.githooks import install as run
    from syn.services.doors.githooks import refuse_elsewhere

    refuse_elsewhere(open_workspace(context))
    for hook in _hooks(context, names):
        out(f"{hook.path}: {'written' if run(hook) else 'unchanged'}")


@app.command()
def uninstall(context: typer.Context, names: Names = None) -> None:
    """Take our hooks away again; others stay.

    Example: syn hooks uninstall
    """
    from syn.services.doors.githooks import uninstall as run

    for hook in _hooks(context, names):
        out(f"{hook.path}: {'removed' if run(hook) else 'absent'}")


@app.command()
def status(context: typer.Context, json: JsonFlag = False) -> None:
    """Show which hooks are ours.

    Example: syn hooks status
    """
    found = _hooks(context, None)
    if json:
        print_json(
            {
                "items": [
                    {
                        "id": hook.name,
                        "type": "hook",
                        "title": hook.name,
                        "path": str(hook.path),
                        "state": hook.state,
                    }
                    for hook in found
                ],
                "total": len(found),
                "next": None,
            }
        )
    else:
        table((hook.name, hook.state, str(hook.path)) for hook in found)
